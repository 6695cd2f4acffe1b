"""What a language model made of messages, folded from the journal: claims of the event that says it, and no event."""

from __future__ import annotations

import pytest

from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.segments import SegmentFolder
from beforehand.memory.agent import AgentMemory
from beforehand.memory.record import FOREVER
from beforehand.ports import Extent
from beforehand.ports.segments import Segment
from journal_samples import NOON_US, RUN, entry
from language_models import answer_of

LATER_US = NOON_US + 60_000_000
READ = {"sort": "home", "value": "Porto", "quote": "Porto it is"}


def remembering(*entries, cold=0):
    """A memory of these; the first `cold` of them without their words."""
    memory = AgentMemory(RUN.tenant, RUN.agent)
    for place, one in enumerate(entries):
        memory.take(one, cold=place < cold)
    return memory


def read(**fields):
    return answer_of(RUN, received_us=LATER_US, **{"sources": ["e1"], "facts": [READ], **fields})


def said(**fields):
    return entry("e1", role="user", text="Porto it is", **fields)


def home(memory, subject=f"user of {RUN.run}", at_us=LATER_US, known_us=FOREVER):
    record = memory.facts.record(subject, "home")
    return None if record is None else record.at(at_us, known_us)


def test_a_fact_holds_since_its_event_and_is_known_since_the_answer():
    memory = remembering(said(), read())
    claim = home(memory).claim
    assert (claim.value, claim.event_id, claim.row, claim.from_us, claim.recorded_us) == (
        "Porto",
        "e1",
        0,
        NOON_US,
        LATER_US,
    )
    assert home(memory, known_us=LATER_US - 1) is None
    assert home(memory, at_us=NOON_US).claim == claim


def test_an_answer_is_no_event_and_has_no_place_in_the_run():
    with_answer, without = remembering(said(), read(), entry("e2")), remembering(said(), entry("e2"))
    assert [event.position for event in with_answer.events] == [event.position for event in without.events] == [1, 2]
    assert with_answer.messages == without.messages + 1
    session = with_answer.session(RUN.run)
    assert (session.position, session.newest_event) == (2, "e2")
    assert session.knows(read()) is not None


@pytest.mark.parametrize(
    ("role", "authority"), [("user", "user"), ("tool", "tool"), ("agent", "agent"), (None, "unknown")]
)
def test_a_fact_has_the_authority_of_its_event_whatever_the_answer_says(role, authority):
    memory = remembering(entry("e1", role=role, text="Porto it is"), read(authority="user", role="user"))
    assert home(memory).claim.authority == authority


def test_a_fact_is_about_the_one_person_that_its_event_names():
    memory = remembering(said(subject_ids=["customer-42"]), read(subject_ids=["customer-42"]))
    assert home(memory, subject="customer-42").claim.value == "Porto"
    assert home(memory) is None


@pytest.mark.parametrize("known", [{"withdrawn": True}, {"value": "Lisbon"}])
def test_what_is_stated_stands_against_what_is_read_later(known):
    stated = {"subject": f"user of {RUN.run}", "attribute": "home", "value": "Porto"}
    fact = {**READ, **known}
    memory = remembering(entry("e0", role="user", facts=[stated]), said(at="2026-03-01T13:00:00Z"), read(facts=[fact]))
    assert home(memory, at_us=NOON_US + 10**11).claim.event_id == "e0"


def test_an_answer_about_an_event_that_is_not_there_changes_nothing():
    memory = remembering(entry("e2"), read())
    assert not memory.facts
    assert memory.interpretations.has_read(RUN.run, "e1")


def test_a_fact_outlives_the_words_of_its_event():
    memory = remembering(said(), read(), entry("e2"), cold=1)
    assert memory.events[0].text == ""
    assert home(memory).claim.value == "Porto"


def test_a_segment_keeps_what_was_answered(tmp_path):
    told = answer_of(
        RUN, "summary:1", use="summary", sources=["e1"], sentences=[{"text": "Porto.", "sources": ["e1"]}], events=1
    )
    memory = remembering(said(), read(), told)
    folder = SegmentFolder(tmp_path, RecordedMeasures(), 10**9)
    segment = Segment(memory, 3, Extent(3, 3, "k"))
    assert folder.save(segment, b"o" * 32, "none", lambda: True)
    back = folder.load(RUN.tenant, RUN.agent, b"o" * 32, "none").memory
    assert back.interpretations.has_read(RUN.run, "e1")
    assert back.interpretations.told(RUN.run) == memory.interpretations.told(RUN.run)
    assert home(back).claim == home(memory).claim
