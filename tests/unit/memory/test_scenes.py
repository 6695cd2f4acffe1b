"""A labelled step looks on its run through its scene, as if nothing else had happened in between."""

import pytest

from beforehand import limits
from beforehand.memory.agent import AgentMemory
from beforehand.memory.said import Said
from beforehand.memory.scenes import WHOLE
from beforehand.messages import codec
from beforehand.messages.topics import Address, Scope


def lived(*told: tuple[str | None, str]) -> AgentMemory:
    """One run; each event a label, or None, and what a user said."""
    memory = AgentMemory("t", "a")
    for number, (space, text) in enumerate(told):
        event = {"kind": "message", "role": "user", "text": text, "id": f"e{number}"}
        body = codec.orjson.dumps(event if space is None else {**event, "space": space})
        memory.take(codec.read(Address(Scope("t", "a", "r"), "event"), body, received_us=number, arrival_id="unused"))
    return memory


def rows(memory: AgentMemory, label: str | None) -> list[int]:
    return seen(memory, label)[1].newest(1_000)


def seen(memory: AgentMemory, label: str | None) -> tuple[str, Said]:
    return memory.session("r").scenes.of(label, memory.shelf, memory.events)


MIXED = (
    (None, "The shop closes at six."),
    ("miller", "My card is visa_1."),
    ("smith", "My card is visa_2."),
    (None, "Returns need a receipt."),
    ("miller", "The order is W77."),
)


def test_a_scene_has_what_bears_its_label_and_what_bears_none():
    memory = lived(*MIXED)
    assert rows(memory, "miller") == [0, 1, 3, 4]
    assert rows(memory, "smith") == [0, 2, 3]
    assert rows(memory, None) == [0, 1, 2, 3, 4]


def test_no_label_shows_the_whole_run_and_so_does_any_where_nothing_is_labelled():
    memory = lived(*MIXED)
    assert seen(memory, None) == seen(memory, "") == (WHOLE, memory.session("r").scenes.whole)
    plain = lived((None, "My card is visa_1."))
    assert seen(plain, "miller") == (WHOLE, plain.session("r").scenes.whole)


def test_a_label_that_no_event_bears_yet_shows_what_bears_none():
    assert rows(lived(*MIXED), "jones") == [0, 3]


@pytest.mark.parametrize("label", ["miller", "smith"])
def test_a_scene_counts_as_a_run_of_its_own_would(label):
    scene = seen(lived(*MIXED), label)[1]
    alone = lived(*((space, text) for space, text in MIXED if space in (None, label))).session("r").scenes.whole
    assert scene.count == alone.count
    assert scene.numbers(scene.newest(9)) == alone.numbers(alone.newest(9))
    assert scene.newest_user == alone.newest_user
    assert len(scene.holding) == len(alone.holding)
    assert (scene.heard.rows[: scene.heard.size] == alone.heard.rows[: alone.heard.size]).all()


def test_a_scene_that_nobody_spoke_of_for_long_goes_and_begins_again_with_the_newest_of_its_own():
    others = [(f"other {number}", f"My card is visa_{number}.") for number in range(100)]
    memory = lived(("miller", "My card is visa_1."), *others, ("miller", "The order is W77."))
    assert limits.SCENES + limits.RECENT_EVENTS < 100
    assert rows(memory, "miller") == [101]
    assert rows(memory, "other 99") == [100]
    assert rows(memory, "other 69") == [70]
    assert rows(memory, "other 0") == []


def test_a_scene_that_begins_late_has_the_newest_of_what_bears_no_label():
    memory = lived(*((None, f"note {number}") for number in range(200)), ("miller", "My card is visa_1."))
    assert rows(memory, "miller") == list(range(200 - limits.RECENT_EVENTS, 201))
