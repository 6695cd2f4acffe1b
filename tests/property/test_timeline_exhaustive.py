"""Every query of the timeline with every argument, for every number of events up to twelve, against plain lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from beforehand.index.matching import Match
from beforehand.index.timeline import Timeline
from property.naive_order import Happening, NaiveTimeline
from property.test_timeline import check_aggregates

RUNS = (None, 0, 1, 7)
WISHES = ({"failed": True}, {"failed": False}, {"action": True}, {"tool": 1}, {"kind": 2}, {"tool": 0, "failed": True})
SHAPES = ("one run", "two runs", "late", "late among two", "revised")
SIZES = range(13)


def told(shape: str, size: int) -> tuple[Timeline, NaiveTimeline, dict[int, int]]:
    """A timeline of some shape beside its plain list, and the newest revision of each row."""
    draw = np.random.default_rng([size, SHAPES.index(shape)])
    timeline, naive, changes = Timeline(), NaiveTimeline(), {}
    counts = draw.permutation(size) + 1
    for number in range(size):
        event = Happening(
            at_us=int(draw.integers(0, 8)),
            kind=int(draw.integers(0, 3)),
            run=int(draw.integers(0, 2)) if "two" in shape else 0,
            tool=int(draw.integers(-1, 3)),
            step=int(draw.integers(-1, 4)),
            failed=bool(draw.random() < 0.3),
            action=bool(draw.random() < 0.5),
            importance=float(draw.choice([0.0, 0.25, 0.5, 1.0])),
            count=(0, int(counts[number])) if "late" in shape and draw.random() < 0.8 else None,
        )
        assert timeline.append(**asdict(event)) == naive.append(event)
    if shape == "revised":
        for row in range(0, size, 2):
            changes[row] = timeline.revise(row, 0.75)
            naive.events[row].importance = 0.75
    return timeline, naive, changes


def bounds(size: int) -> Iterator[tuple[int | None, int | None]]:
    """Every start and stop that a slice of so many may have, and one beyond on each side."""
    ends = (None, *range(-size - 1, size + 2))
    return product(ends, ends)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_stretch_of_an_order_is_right(shape, size):
    timeline, naive, _ = told(shape, size)
    for run in RUNS:
        order = naive.order(run)
        assert timeline.size(run) == len(order)
        for start, stop in bounds(size):
            assert timeline.interval(start, stop, run).tolist() == order[start:stop]
        for n in range(-1, size + 2):
            assert timeline.last(n, run).tolist() == order[max(len(order) - max(n, 0), 0) :]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_neighbourhood_of_an_event_is_right(shape, size):
    timeline, naive, _ = told(shape, size)
    for run, x in product(RUNS, range(size)):
        assert timeline.place(x, run) == naive.cut(x, run)[0]
        for limit in range(size + 2):
            assert timeline.after(x, limit, run).tolist() == naive.after(x, limit, run)
            assert timeline.before(x, limit, run).tolist() == naive.before(x, limit, run)
        for y in range(size):
            assert timeline.between(x, y, run).tolist() == naive.between(x, y, run)
            assert timeline.stretch(x, y, run).tolist() == naive.stretch(x, y, run)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_window_of_time_and_every_set_of_steps_is_right(shape, size):
    timeline, naive, _ = told(shape, size)
    for run in RUNS:
        for low, high in product((None, *range(-1, 10)), repeat=2):
            assert timeline.during(low, high, run).tolist() == naive.during(low, high, run)
        for chosen in product((False, True), repeat=4):
            steps = {step for step, taken in enumerate(chosen) if taken}
            assert timeline.of_steps(steps, run).tolist() == naive.of_steps(steps, run)
        for low, high in product(range(5), repeat=2):
            assert timeline.of_steps(range(low, high), run).tolist() == naive.of_steps(set(range(low, high)), run)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_match_in_every_range_is_right(shape, size):
    timeline, naive, _ = told(shape, size)
    for run, wish in product(RUNS, WISHES):
        match = Match(**wish)
        for start, stop in product((None, *range(size + 1)), repeat=2):
            expected = naive.matching(wish, start, stop, run)
            assert timeline.matching(match, start, stop, run).tolist() == expected
            assert timeline.count(match, start, stop, run) == len(expected)
            assert timeline.first(match, start, stop, run) == next(iter(expected), None)
            assert timeline.last_match(match, start, stop, run) == next(reversed(expected), None)
        everywhere, order = naive.matching(wish, None, None, run), naive.order(run)
        for x in range(size):
            before, after = naive.cut(x, run)
            assert timeline.next(x, match, run) == next((row for row in everywhere if row in order[after:]), None)
            earlier = [row for row in everywhere if row in order[:before]]
            assert timeline.previous(x, match, run) == next(reversed(earlier), None)
            if wish == {"failed": True}:
                assert timeline.next_failure(x, run) == timeline.next(x, match, run)
                assert timeline.previous_failure(x, run) == timeline.previous(x, match, run)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_aggregate_of_every_range_is_right(shape, size):
    timeline, naive, changes = told(shape, size)
    for run in RUNS:
        check_aggregates(timeline, naive, changes, run, ranges=list(bounds(size)))


@pytest.mark.parametrize("size", range(1, 7))
def test_every_order_of_arrival_of_counted_events_gives_the_same_run(size):
    for arrival in permutations(range(size)):
        timeline, rows = Timeline(), {}
        for seq in arrival:
            rows[seq] = timeline.append(0, kind=0, run=0, count=(0, seq), failed=seq % 2 == 1)
        told_in_order = [rows[seq] for seq in range(size)]
        assert timeline.interval(None, None, 0).tolist() == told_in_order
        for one, other in pairwise(told_in_order):
            assert timeline.after(one, 1, 0).tolist() == [other]
            assert timeline.before(other, 1, 0).tolist() == [one]
        assert timeline.next_failure(rows[0], 0) == rows.get(1)


NUMBERED = ("2", "3", "10", "10.1", "10.2", "10.3", "10.10", "11", "12", "99")
"""Step ids in their order; 3, 10.3 and 99 never run."""


@pytest.mark.parametrize("size", range(1, 8))
def test_every_order_in_which_steps_begin_gives_the_same_numbering(size):
    ran = [name for name in NUMBERED if name not in ("3", "10.3", "99")][:size]
    for arrival in list(permutations(ran))[:: max(1, size**3 // 8)]:
        timeline, rows = Timeline(), {}
        for name in arrival:
            rows[name] = timeline.append(0, kind=0, run=0, step=timeline.step_code(0, name))
        for first, last in product((None, *NUMBERED), repeat=2):
            low = 0 if first is None else NUMBERED.index(first)
            high = len(NUMBERED) if last is None else NUMBERED.index(last)
            named = [
                name
                for place, name in enumerate(NUMBERED)
                if name in ran and place >= low and (place <= high or name.startswith(f"{last}."))
            ]
            assert timeline.between_steps(first, last, 0).tolist() == sorted(rows[name] for name in named)
