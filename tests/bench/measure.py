"""How the benchmarks measure: medians of single calls, side by side, in one process with one thread."""

from __future__ import annotations

import gc
import multiprocessing
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

Row = dict[str, Any]

ROUND = 40


def row(benchmark: str, unit: str, ours: float, comparison: str, theirs: float, **detail: Any) -> Row:
    """One line of the table; ratio: how many times as much the comparison takes (of a rate: we reach)."""
    ratio = ours / theirs if unit.endswith("/s") else theirs / ours
    return {
        "benchmark": benchmark,
        "unit": unit,
        "ours": round(ours, 4),
        "comparison": comparison,
        "theirs": round(theirs, 4),
        "ratio": round(ratio, 2),
        **detail,
    }


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without the garbage collector, which would charge one side for the other's objects."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def median_us(*calls: Callable[[Any], Any], arguments: Sequence[Any]) -> list[float]:
    """Median microseconds of each call over the arguments.

    The calls take turns of ROUND arguments, so that they share the weather but not each other's cold caches.
    """
    times: list[list[float]] = [[] for _ in calls]
    with undisturbed():
        for start in range(0, len(arguments), ROUND):
            for call, taken in zip(calls, times, strict=True):
                for argument in arguments[start : start + ROUND]:
                    begun = perf_counter()
                    call(argument)
                    taken.append(perf_counter() - begun)
    return [statistics.median(taken) * 1e6 for taken in times]


def resident_bytes() -> int:
    """Memory of this process that is really there (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def resident_growth(build: Callable[..., Any], *arguments: Any) -> int:
    """Bytes by which a process of its own grows while it builds something; `build` is a function of a module."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_growth, (build, arguments))


def _growth(build: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    gc.collect()
    before = resident_bytes()
    built = build(*arguments)
    gc.collect()
    grown = resident_bytes() - before
    del built
    return grown


def show(rows: list[Row]) -> None:
    """The rows as a table on standard output."""
    for line in rows:
        detail = "  ".join(f"{name}={value}" for name, value in line.items() if name not in _COLUMNS)
        print(
            f"{line['benchmark']:<58} {line['ours']:>12} {line['unit']:<9} "
            f"{line['comparison']:<44} {line['theirs']:>12}  x{line['ratio']:<8} {detail}"
        )


_COLUMNS = {"benchmark", "unit", "ours", "comparison", "theirs", "ratio"}
