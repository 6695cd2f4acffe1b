"""Recall by words and vectors together, before anybody has learned what each is worth."""

from __future__ import annotations

import numpy as np

from beforehand.index.semantic import SemanticWindows
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Recall
from beforehand.memory.router import recall
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope

ADDRESS = Address(Scope("shop", "anna", "r1"), "event")
TEXTS = ("the parcel lies in Elba harbour", "something else is meant", "both about Elba and meant")
VECTORS = np.array([[0, 0, 0], [1, 0, 0], [0.8, 0.6, 0]], np.float32)


def told() -> AgentMemory:
    memory = AgentMemory("shop", "anna", SemanticWindows(3))
    for number, text in enumerate(TEXTS):
        body = codec.orjson.dumps({"kind": "message", "text": text, "id": f"e{number}"})
        memory.take(codec.read(ADDRESS, body, received_us=number, arrival_id="unused"))
        memory.embed(number, VECTORS[number])
    return memory


def rows(query: str, vector: np.ndarray | None) -> list[int]:
    return [find.row for find in recall(told(), Recall("hybrid", query, k=3), vector)]


def test_what_both_find_comes_before_what_one_finds():
    assert rows("about Elba", VECTORS[1])[0] == 2


def test_the_best_by_words_comes_before_the_best_by_vectors():
    assert rows("parcel harbour", VECTORS[1]) == [0, 1, 2]


def test_without_a_vector_words_alone_answer():
    assert rows("parcel harbour", None) == [0]
