"""Recall through the topic tree: what was said beside a find is found too, and parts of the runs are named."""

from __future__ import annotations

import numpy as np
import pytest

from beforehand.index.semantic import SemanticWindows
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Recall
from beforehand.memory.router import recall
from beforehand.memory.topics import topics_near
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope
from beforehand.messages.values import rfc3339
from stage import staged

SAID = ("Shall we book the ferry to Elba?", "Only if it leaves after nine.", "The oven is broken.", "Call the plumber.")


def vector(*values):
    return np.array(values, np.float32) / np.linalg.norm(values).astype(np.float32)


VECTORS = (vector(1, 0, 0), vector(0, 1, 0), vector(0, 0, 1), vector(0, 1, 1))


def memory_of(texts, vectors):
    memory = AgentMemory("shop", "anna", None if vectors is None else SemanticWindows(3))
    for number, text in enumerate(texts):
        body = codec.orjson.dumps({"kind": "message", "role": "user", "text": text, "id": f"e{number}"})
        address = Address(Scope("shop", "anna", "r1"), "event")
        taken = memory.take(codec.read(address, body, received_us=number, arrival_id="unused"))
        if vectors is not None:
            memory.embed(taken.event.row, vectors[number])
    return memory


@pytest.fixture
def memory():
    return memory_of(SAID, VECTORS)


def test_the_tree_finds_the_answer_behind_the_question(memory):
    asked = Recall("tree", query="ferry Elba", k=2)
    assert [found.row for found in recall(memory, asked, VECTORS[0])] == [0, 1]
    assert [(found.channel, found.rank) for found in recall(memory, asked, VECTORS[0])] == [("tree", 0), ("tree", 1)]


def test_filters_bound_what_the_tree_answers(memory):
    assert [found.row for found in recall(memory, Recall("tree", query="ferry", last=2), VECTORS[2])] == [2, 3]
    assert recall(memory, Recall("tree", query="ferry", tools=frozenset({"book"})), VECTORS[0]) == []


def test_without_vectors_words_answer_alone():
    asked = Recall("tree", query="ferry oven", k=4)
    assert sorted(found.row for found in recall(memory_of(SAID, None), asked)) == [0, 2]
    assert topics_near(memory_of(SAID, None), VECTORS[0], 2, None) == []


def test_parts_of_the_runs_are_named_by_their_own_words(memory):
    [topic] = topics_near(memory, VECTORS[0], 3, None)
    assert (topic.first.id, topic.last.id, topic.count) == ("e0", "e3", 4)
    assert set(topic.words) < set(" ".join(SAID).lower().replace("?", "").replace(".", "").split())
    assert str(topic).endswith("(4 events from e0 to e3)")


def test_a_recall_by_tree_says_which_parts_it_is_near_to_unless_it_is_narrowed():
    async def play(stage):
        for number, text in enumerate(SAID):
            await stage.event(text, role="user", id=f"e{number}")
        reply = await stage.recall("ferry to Elba", mode="tree", k=2)
        assert [item["text"] for item in reply["items"]] == list(SAID[:2])
        assert "from e0 to e3" in reply["asked"][0]["why"]
        now = rfc3339(stage.replay.clock.now_us())
        for narrowed in ({"kinds": ["message"]}, {"known_at": now}):
            reply = await stage.recall("ferry to Elba", mode="tree", k=2, **narrowed)
            assert "from e0 to e3" not in reply["asked"][0]["why"]

    staged(play)
