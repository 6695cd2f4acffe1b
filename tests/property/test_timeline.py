"""Every query of the timeline against plain lists."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from beforehand.index.timeline import Timeline
from property.naive_order import Happening, NaiveTimeline

happenings = st.builds(
    Happening,
    at_us=st.integers(-3, 12),
    kind=st.integers(0, 2),
    run=st.integers(0, 2),
    tool=st.integers(-1, 2),
    space=st.integers(-1, 1),
    step=st.integers(-1, 4),
    failed=st.booleans(),
    action=st.booleans(),
    importance=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    count=st.none() | st.tuples(st.integers(0, 2), st.integers(1, 9)),
)


def both(events: list[Happening]) -> tuple[Timeline, NaiveTimeline]:
    timeline, naive = Timeline(), NaiveTimeline()
    for event in events:
        assert timeline.append(**asdict(event)) == naive.append(event)
    return timeline, naive


@given(st.lists(happenings, min_size=1, max_size=40))
def test_every_order_query_answers_like_a_plain_list(events):
    timeline, naive = both(events)
    size = len(events)
    for run in (None, 0, 1, 2, 7):
        order = naive.order(run)
        assert timeline.size(run) == len(order)
        for n in range(size + 2):
            assert timeline.last(n, run).tolist() == order[max(len(order) - n, 0) :]
        for start, stop in ((None, None), (-3, None), (1, 4), (4, 1), (None, -1), (2, 10**9)):
            assert timeline.interval(start, stop, run).tolist() == order[start:stop]
        for x in range(size):
            assert timeline.place(x, run) == naive.cut(x, run)[0]
            for limit in (0, 1, 3, size + 1):
                assert timeline.after(x, limit, run).tolist() == naive.after(x, limit, run)
                assert timeline.before(x, limit, run).tolist() == naive.before(x, limit, run)
        for x, y in product(range(0, size, 3), range(0, size, 2)):
            assert timeline.between(x, y, run).tolist() == naive.between(x, y, run)
            assert timeline.stretch(x, y, run).tolist() == naive.stretch(x, y, run)


@given(st.lists(happenings, max_size=60), st.integers(0, 60), st.lists(happenings, max_size=20))
def test_a_window_of_time_holds_while_times_come_out_of_order(events, asked_at, more):
    timeline, naive = both(events)
    bounds = (None, -4, 0, 3, 7, 13)
    for low, high in product(bounds, bounds):
        for run in (None, 0, 7):
            assert timeline.during(low, high, run).tolist() == naive.during(low, high, run)
    for event in more:
        timeline.append(**asdict(event))
        naive.append(event)
        assert timeline.during(2, 8).tolist() == naive.during(2, 8, None)
