"""Where the passages of events are on the shelf."""

import numpy as np
import orjson
import pytest

from beforehand.memory.agent import AgentMemory
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope


@pytest.fixture
def memory() -> AgentMemory:
    """Four events of 2, 1, 3 and 1 values, with the records that hold several."""
    memory = AgentMemory("t", "a")
    for number, count in enumerate((2, 1, 3, 1)):
        data = {f"key{n}": f"value{n}" for n in range(count)}
        body = orjson.dumps({"kind": "observation", "role": "tool", "id": f"e{number}", "data": data})
        memory.take(codec.read(Address(Scope("t", "a", "r"), "event"), body, received_us=number, arrival_id="unused"))
    return memory


@pytest.mark.parametrize("rows", [[], [3], [0, 1, 2, 3], [1, 3], [2, 0]])
def test_the_places_of_events_are_those_of_each_one_after_another(memory: AgentMemory, rows: list[int]):
    shelf, asked = memory.shelf, np.array(rows, np.int64)
    assert shelf.firsts(asked).tolist() == [shelf.places(row).start for row in rows]
    assert shelf.places_of(asked).tolist() == [place for row in rows for place in shelf.places(row)]


def test_the_newest_events_are_those_that_reach_the_passages_asked_for(memory: AgentMemory):
    shelf, rows = memory.shelf, np.arange(4)
    for most in range(1, shelf.columns.size + 3):
        newest = shelf.newest(rows, most)
        assert newest.tolist() == rows[4 - len(newest) :].tolist()
        assert len(shelf.places_of(newest)) >= min(most, shelf.columns.size)
        assert len(shelf.places_of(newest[1:])) < most
    assert shelf.newest(rows[:0], 5).tolist() == []
