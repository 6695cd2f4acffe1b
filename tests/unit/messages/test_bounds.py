"""Each bound of a message: the last value that is taken, and the first that is not."""

import orjson
import pytest

from beforehand import limits
from beforehand.errors import Refusal
from beforehand.messages import codec, topics


def read(channel, body):
    address = topics.Address(topics.Scope("t", "a", "r"), channel)
    payload = body if isinstance(body, bytes) else orjson.dumps(body)
    return codec.read(address, payload, received_us=0, arrival_id="arrival")


def note(**fields):
    return {"kind": "note", **fields}


def counted(seq):
    return note(epoch="b", seq=seq)


def nested(depth):
    return b'{"kind":"note","data":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def planned(count):
    return {"steps": [{"id": str(number)} for number in range(count)]}


def sized(size):
    start, end = b'{"kind":"note","data":[', b"1]}"
    return start + b"1," * ((size - len(start) - len(end)) // 2) + b" " * ((size - len(start) - len(end)) % 2) + end


@pytest.mark.parametrize(
    ("channel", "make", "last", "field"),
    [
        ("event", sized, limits.INBOUND_BYTES, "payload"),
        ("event", nested, limits.NESTING, "payload"),
        ("event", lambda n: note(id="é" * (n // 2) + "a" * (n % 2)), limits.MESSAGE_ID_BYTES, "id"),
        ("event", lambda n: note(parent="a" * n), limits.MESSAGE_ID_BYTES, "parent"),
        ("event", lambda n: note(epoch="a" * n, seq=1), limits.EPOCH_BYTES, "epoch"),
        ("event", lambda n: note(step="a" * n), limits.ID_BYTES, "step"),
        ("event", lambda n: note(text="é" * n), limits.TEXT_CHARS, "text"),
        ("event", lambda n: note(tool="a" * n), limits.LABEL_CHARS, "tool"),
        ("event", lambda n: note(tags=["a" * n]), limits.LABEL_CHARS, "tags.0"),
        ("event", lambda n: note(tags=["a"] * n), limits.LIST_ITEMS, "tags"),
        ("event", lambda n: note(subject_ids=["a"] * n), limits.LIST_ITEMS, "subject_ids"),
        (
            "event",
            lambda n: note(facts=[{"subject": "s", "attribute": "a", "value": 1}] * n),
            limits.LIST_ITEMS,
            "facts",
        ),
        ("event", counted, limits.SEQ_MAX, "seq"),
        ("plan", planned, limits.PLAN_STEPS, "steps"),
        ("plan", lambda n: {"steps": [], "revision": n}, limits.SEQ_MAX, "revision"),
        ("plan", lambda n: {"steps": [{"id": "a", "after": ["b"] * n}]}, limits.PLAN_STEPS, "steps.0.after"),
        ("feedback", lambda n: {"metrics": {str(i): i for i in range(n)}}, limits.LIST_ITEMS, "metrics"),
        ("recall", lambda n: {"k": n}, limits.K_MAX, "k"),
        ("recall", lambda n: {"budget_tokens": n}, limits.BUDGET_TOKENS_MAX, "budget_tokens"),
        ("recall", lambda n: {"window": {"last": n}}, limits.WINDOW_EVENTS_MAX, "window.last"),
    ],
)
def test_a_bound_is_met_and_not_passed(channel, make, last, field):
    assert read(channel, make(last)).id
    with pytest.raises(Refusal) as refused:
        read(channel, make(last + 1))
    assert refused.value.field == field
    assert refused.value.advice


def test_brackets_in_text_are_not_nesting():
    assert read("event", note(text="[{" * 500)).message.text == "[{" * 500


def test_depth_past_what_the_parser_takes_is_refused_too():
    with pytest.raises(Refusal, match="payload: not JSON"):
        read("event", nested(100_000))


def test_a_long_name_is_cut_in_the_receipt():
    with pytest.raises(Refusal) as refused:
        read("feedback", {"metrics": {"a" * 600: 1}})
    assert len(refused.value.field) < 100
    assert "600 characters" in refused.value.problem


def test_a_receipt_quotes_only_the_beginning_of_a_value():
    with pytest.raises(Refusal) as refused:
        read("event", {"kind": "x" * 100_000})
    assert len(refused.value.problem) < 120


def test_a_refusal_reads_as_one_line():
    with pytest.raises(Refusal) as refused:
        read("event", {"kind": "mesage"})
    assert str(refused.value) == (
        'kind: "mesage" is not one of the choices; '
        'send one of message, action, observation, reflection, note, such as "observation"'
    )
