"""A result belongs to the call that its `call_id` names: calls of one tool at the same time are not mixed up."""

from __future__ import annotations

import pytest

from beforehand.memory.looking_back import look_back
from beforehand.memory.results import WITHIN, result_of
from beforehand.memory.steps import Step
from beforehand.memory.trails import Doing
from beforehand.memory.tried import WHOLE, Tried
from beforehand.memory.weighted_tree import WeightedTree
from beforehand.messages.inbound import Event
from happenings import happened
from stage import RUN, staged


def call(row, call_id=None, tool="book"):
    return happened(row, kind="action", tool=tool, call_id=call_id, authority="agent")


def result(row, call_id=None, tool="book", ok=True, text=""):
    return happened(row, text or f"came {row}", kind="observation", tool=tool, ok=ok, call_id=call_id)


@pytest.mark.parametrize(
    ("later", "row"),
    [
        ([call(1, "b"), result(2, "b"), result(3, "a")], 3),
        ([result(1, "b"), result(2, "a", tool="other")], 2),
        ([result(1), call(2, "b"), result(3, "a")], 3),
        ([result(1), result(2)], 1),
        ([result(1, tool=None)], 1),
        ([result(1, "b")], None),
        ([result(1, tool="other"), call(2), result(3)], None),
        ([call(1, "a"), result(2, "a")], None),
        ([*(happened(1 + n) for n in range(WITHIN)), result(WITHIN + 1, "a")], None),
    ],
)
def test_the_result_of_a_call_is_that_with_its_id_else_the_next_of_its_tool_before_another_call(later, row):
    found = result_of(call(0, "a"), later)
    assert (found and found.row) == row


@pytest.mark.parametrize(
    ("later", "row"),
    [([result(1, "b")], 1), ([call(1, "b"), result(2)], None), ([result(1, tool="other"), result(2, "b")], 2)],
)
def test_of_a_call_without_an_id_it_is_told_by_the_tool(later, row):
    found = result_of(call(0), later)
    assert (found and found.row) == row


def test_a_run_is_read_with_the_results_of_parallel_calls():
    doing = Doing()
    told = [
        {"kind": "action", "tool": "book", "call_id": "a", "args": {"seat": 1}},
        {"kind": "action", "tool": "book", "call_id": "b", "args": {"seat": 2}},
        {"kind": "observation", "tool": "book", "call_id": "b", "ok": True},
        {"kind": "observation", "tool": "book", "call_id": "a", "ok": False, "text": "taken"},
    ]
    for number, one in enumerate(told):
        doing.happened(Event.model_validate(one), f"e{number}", None)
    assert [one.problem for one in doing.trail("r", "t", success=True).calls] == ["taken", None]


def test_a_look_back_knows_which_of_parallel_calls_failed():
    events = [call(0, "a"), call(1, "b"), result(2, "b"), result(3, "a", ok=False, text="taken")]
    found = look_back("r", Step("s"), events, ok=True)
    assert [one.problem for one in found.attempts] == ["taken", None]
    later = [call(0, "a"), call(1), result(2, "c", ok=False, text="taken"), result(3, ok=False, text="full")]
    assert [one.problem for one in look_back("r", Step("s"), later, ok=True).attempts] == [None, "taken", "full"]
    stray = [call(0, "a"), result(1, "c", ok=False, text="taken"), result(2, "a", tool=None, ok=False, text="full")]
    assert [one.problem for one in look_back("r", Step("s"), stray, ok=True).attempts] == ["full", "taken"]


def test_an_empty_call_id_is_none():
    doing = Doing()
    for told in (
        {"kind": "action", "tool": "book"},
        {"kind": "observation", "tool": "book", "ok": False, "text": "no"},
    ):
        doing.happened(Event.model_validate({**told, "call_id": ""}), "e", None)
    assert [one.problem for one in doing.trail("r", "t", success=True).calls] == ["no"]


@pytest.mark.parametrize("counted", [False, True])
def test_a_result_belongs_to_the_step_of_its_call_though_that_is_over(counted):
    tried, numbers = Tried(), iter(range(1, 10))

    def order():
        return (0, next(numbers)) if counted else None

    tried.marked(order(), "s1", began=True)
    assert tried.happened(call(0, "a"), order(), "s1") == "s1"
    tried.marked(order(), "s1", began=False)
    tried.marked(order(), "s2", began=True)
    assert tried.happened(call(1, "b"), order(), "s2") == "s2"
    assert tried.happened(result(2, "a"), order(), "s2") == "s1"
    assert tried.happened(result(3, "b"), order(), "s2") == "s2"
    assert [tried.of_step(step) for step in ("s1", "s2", WHOLE)] == [[0, 2], [1, 3], []]
    assert sorted(tried.everything()) == [0, 1, 2, 3]


def test_a_result_hangs_below_its_call():
    tree = WeightedTree("r")
    tree.enter("s1")
    nodes = [tree.add(one, claims=False) for one in (call(0, "a"), call(1, "b"), result(2, "a"), result(3, "b"))]
    assert [node.parent for node in nodes[2:]] == nodes[:2]
    tree.enter("s2")
    assert tree.add(result(4, "a"), claims=False).parent is nodes[0]
    newest = tree.add(call(5, "c"), claims=False)
    assert tree.add(result(6, "x"), claims=False).parent is tree.active
    assert tree.add(result(7), claims=False).parent is newest


def test_a_summary_says_which_of_parallel_calls_failed():
    async def play(stage):
        for call_id, seat in (("a", "1A"), ("b", "2B")):
            await stage.event(kind="action", tool="book", role="agent", args={"seat": seat}, call_id=call_id)
        for call_id, ok in (("b", True), ("a", False)):
            await stage.event(f"answer {call_id}", kind="observation", tool="book", role="tool", ok=ok, call_id=call_id)
        [item] = (await stage.recall("", mode="summary", k=1))["items"]
        assert "Done: book(seat: 1A) failed | book(seat: 2B)" in item["text"]
        assert "2B) failed" not in item["text"]

    staged(play)
    assert RUN.run == "r1"
