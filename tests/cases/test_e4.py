"""E4: ids of every kind are encoded or refused; no two meet, none reaches another's topic (the codec's part)."""

import orjson
import pytest

from beforehand.errors import Refusal
from beforehand.messages import codec, topics
from beforehand.messages.topics import Scope

ODD = [
    "a/b",
    "a%2Fb",
    "a%2fb",
    "a%252Fb",
    "+",
    "#",
    "$SYS",
    "%24SYS",
    "$daemon",
    "$share",
    "..",
    ".",
    "~",
    " ",
    "\t",
    "\n",
    "\x00",
    "\u00e9",
    "e\u0301",
    "\u212b",
    "\u00c5",
    "\uffff",
    "\ufeff",
    "航班/42",
    "👩‍✈️",
    "x" * 128,
]
BETWEEN = "beforehand/v1/{}/agent/run/event"


@pytest.mark.parametrize("identifier", ODD)
def test_e4_an_odd_id_comes_back_as_it_was(identifier):
    scope = Scope(identifier, identifier, identifier)
    assert topics.read(topics.of_run(scope, "event")).scope == scope


@pytest.mark.parametrize("identifier", ODD)
def test_e4_an_odd_id_is_one_level_that_every_broker_takes(identifier):
    level = topics.encode(identifier)
    assert "/" not in level
    assert topics.is_name(level)
    assert not level.startswith("$")


def test_e4_no_two_ids_share_a_topic():
    assert len({topics.encode(identifier) for identifier in ODD}) == len(ODD)


def test_e4_composed_and_decomposed_spellings_are_two_ids():
    composed, decomposed = (topics.read(BETWEEN.format(name)).scope for name in ("caf\u00e9", "cafe\u0301"))
    assert composed != decomposed


@pytest.mark.parametrize("size", [129, 65_536])
def test_e4_an_id_that_is_too_long_is_refused(size):
    with pytest.raises(Refusal, match="at most 128 bytes"):
        topics.read(BETWEEN.format("x" * size))


def test_e4_an_empty_id_is_refused():
    with pytest.raises(Refusal, match="the tenant in the topic is empty"):
        topics.read(BETWEEN.format(""))


def test_e4_an_id_that_was_not_encoded_does_not_reach_another_run():
    with pytest.raises(Refusal) as refused:
        topics.read("beforehand/v1/acme/agent/1/run/event")
    assert "`/` inside an id is written %2F" in refused.value.advice


@pytest.mark.parametrize("identifier", ODD)
def test_e4_a_step_with_an_odd_id_keeps_its_packet_below_its_own_run(identifier):
    run = topics.of_run(Scope("acme", "agent", "run"), "packet")
    topic = topics.of_packet(Scope("acme", "agent", "run"), identifier)
    assert topic.startswith(f"{run}/")
    assert topics.is_name(topic)
    assert topic.count("/") == run.count("/") + 1


@pytest.mark.parametrize("identifier", ["", "x" * 129, "x" * 65_536])
def test_e4_a_step_id_in_a_payload_has_the_same_bounds(identifier):
    address = topics.Address(Scope("acme", "agent", "run"), "step")
    payload = orjson.dumps({"step": identifier, "phase": "begin"})
    with pytest.raises(Refusal) as refused:
        codec.read(address, payload, received_us=0, arrival_id="arrival")
    assert (refused.value.field, "at most 128 bytes" in refused.value.advice) == ("step", True)
