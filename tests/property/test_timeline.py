"""Every query of the timeline against plain lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand.index.matching import Match
from beforehand.index.timeline import Timeline
from property.naive_order import Happening, NaiveTimeline

RUNS = (None, 0, 1, 7)
RANGES = ((None, None), (-3, None), (1, 4), (4, 1), (None, -1), (2, 10**9))

happenings = st.builds(
    Happening,
    at_us=st.integers(-3, 12),
    kind=st.integers(0, 2),
    run=st.integers(0, 1),
    tool=st.integers(-1, 2),
    space=st.integers(-1, 1),
    step=st.integers(-1, 4),
    failed=st.booleans(),
    action=st.booleans(),
    importance=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    count=st.none() | st.tuples(st.integers(0, 2), st.integers(1, 9)),
)
wishes = st.dictionaries(
    st.sampled_from(["kind", "tool", "space", "step"]), st.integers(0, 2), max_size=2
) | st.dictionaries(st.sampled_from(["failed", "action", "kind"]), st.just(value=True), min_size=1)


def both(events: list[Happening]) -> tuple[Timeline, NaiveTimeline]:
    timeline, naive = Timeline(), NaiveTimeline()
    for event in events:
        assert timeline.append(**asdict(event)) == naive.append(event)
    return timeline, naive


def check_order(timeline: Timeline, naive: NaiveTimeline, run: int | None) -> None:
    size, order = len(naive.events), naive.order(run)
    assert timeline.size(run) == len(order)
    for n in range(size + 2):
        assert timeline.last(n, run).tolist() == order[max(len(order) - n, 0) :]
    for start, stop in RANGES:
        assert timeline.interval(start, stop, run).tolist() == order[start:stop]
    for x in range(size):
        assert timeline.place(x, run) == naive.cut(x, run)[0]
        for limit in (0, 1, 3, size + 1):
            assert timeline.after(x, limit, run).tolist() == naive.after(x, limit, run)
            assert timeline.before(x, limit, run).tolist() == naive.before(x, limit, run)
    for x, y in product(range(0, size, 3), range(0, size, 2)):
        assert timeline.between(x, y, run).tolist() == naive.between(x, y, run)
        assert timeline.stretch(x, y, run).tolist() == naive.stretch(x, y, run)


def check_matches(timeline: Timeline, naive: NaiveTimeline, wish: dict[str, int], run: int | None) -> None:
    match = Match(**wish)
    for start, stop in RANGES:
        expected = naive.matching(wish, start, stop, run)
        assert timeline.matching(match, start, stop, run).tolist() == expected
        assert timeline.count(match, start, stop, run) == len(expected)
        assert timeline.first(match, start, stop, run) == (expected[0] if expected else None)
        assert timeline.last_match(match, start, stop, run) == (expected[-1] if expected else None)
    everywhere, order = naive.matching(wish, None, None, run), naive.order(run)
    for x in range(len(naive.events)):
        before, after = naive.cut(x, run)
        later = [row for row in everywhere if row in order[after:]]
        earlier = [row for row in everywhere if row in order[:before]]
        assert timeline.next(x, match, run) == (later[0] if later else None)
        assert timeline.previous(x, match, run) == (earlier[-1] if earlier else None)


def check_aggregates(
    timeline: Timeline,
    naive: NaiveTimeline,
    changes: dict[int, int],
    run: int | None,
    ranges: Iterable[tuple[int | None, int | None]] = RANGES,
) -> None:
    for start, stop in ranges:
        rows = naive.in_range(start, stop, run)
        assert timeline.aggregate(start, stop, run) == naive.aggregate(rows, changes)
        tools = Counter(sorted(naive.events[row].tool for row in rows if naive.events[row].tool >= 0))
        assert list(timeline.tools(start, stop, run).items()) == tools.most_common()
        for k in (0, 1, 3, 100):
            assert timeline.top(k, start, stop, run).tolist() == naive.top(k, rows)
        for bar in (0.0, 0.3, 0.5, 2.0):
            reached = [row for row in rows if naive.events[row].importance >= bar]
            assert timeline.first_at_least(bar, start, stop, run) == (reached[0] if reached else None)


@settings(deadline=None, max_examples=60)
@given(st.lists(happenings, min_size=1, max_size=40))
def test_every_order_query_answers_like_a_plain_list(events):
    timeline, naive = both(events)
    for run in RUNS:
        check_order(timeline, naive, run)
    assert timeline.runs() == list(naive.runs)


@settings(deadline=None, max_examples=60)
@given(st.lists(happenings, max_size=60), st.lists(happenings, max_size=20))
def test_a_window_of_time_holds_while_times_come_out_of_order(events, more):
    timeline, naive = both(events)
    bounds = (None, -4, 0, 3, 7, 13)
    for low, high, run in product(bounds, bounds, RUNS):
        assert timeline.during(low, high, run).tolist() == naive.during(low, high, run)
    for event in more:
        timeline.append(**asdict(event))
        naive.append(event)
        assert timeline.during(2, 8).tolist() == naive.during(2, 8, None)


@settings(deadline=None, max_examples=60)
@given(st.lists(happenings, max_size=60), wishes)
def test_every_match_query_answers_like_a_plain_list(events, wish):
    timeline, naive = both(events)
    for run in RUNS:
        check_matches(timeline, naive, wish, run)


@settings(deadline=None, max_examples=60)
@given(st.lists(happenings, max_size=60), st.sets(st.integers(0, 5)))
def test_events_of_steps_come_in_order_however_the_steps_interleave(events, steps):
    timeline, naive = both(events)
    for run in RUNS:
        assert timeline.of_steps(steps, run).tolist() == naive.of_steps(steps, run)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(happenings, max_size=60),
    st.lists(st.tuples(st.lists(st.integers(0, 59), max_size=4), st.sampled_from([0.0, 0.75]))),
)
def test_aggregates_hold_while_values_change_after_the_fact(events, revisions):
    timeline, naive = both(events)
    changes: dict[int, int] = {}
    for rows, importance in revisions:
        known = [row for row in rows if row < len(events)]
        number = timeline.revise(known, importance)
        for row in known:
            naive.events[row].importance = importance
            changes[row] = number
    for run in RUNS:
        check_aggregates(timeline, naive, changes, run)


@pytest.mark.parametrize("size", range(1, 13))
def test_the_next_failure_is_right_for_every_pattern_of_failures(size):
    for pattern in product((False, True), repeat=size):
        timeline = Timeline()
        for failed in pattern:
            timeline.append(0, kind=0, run=0, failed=failed)
        for x in range(size):
            later = [row for row in range(x + 1, size) if pattern[row]]
            assert timeline.next_failure(x, run=0) == (later[0] if later else None)
            assert timeline.previous_failure(size - 1 - x) == max(
                (row for row in range(size - 1 - x) if pattern[row]), default=None
            )


def test_t5_the_last_five_are_those_of_the_order_of_the_run_never_of_times_or_ids():
    """T5: random ids, times out of order, three ties."""
    draw = np.random.default_rng(5)
    times = draw.permutation(100)
    times[[10, 20, 30]] = times[40]
    timeline = Timeline()
    for at_us in times.tolist():
        timeline.append(at_us, kind=0, run=int(draw.integers(0, 2)))
    timeline.append(0, kind=0, run=2)
    assert timeline.last(5).tolist() == [96, 97, 98, 99, 100]
    own = [row for row in range(100) if timeline.columns.run[row] == 1]
    assert timeline.last(5, run=1).tolist() == own[-5:]
    assert timeline.last(5, run=2).tolist() == [100]


def test_a_late_counted_event_stands_where_its_count_says_and_earlier_answers_keep_their_contents():
    timeline = Timeline()
    for seq in (1, 2, 5):
        timeline.append(0, kind=0, run=0, count=(0, seq))
    note = timeline.append(0, kind=0, run=0)
    before = timeline.last(4, run=0)
    late = timeline.append(0, kind=0, run=0, count=(0, 3))
    restarted = timeline.append(0, kind=0, run=0, count=(1, 1))
    later = timeline.append(0, kind=0, run=0, count=(0, 9))
    assert timeline.last(9, run=0).tolist() == [0, 1, late, 2, note, later, restarted]
    assert before.tolist() == [0, 1, 2, note]


@pytest.mark.parametrize("first", [0, 2**31 - 3, 2**40])
def test_counts_that_followed_one_another_are_known_when_one_comes_late(first):
    timeline = Timeline()
    for seq in (0, 1, 2, 3, 4, 8, 9):
        timeline.append(0, kind=0, run=0, count=(0, first + seq))
    timeline.append(0, kind=0, run=0, count=(0, first + 6))
    timeline.append(0, kind=0, run=0, count=(0, first + 5))
    timeline.append(0, kind=0, run=0, count=(0, first + 2))
    assert timeline.last(10, run=0).tolist() == [0, 1, 2, 9, 3, 4, 8, 7, 5, 6]


def test_rows_grow_past_every_first_capacity():
    timeline = Timeline()
    for row in range(5000):
        timeline.append(
            row if row % 1000 else -row, kind=row % 3, run=row % 2, tool=row % 7, importance=row % 100 / 100
        )
    assert timeline.last(3, run=1).tolist() == [4995, 4997, 4999]
    assert timeline.during(100, 104).tolist() == [100, 101, 102, 103]
    assert timeline.during(None, 1).tolist() == [4000, 3000, 2000, 1000, 0]
    assert timeline.top(2).tolist() == [4999, 4899]
    assert timeline.count(Match(tool=3)) == len(range(3, 5000, 7))


def test_a_number_that_does_not_fit_its_column_is_refused_and_nothing_is_taken():
    timeline = Timeline()
    with pytest.raises(ValueError, match="format"):
        timeline.append(2**63, kind=0, run=0)
    assert len(timeline) == 0
    assert timeline.append(5, kind=0, run=0) == 0
    assert timeline.last(2).tolist() == [0]


def test_the_rendered_tree_covers_every_row_once_at_each_depth():
    timeline = Timeline()
    for row in range(64 * 64 + 200):
        timeline.append(row, kind=0, run=0, tool=row % 2, failed=row == 70)
    lines = timeline.render(depth=3)
    assert (lines[0].depth, lines[0].start, lines[0].stop, lines[0].aggregate.errors) == (0, 0, 4296, 1)
    first = [line for line in lines if line.depth == 1]
    assert [(line.start, line.stop) for line in first] == [
        (0, 4096), (4096, 4160), (4160, 4224), (4224, 4288), (4288, 4296)
    ]  # fmt: skip
    below = [line for line in lines if line.depth == 2 and line.stop <= 4096]
    assert [line.start for line in below] == list(range(0, 4096, 64))
    assert [line.aggregate.errors for line in below].index(1) == 1
    assert lines[0].tools == {0: 2148, 1: 2148}
    assert (lines[0].from_us, lines[0].to_us) == (0, 4295)
