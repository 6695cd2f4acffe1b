"""What bears on a step is told by its place in the run and by its weight; what is pruned comes back when it is used."""

from __future__ import annotations

import pytest

from beforehand.memory.trees import Trees
from beforehand.memory.weighted_tree import WeightedTree
from beforehand.memory.weights import Node, Weights
from property.test_weighted_tree import event
from stage import RUN, staged


async def bearing(stage, **fields):
    reply = await stage.recall("", mode="tree", **fields)
    assert [asked["channel"] for asked in reply["asked"]] == ["tree"]
    return [item["text"] for item in reply["items"]]


async def work(stage):
    await stage.plan({"id": "a", "goal": "book the flight"}, {"id": "b", "goal": "book the hotel"})
    await stage.event("I prefer an aisle seat.", role="user")
    await stage.begin("a")
    await stage.event("flight F12 leaves at nine", kind="observation", tool="search", role="tool")
    await stage.say("step", step="a", phase="end", ok=True)
    await stage.begin("b")
    await stage.event("hotel H7 has a pool", kind="observation", tool="search", role="tool")


def test_what_bears_on_the_step_under_way_needs_no_question():
    async def play(stage):
        await work(stage)
        found = await bearing(stage)
        assert set(found) == {"I prefer an aisle seat.", "flight F12 leaves at nine", "hotel H7 has a pool"}
        assert stage.measures.value("beforehand_tree_nodes", state="live") == 6
        assert await bearing(stage, k=1) == ["I prefer an aisle seat."]

    staged(play)


def test_a_step_that_is_returned_to_keeps_what_hung_below_it():
    async def play(stage):
        await work(stage)
        await stage.begin("a")
        await stage.event("flight F12 is full", kind="observation", tool="search", role="tool")
        found = await bearing(stage, step="a")
        assert {"flight F12 leaves at nine", "flight F12 is full"} <= set(found)
        assert stage.measures.value("beforehand_tree_nodes", state="live") == 7

    staged(play)


def test_a_superseded_value_bears_on_nothing():
    async def play(stage):
        seat = {"subject": "user", "attribute": "seat", "value": "aisle"}
        await stage.event("The seat of the user is aisle.", role="user", facts=[seat])
        await stage.event("The seat of the user is window.", role="user", facts=[{**seat, "value": "window"}])
        assert await bearing(stage) == ["The seat of the user is window."]

    staged(play)


def test_a_long_run_is_pruned_to_its_bound_and_keeps_preferences():
    async def play(stage):
        await stage.event("I prefer an aisle seat.", role="user")
        for number in range(40):
            await stage.event(f"the weather report number {number}", role="agent")
        found = await bearing(stage, k=50)
        assert "I prefer an aisle seat." in found
        assert stage.measures.value("beforehand_tree_nodes", state="live") <= 10
        assert stage.measures.value("beforehand_tree_nodes", state="archived") >= 32
        assert "the weather report number 39" in found
        assert "the weather report number 3" not in found

    staged(play, memory={"tree_live_nodes": 8})


async def wander(stage):
    """Steps that begin again, end out of order and leave the plan, and more than the tree may hold."""
    await stage.plan({"id": "1", "goal": "look"}, {"id": "1.1", "goal": "look closer"}, {"id": "2", "goal": "go"})
    for number, step in enumerate(("1", "1.1", "2", "1", "1.1")):
        await stage.begin(step)
        for place in range(4):
            await stage.event(f"thing {place} of visit {number}", kind="observation", tool="see", role="tool")
        await stage.event("it rains", role="agent", step="2" if number == 3 else None)
        yield
        await stage.say("step", step="1" if step == "1.1" else step, phase="end", ok=True)
        await stage.event(f"after visit {number}", role="agent")
        yield
        await stage.plan({"id": "2", "goal": "go on"}, {"id": f"new {number}", "goal": "x"}, revision=number + 2)
        yield


@pytest.mark.parametrize("live_nodes", [4, 512])
def test_a_tree_does_not_depend_on_when_it_was_asked_for(live_nodes):
    async def play(stage):
        growth = stage.replay.pipeline.answers.trees.growth
        asked = Trees(growth)
        async for _ in wander(stage):
            memory = await stage.replay.pipeline.memories.of(RUN)
            await bearing(stage)
            seen = asked.of(memory, memory.session(RUN.run))
            anew = Trees(growth).of(memory, memory.session(RUN.run))
            assert [told(node) for node in seen.nodes] == [told(node) for node in anew.nodes]
        assert any(node.archived for node in seen.nodes) == (live_nodes == 4)

    def told(node):
        return node.place, node.parent and node.parent.place, node.name, node.touched, node.uses, node.archived

    staged(play, memory={"tree_live_nodes": live_nodes})


def grown(*texts):
    tree = WeightedTree("r")
    nodes = [tree.add(event(row, "observation", text), claims=False) for row, text in enumerate(texts)]
    return tree, nodes


def test_a_value_that_a_call_takes_lifts_its_source_and_all_above_it():
    tree, [source, other] = grown("W77", "W78")
    tree.add(event(2, "action", "W77"), claims=False)
    assert (source.uses, other.uses, tree.root.uses) == (1, 0, 1)
    assert source.weight(3, Weights()) > other.weight(3, Weights())


def test_what_was_archived_comes_back_when_it_is_used():
    tree, nodes = grown(*(f"value {number}" for number in range(6)))
    tree.prune(3, Weights())
    assert nodes[0].archived
    tree.add(event(6, "action", "value 0"), claims=False)
    assert not nodes[0].archived


def test_the_same_words_are_one_node_and_other_values_are_not():
    tree, [first, again, other] = grown("price 10", "price 10", "price 11")
    assert first is again
    assert first.rows == [0, 1]
    assert other is not first
    assert len(tree.nodes) == 3


def test_a_sub_step_hangs_below_its_step_and_a_result_below_its_call():
    tree = WeightedTree("r")
    outer, inner = tree.enter("3"), tree.enter("3.1")
    call = tree.add(event(0, "action", "look"), claims=False)
    result = tree.add(event(1, "observation", "seen"), claims=False)
    assert result.path() == [tree.root, outer, inner, call, result]
    assert tree.depth == 4


@pytest.mark.parametrize(("weights", "expected"), [(Weights(), 0.4 + 0.25 + 0.45 + 0.5), (Weights(2, 0, 0, 0), 0.8)])
def test_a_weight_is_what_the_formula_says(weights, expected):
    node = Node(0, "call", None, "x", importance=0.4, confidence=0.9, touched=10, uses=1)
    assert node.weight(50, weights) == pytest.approx(expected)
