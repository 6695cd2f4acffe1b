"""The writer's queue, over a commit that the test decides."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from beforehand import limits
from beforehand.backends.journal.writer import Call, GroupWriter, NotNow
from beforehand.backends.measures import RecordedMeasures
from beforehand.errors import JournalError, Unstorable
from beforehand.settings import JournalSettings

pytestmark = pytest.mark.anyio


class Store:
    """A commit that keeps the sizes of its calls. It waits while `gate` is closed; `fault` may raise."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.commits: list[list[int]] = []
        self.stored: list[object] = []
        self.tries = 0

    def fault(self, rows: list[object]) -> None:
        """No fault."""

    def __call__(self, calls: Sequence[Call]) -> list[list[object]]:
        self.gate.wait(30)
        self.tries += 1
        rows = [row["name"] for call in calls for row in call.rows]
        self.fault(rows)
        self.commits.append([len(call.rows) for call in calls])
        self.stored += rows
        return [[row["name"] for row in call.rows] for call in calls]


def rows(*names: object) -> list[dict[str, object]]:
    return [{"name": name} for name in names]


async def answers_of(store: Store, sizes: list[int], **settings: float) -> list[list[object]]:
    """Hand over one row, then calls of these sizes while the commit of the first runs; all answers."""
    store.gate.clear()
    group = GroupWriter(store, JournalSettings(**settings), RecordedMeasures())
    calls = [asyncio.ensure_future(group.hand_over("messages", rows("first")))]
    await asyncio.sleep(0.02)
    names = iter(range(10_000))
    calls += [
        asyncio.ensure_future(group.hand_over("messages", rows(*(next(names) for _ in range(size))))) for size in sizes
    ]
    await asyncio.sleep(0)
    store.gate.set()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    await asyncio.to_thread(group.close)
    return answers


async def test_what_came_behind_a_commit_shares_the_next_up_to_the_bound():
    store = Store()
    answers = await answers_of(store, [100] * 5, commit_messages=256)
    assert store.commits == [[1], [100, 100], [100, 100], [100]]
    assert answers == [["first"], *(list(range(start, start + 100)) for start in range(0, 500, 100))]


async def test_a_call_larger_than_the_bound_is_not_parted():
    store = Store()
    await answers_of(store, [3, 40, 2, 2], commit_messages=4)
    assert store.commits == [[1], [3], [40], [2, 2]]


async def test_a_commit_waits_for_company_until_it_is_full():
    store = Store()
    group = GroupWriter(store, JournalSettings(commit_messages=3, commit_age_s=1), RecordedMeasures())
    calls = [asyncio.ensure_future(group.hand_over("messages", rows(1)))]
    await asyncio.sleep(0.02)
    calls.append(asyncio.ensure_future(group.hand_over("messages", rows(2, 3))))
    assert await asyncio.gather(*calls) == [[1], [2, 3]]
    assert store.commits == [[1, 2]]
    await asyncio.to_thread(group.close)


async def test_r4_a_lone_message_waits_for_company_no_longer_than_it_may():
    store = Store()
    group = GroupWriter(store, JournalSettings(commit_messages=3, commit_age_s=0.01), RecordedMeasures())
    assert await group.hand_over("messages", rows(1)) == [1]
    assert store.commits == [[1]]
    await asyncio.to_thread(group.close)


async def test_a_failing_commit_is_tried_again_with_the_same_calls_in_the_same_order(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "STORE_RETRY_FIRST_S", 0.001)
    store = Store()
    left = 3

    def fault(_rows: list[object]) -> None:
        nonlocal left
        if left:
            left -= 1
            raise NotNow("the disk is full.", "Make room.")

    store.fault = fault
    answers = await answers_of(store, [1, 2], commit_messages=2)
    assert answers == [["first"], [0], [1, 2]]
    assert store.stored == ["first", 0, 1, 2]
    assert store.tries == len(store.commits) + 3


async def test_rows_at_fault_are_parted_from_the_others_and_order_is_kept():
    store = Store()

    def fault(found: list[object]) -> None:
        if {3, 8} & set(found):
            raise Unstorable("a bad row.", entries=(0,))

    store.fault = fault
    answers = await answers_of(store, [1] * 12)
    assert [isinstance(answer, Unstorable) for answer in answers[1:]] == [number in {3, 8} for number in range(12)]
    assert store.stored == ["first", *(number for number in range(12) if number not in {3, 8})]


async def test_a_fault_during_a_retry_still_parts_the_calls(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "STORE_RETRY_FIRST_S", 0.001)
    store = Store()

    def fault(found: list[object]) -> None:
        if store.tries % 2:
            raise NotNow("the disk is full.", "Make room.")
        if 1 in found:
            raise Unstorable("a bad row.", entries=(0,))

    store.fault = fault
    answers = await answers_of(store, [1, 1, 1])
    assert [type(answer) for answer in answers] == [list, list, Unstorable, list]
    assert store.stored == ["first", 0, 2]


async def test_a_cancelled_call_does_not_disturb_those_beside_it():
    store = Store()
    store.gate.clear()
    group = GroupWriter(store, JournalSettings(), RecordedMeasures())
    calls = [asyncio.ensure_future(group.hand_over("messages", rows(number))) for number in range(6)]
    await asyncio.sleep(0)
    calls[0].cancel()
    calls[3].cancel()
    await asyncio.sleep(0)
    store.gate.set()
    assert [await call for number, call in enumerate(calls) if number not in {0, 3}] == [[1], [2], [4], [5]]
    assert store.stored == list(range(6))
    assert group.waiting == 0
    await asyncio.to_thread(group.close)


async def test_closing_stores_what_was_handed_over_and_refuses_what_comes_later():
    store = Store()
    store.gate.clear()
    group = GroupWriter(store, JournalSettings(), RecordedMeasures())
    calls = [asyncio.ensure_future(group.hand_over("messages", rows(number))) for number in range(3)]
    await asyncio.sleep(0)
    ending = asyncio.ensure_future(asyncio.to_thread(group.close))
    await asyncio.sleep(0.01)
    store.gate.set()
    await ending
    assert [await call for call in calls] == [[0], [1], [2]]
    with pytest.raises(JournalError, match="not open"):
        await group.hand_over("messages", rows(3))
