"""What the daemon sends, as bytes."""

import orjson
import pytest
from pydantic import TypeAdapter, ValidationError

from beforehand.messages import codec
from beforehand.messages.outbound import CumulativeReceipt, Item, Packet, Receipt, Status, Watermark
from beforehand.messages.values import instant

PACKET = Packet(
    id="p",
    tenant="t",
    agent="a",
    run="r",
    step="s",
    plan_revision=None,
    version=1,
    final=False,
    status="silent",
    created_at=instant("2026-03-01T18:30:00+09:00"),
    expires_at=instant("2026-03-02T09:30:00.5Z"),
    watermark=Watermark(event=None, position=0),
    budget_tokens=512,
    searched=0,
    policy="default",
)


def test_every_field_is_always_there():
    written = orjson.loads(codec.write(PACKET))
    assert list(written) == list(Packet.model_fields)
    assert written["experiment"] is None


def test_times_are_written_in_utc():
    written = orjson.loads(codec.write(PACKET))
    assert (written["created_at"], written["expires_at"]) == ("2026-03-01T09:30:00Z", "2026-03-02T09:30:00.500000Z")


def test_the_same_message_gives_the_same_bytes():
    assert codec.write(PACKET) == codec.write(PACKET.model_copy(deep=True))


def test_what_was_written_is_read_back():
    assert Packet.model_validate_json(codec.write(PACKET)) == PACKET


def test_a_reader_ignores_fields_of_a_later_version():
    assert Status.model_validate({"state": "online", "mood": "calm"}) == Status(state="online")


def test_a_cumulative_receipt_names_gaps_as_pairs():
    receipt = CumulativeReceipt(epoch="b", durable_to=1832, missing=[(1835, 1836)])
    written = {
        "epoch": "b",
        "durable_to": 1832,
        "missing": [[1835, 1836]],
        "also_durable": [],
        "refused": [],
        "retry_after_s": None,
    }
    assert orjson.loads(codec.write(receipt)) == written


def test_a_receipt_has_the_fields_of_the_contract():
    fields = {"id", "channel", "accepted", "error", "problem", "hint", "position", "epoch", "seq", "retry_after_s"}
    assert orjson.loads(codec.write(Receipt(id="e", channel="event", accepted=True, position=3))).keys() == fields


@pytest.mark.parametrize("probability", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_probability_is_from_0_to_1(probability):
    item = {"id": "m", "kind": "event", "text": "x", "probability": probability, "tokens": 1}
    with pytest.raises(ValidationError, match="probability"):
        TypeAdapter(Item).validate_python(item)
