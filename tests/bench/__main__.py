"""All benchmarks, one after the other: tables on the terminal, and docs/reference/benchmarks.md.

`python -m tests.bench [NAME ...] [--data FOLDER] [--minutes N]`. A benchmark asserts nothing; it says what it measured,
beside what, on which machine and how busy that was. Sections of benchmarks that do not run stay as they are.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import platform
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

NAMES = (
    "latency",
    "intake",
    "folding",
    "deciding",
    "trimming",
    "restart",
    "footprint",
    "journal",
    "sealing",
    "erasure",
    "facts",
    "timeline",
    "semantic",
    "peers",
    "words",
    "topics",
    "training",
    "locomo",
    "trial",
)
WITH_DATA = {"locomo": "locomo10.json.gz", "trial": "sgd_dev/traj.jsonl.gz"}
LIBRARIES = ("numpy", "faiss-cpu", "xgboost-cpu", "orjson", "pydantic", "aiomqtt", "sqlalchemy", "tokenizers")
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "benchmarks.md"
HEAD = """# Benchmarks

Written by `make bench` (`python -m tests.bench`). Ratios hold on other machines, times do not. A load average well
above zero means that others used the machine meanwhile: then times are too long, and the longest most of all.
"""
EMPTY = ""


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m tests.bench")
    asked.add_argument("names", nargs="*", choices=[*NAMES, []], default=[])
    asked.add_argument("--data", type=Path, default=Path("data"), help="folder of public data sets (locomo)")
    asked.add_argument("--minutes", type=float, default=1.0, help="how long intake lasts")
    chosen = asked.parse_args()
    console = Console()
    sections = _sections(PAGE.read_text()) if PAGE.exists() else {}
    for name in chosen.names or NAMES:
        file = WITH_DATA.get(name)
        if file and not (chosen.data / file).is_file():
            console.print(f"{name}: left out, there is no {chosen.data / file} (--data names its folder)")
            continue
        module = import_module(f"tests.bench.{name}")
        console.rule(name)
        where = _where()
        with contextlib.redirect_stdout(io.StringIO()):
            rows = module.run(*_given(name, chosen))
        console.print(_table(rows))
        sections[name] = _section(name, module.__doc__ or "", where, rows)
        known = [each for each in NAMES if each in sections]
        PAGE.write_text("\n".join([HEAD, *(sections[each] for each in known)]))
    console.print(f"written: {PAGE}")


def _given(name: str, chosen: argparse.Namespace) -> tuple[Any, ...]:
    if name in WITH_DATA:
        return (chosen.data,)
    return (chosen.minutes,) if name == "intake" else ()


def _where() -> str:
    """When, on what, and how busy it was before."""
    libraries = ", ".join(f"{library} {version(library)}" for library in LIBRARIES)
    load = " ".join(f"{share:.1f}" for share in os.getloadavg())
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    machine = f"{_processor()}, {os.cpu_count()} processors, {platform.system()} {platform.release()}"
    return f"{when}; {machine}; load average {load}; Python {platform.python_version()}, {libraries}."


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _columns(rows: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1_000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(*_columns(rows))
    for row in rows:
        table.add_row(*(_text(row.get(name, EMPTY)) for name in _columns(rows)))
    return table


def _section(name: str, about: str, where: str, rows: list[dict[str, Any]]) -> str:
    columns = _columns(rows)
    lines = [
        f"## {name}",
        "",
        *about.strip().splitlines(),
        "",
        where,
        "",
        f"| {' | '.join(column.replace('_', ' ') for column in columns)} |",
        f"|{'---|' * len(columns)}",
        *(f"| {' | '.join(_text(row.get(column, EMPTY)) for column in columns)} |" for row in rows),
        "",
    ]
    return "\n".join(lines)


def _sections(page: str) -> dict[str, str]:
    """The sections of a page by name."""
    parts = page.split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))  # where tests find each other
    main()
