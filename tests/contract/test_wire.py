"""Payloads as agents send them, good and bad, against the wire contract (docs/reference/wire.md)."""

import json
from pathlib import Path

import orjson
import pytest

from beforehand.errors import Refusal
from beforehand.messages import codec, topics
from beforehand.messages.values import moment, rfc3339

WIRE = Path(__file__).parents[1] / "data" / "wire"
GOOD = json.loads((WIRE / "good.json").read_text())
BAD = json.loads((WIRE / "bad.json").read_text())
RECEIVED_US = 1_772_000_000_000_000


def read(case):
    address = topics.Address(topics.Scope("acme", "agent-1", "run-1"), case["channel"])
    payload = case["raw"].encode() if "raw" in case else orjson.dumps(case["payload"])
    return codec.read(
        address, payload, received_us=RECEIVED_US, arrival_id="arrival", retained=case.get("retained", False)
    )


@pytest.mark.parametrize("case", GOOD, ids=[case["name"] for case in GOOD])
def test_a_good_message_is_taken(case):
    entry = read(case)
    assert entry.id == case["id"]
    assert entry.unknown_fields == case.get("unknown", 0)
    assert entry.at_given is (case["at"] is not None)
    assert rfc3339(entry.at_us) == (case["at"] or rfc3339(RECEIVED_US))


@pytest.mark.parametrize("case", GOOD, ids=[case["name"] for case in GOOD])
def test_what_is_kept_is_what_was_sent(case):
    kept = orjson.loads(read(case).body)
    if "payload" in case and not case.get("envelope"):
        assert kept == case["payload"]
    assert "specversion" not in kept


@pytest.mark.parametrize("case", GOOD, ids=[case["name"] for case in GOOD])
def test_a_journal_row_restores_the_same_entry(case):
    entry = read(case)
    address = topics.Address(entry.scope, entry.channel)
    restored = codec.restore(
        address,
        entry.body,
        key=entry.id,
        at_us=entry.at_us,
        received_us=entry.received_us,
        retained=entry.retained,
    )
    assert restored == entry


@pytest.mark.parametrize("case", BAD, ids=[case["name"] for case in BAD])
def test_a_bad_message_is_refused_with_field_problem_and_what_would_be_right(case):
    with pytest.raises(Refusal) as refused:
        read(case)
    assert refused.value.field == case["field"]
    assert refused.value.problem
    assert case["hint"] in refused.value.advice


def test_the_digest_does_not_depend_on_the_order_of_names():
    forwards = {"kind": "note", "at": "2026-03-01T09:30:00Z", "data": {"a": 1, "b": 2}}
    backwards = {"data": {"b": 2, "a": 1}, "at": "2026-03-01T09:30:00Z", "kind": "note"}
    assert read({"channel": "event", "payload": forwards}).id == read({"channel": "event", "payload": backwards}).id


def test_another_time_or_another_payload_is_another_message():
    base = {"kind": "note", "at": "2026-03-01T09:30:00Z", "text": "yes"}
    ids = {
        read({"channel": "event", "payload": base | change}).id
        for change in ({}, {"at": "2026-03-01T09:30:01Z"}, {"text": "no"})
    }
    assert len(ids) == 3


def test_plain_messages_are_each_a_message_of_their_own():
    address = topics.Address(topics.Scope("t", "a", "r"), "event")
    ids = {
        codec.read(address, b'{"kind": "message", "text": "yes"}', received_us=1, arrival_id=f"arrival-{number}").id
        for number in range(2)
    }
    assert ids == {"arrival-0", "arrival-1"}


def test_an_agent_that_counts_is_known_by_its_counter():
    assert read({"channel": "event", "payload": {"kind": "note", "epoch": "b", "seq": 3}}).counted == ("b", 3)
    assert read({"channel": "event", "payload": {"kind": "note"}}).counted is None


def test_the_time_of_arrival_stands_in_for_a_time_that_was_not_given():
    entry = read({"channel": "event", "payload": {"kind": "note"}})
    assert (moment(entry.at_us), entry.at_given) == (moment(RECEIVED_US), False)
