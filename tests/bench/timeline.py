"""The timeline against the textbook segment tree: `python -m tests.bench.timeline [events ...]`."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from tests.bench.measure import Row, median_us, resident_growth, row, show, undisturbed
from tests.bench.textbook_tree import Event, TextbookTree

from beforehand.index.timeline import Timeline

SIZES = (50_000, 1_000_000)
CALLS = 280
TEXTBOOK = "textbook recursive tree with id lists"

Happenings = Iterable[tuple[int, int, bool, bool, float]]


def happenings(size: int) -> list[tuple[int, int, bool, bool, float]]:
    """(at_us, tool, failed, action, importance): one step per event, two failures in a hundred."""
    draw = np.random.default_rng(1)
    return list(
        zip(
            np.cumsum(draw.integers(1, 2_000_000, size)).tolist(),
            draw.integers(0, 20, size).tolist(),
            (draw.random(size) < 0.02).tolist(),
            (draw.random(size) < 0.5).tolist(),
            draw.random(size).tolist(),
            strict=True,
        )
    )


def one_by_one(size: int) -> Iterator[tuple[int, int, bool, bool, float]]:
    """The like, made as it is taken, so that no list of it counts as memory of the structure that takes it."""
    for step in range(size):
        yield step * 1_000_000, step % 20, step % 50 == 0, step % 2 == 0, (step * 7919 % 10_007) / 10_007


def grow_timeline(rows: Happenings) -> Timeline:
    """A timeline of an agent that counts."""
    timeline = Timeline()
    for step, (at_us, tool, failed, action, importance) in enumerate(rows):
        timeline.append(
            at_us,
            kind=step % 5,
            run=0,
            tool=tool,
            step=step,
            failed=failed,
            action=action,
            importance=importance,
            count=(0, step),
        )
    return timeline


def grow_textbook(rows: Happenings, size: int) -> TextbookTree:
    """The same in the textbook's way."""
    tree = TextbookTree(size)
    for step, (at_us, tool, failed, action, importance) in enumerate(rows):
        tree.append(Event(at_us, step % 5, 0, tool, step, failed, action, importance))
    return tree


def timeline_alone(size: int) -> Timeline:
    """For the memory of a process of its own."""
    timeline = grow_timeline(one_by_one(size))
    timeline.aggregate()
    return timeline


def textbook_alone(size: int) -> TextbookTree:
    """For the memory of a process of its own."""
    return grow_textbook(one_by_one(size), size)


def run(sizes: Sequence[int] = SIZES, calls: int = CALLS) -> list[Row]:
    """All comparisons for each size; the comparison answers the same questions with the same answers."""
    return [line for size in sizes for line in _compare(size, calls)]


def _compare(size: int, calls: int) -> list[Row]:
    rows = happenings(size)
    with undisturbed():
        start = perf_counter()
        timeline = grow_timeline(rows)
        middle = perf_counter()
        tree = grow_textbook(rows, size)
        end = perf_counter()
    timeline.aggregate()
    draw = np.random.default_rng(2)
    name = f"{size:,} events: "
    lines = [row(name + "append", "events/s", size / (middle - start), TEXTBOOK, size / (end - middle))]
    our_bytes, their_bytes = (resident_growth(build, size) / size for build in (timeline_alone, textbook_alone))
    lines.append(row(name + "memory (resident)", "B/event", our_bytes, TEXTBOOK, their_bytes))
    lines.append(row(name + "memory (cells in use)", "B/event", timeline.nbytes / size, TEXTBOOK, their_bytes))
    for question, length, ours, theirs in _questions(timeline, tree, size):
        places = draw.integers(length, size - length - 1, calls).tolist()
        for place in places[:20]:
            if _plain(ours(place)) != _plain(theirs(place)):
                raise AssertionError(f"{question} at {place}: the two do not agree")
        our_us, their_us = median_us(ours, theirs, arguments=places)
        lines.append(row(name + question, "us", our_us, TEXTBOOK, their_us))
    return lines


Question = tuple[str, int, Callable[[int], Any], Callable[[int], Any]]


def _questions(timeline: Timeline, tree: TextbookTree, size: int) -> Iterator[Question]:
    times = timeline.columns.at_us[:size].tolist()
    for length in (100, 5_000):
        yield _interval(timeline, tree, length)
    yield "interval of 100 by step", 100, lambda x: timeline.of_steps(range(x, x + 100), 0), _textbook(tree, 100)
    yield (
        "interval of 100 by time",
        100,
        lambda x: timeline.during(times[x], times[x + 100], 0),
        lambda x: tree.interval(bisect_left(times, times[x]), bisect_left(times, times[x + 100])),
    )
    yield "20 after X", 20, lambda x: timeline.after(x, 20, 0), lambda x: tree.after(x, 20)
    yield "20 before X", 20, lambda x: timeline.before(x, 20, 0), lambda x: tree.before(x, 20)
    yield "between X and Y", 101, lambda x: timeline.between(x, x + 101, 0), lambda x: tree.interval(x + 1, x + 101)
    yield "first error after X", 400, lambda x: timeline.next_failure(x, 0), lambda x: tree.first_error(x + 1)
    for length in sorted({5_000, size // 10}):
        yield _aggregate(timeline, tree, length)
        yield _top(timeline, tree, length)
    yield (
        "change one importance, aggregate 5,000 around it",
        5_000,
        lambda x: (timeline.revise(x, 0.5), tuple(timeline.aggregate(x - 2_500, x + 2_500, 0))[:5])[1],
        lambda x: (tree.revise(x, 0.5), tree.aggregate(x - 2_500, x + 2_500))[1],
    )


def _textbook(tree: TextbookTree, length: int) -> Callable[[int], Any]:
    return lambda x: tree.interval(x, x + length)


def _interval(timeline: Timeline, tree: TextbookTree, length: int) -> Question:
    return f"interval of {length:,}", length, lambda x: timeline.interval(x, x + length, 0), _textbook(tree, length)


def _aggregate(timeline: Timeline, tree: TextbookTree, length: int) -> Question:
    return (
        f"aggregate of {length:,}",
        length,
        lambda x: tuple(timeline.aggregate(x, x + length, 0))[:5],
        lambda x: tree.aggregate(x, x + length),
    )


def _top(timeline: Timeline, tree: TextbookTree, length: int) -> Question:
    return (
        f"top 10 of {length:,}",
        length,
        lambda x: timeline.top(10, x, x + length, 0),
        lambda x: tree.top(10, x, x + length),
    )


def _plain(answer: Any) -> Any:
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, tuple):
        return tuple(round(value, 3) for value in answer)
    return answer


if __name__ == "__main__":
    show(run([int(size) for size in sys.argv[1:]] or SIZES))
