"""Laws of the codec and of topics over generated input."""

import random

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beforehand import limits
from beforehand.errors import Refusal
from beforehand.messages import codec, topics
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import BY_CHANNEL
from beforehand.messages.outbound import Status
from beforehand.messages.topics import Scope
from beforehand.messages.values import instant, micros, rfc3339

ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=128).filter(
    lambda text: len(text.encode()) <= limits.ID_BYTES
)
awkward_ids = st.one_of(ids, st.text("%/+#$ab2Ff\x00\x1f\x7f\x85\uffff", min_size=1, max_size=12))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abct", max_size=3), inner, max_size=4),
    max_leaves=12,
)
FIELDS = sorted({name for model in BY_CHANNEL.values() for name in model.model_fields} | {"specversion", "data_base64"})
channels = st.sampled_from(sorted(BY_CHANNEL))


def outcome(channel, payload, *, retained=False):
    """Entry, or a Refusal that says everything; anything else propagates and fails the test."""
    address = topics.Address(Scope("t", "a", "r"), channel)
    try:
        return codec.read(address, payload, received_us=0, arrival_id="arrival", retained=retained)
    except Refusal as refused:
        found = refused
    assert all((found.field, found.problem, found.advice)), found
    return found


@given(awkward_ids)
def test_an_id_survives_its_topic_level(identifier):
    assert topics.decode(topics.encode(identifier), "run") == identifier


@given(awkward_ids, awkward_ids)
def test_two_ids_share_a_level_only_when_they_are_equal(one, other):
    assert (topics.encode(one) == topics.encode(other)) is (one == other)


@given(awkward_ids, awkward_ids, awkward_ids, channels)
def test_a_topic_leads_back_to_its_run_and_to_no_other(tenant, agent, run, channel):
    scope = Scope(tenant, agent, run)
    assert topics.read(topics.of_run(scope, channel)) == topics.Address(scope, channel)


@given(awkward_ids, awkward_ids, awkward_ids, awkward_ids)
def test_a_packets_topic_is_never_one_that_the_daemon_reads(tenant, agent, run, step):
    with pytest.raises(Refusal):
        topics.read(topics.of_packet(Scope(tenant, agent, run), step))


@given(st.text(max_size=40))
def test_any_level_is_an_id_or_refused(level):
    try:
        identifier = topics.decode(level, "run")
    except Refusal:
        return
    assert topics.encode(identifier) == level


@given(awkward_ids, awkward_ids, awkward_ids, awkward_ids, st.text("abc/%2F+#", max_size=8))
def test_an_answer_never_goes_below_another_agents_topics(tenant, agent, other, run, rest):
    own, foreign = Scope(tenant, agent, run), Scope(tenant, other, run)
    topic = f"beforehand/v1/{topics.encode(tenant)}/{topics.encode(other)}/{rest}"
    if topics.answers_below(own, topic):
        assert agent == other
        assert topics.answers_below(foreign, topic)


@given(st.integers(micros(instant("0001-01-01T00:00:00Z")), micros(instant("9999-12-31T23:59:59.999999Z"))))
def test_a_time_survives_being_written(at_us):
    assert micros(instant(rfc3339(at_us))) == at_us


@given(channels, st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=6))
@settings(max_examples=500)
def test_any_object_is_read_or_refused(channel, body):
    found = outcome(channel, orjson.dumps(body))
    if isinstance(found, Entry):
        assert orjson.loads(found.body) == orjson.loads(orjson.dumps(body)) or "specversion" in body


@given(channels, st.binary(max_size=200))
@settings(max_examples=500)
def test_any_bytes_are_read_or_refused(channel, payload):
    outcome(channel, payload)
    assert isinstance(codec.given(payload).id, str | None)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=5))
def test_writing_is_deterministic_and_read_back(detail):
    status = Status(state="online", detail=detail)
    assert codec.write(status) == codec.write(status.model_copy(deep=True))
    assert Status.model_validate_json(codec.write(status)) == status


HOSTILE = [
    b"1e400",
    b"-1e400",
    b"1" * 400,
    b"123456789012345678901234567890",
    b"NaN",
    b"Infinity",
    b'"\\ud800"',
    b'"\\udc00\\ud800"',
    b'"\xed\xa0\x80"',
    b'"\xff"',
    b'"\\u0000"',
    b'{"a":1,"a":2}',
    b"[" * 200 + b"]" * 200,
    b'{"a":' * 300 + b"1" + b"}" * 300,
    b"[" * 3_000,
    b"[" * 3_000 + b"]" * 3_000,
    b"-0",
    b"1e-400",
    b"0.1e",
    b"true",
    b"null",
    b"[]",
    b"{}",
    b'""',
    b'"2026-03-01T09:30:00"',
    b'"9999-12-31T23:59:60-23:59"',
    b"9223372036854775808",
    b"18446744073709551616",
]
FULL_EVENT = (
    b'{"kind":"note","id":"e","at":"2026-03-01T09:30:00Z","seq":1,"epoch":"b","importance":0.5,"tags":["a"],'
    b'"facts":[{"subject":"s","attribute":"a","value":1,"valid_from":"2026-03-01T09:30:00Z"}],"data":{"x":[1,2]}}'
)
FULL_RECALL = (
    b'{"query":"q","window":{"from":"s1","last":5},"k":3,"budget_tokens":10,"kinds":["note"],'
    b'"as_of":"2026-03-01T09:30:00Z"}'
)
SEEDS = [
    ("event", FULL_EVENT),
    ("plan", b'{"goal":"g","revision":2,"steps":[{"id":"s1","needs":["a"],"starts_at":"2026-03-01T09:30:00Z"}]}'),
    ("step", b'{"step":"s1","phase":"begin","tool":"x","needs":["a"],"ok":true}'),
    ("feedback", b'{"packet":"p","used":["m"],"outcome":0.5,"metrics":{"cost":1.5}}'),
    ("recall", FULL_RECALL),
    ("event", b'{"specversion":"1.0","id":"1","time":"2026-03-01T09:30:00Z","data":{"kind":"note"}}'),
    ("event", b'{"specversion":"1.0","id":"1","source":"/a","type":"t","data_base64":"eyJraW5kIjoibm90ZSJ9"}'),
]


def with_noise(draw, payload):
    """A few bytes changed, cut out or repeated: most of these are no JSON any more."""
    changed = bytearray(payload)
    start = draw.randrange(len(changed))
    end = min(len(changed), start + draw.randint(1, 12))
    match draw.randrange(3):
        case 0:
            changed[start:end] = bytes(draw.randrange(256) for _ in range(end - start))
        case 1:
            del changed[start:end]
        case _:
            changed[start:start] = changed[start:end] * draw.randint(1, 30)
    return bytes(changed)


def with_another_value(draw, payload):
    """JSON still: one value exchanged for a hostile one, a field added, or a name misspelt."""
    body = orjson.loads(payload)
    name = draw.choice([*body, *FIELDS])
    value = draw.choice(HOSTILE)
    if draw.random() < 0.2:
        body[f"{name}_"] = body.pop(name, None)
        return orjson.dumps(body)
    body.pop(name, None)
    return orjson.dumps(body)[:-1] + (b"," if body else b"") + orjson.dumps(name) + b":" + value + b"}"


def test_ten_thousand_mutated_payloads_are_each_read_or_refused():
    draw = random.Random(20260301)
    found = {Entry: 0, Refusal: 0}
    for number in range(10_000):
        channel, seed = SEEDS[number % len(SEEDS)]
        payload = draw.choice([with_noise, with_another_value])(draw, seed)
        if draw.random() < 0.1:
            channel = draw.choice(sorted(BY_CHANNEL))
        found[type(outcome(channel, payload, retained=number % 5 == 0))] += 1
    assert min(found.values()) > 500, found


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("channel", sorted(BY_CHANNEL))
def test_a_hostile_value_in_any_field_is_read_or_refused(channel, value):
    least = {"event": b'"kind":"note",', "plan": b'"steps":[],', "step": b'"step":"s","phase":"begin",'}
    for field in FIELDS:
        outcome(channel, b"{" + least.get(channel, b"") + b'"' + field.encode() + b'":' + value + b"}")
    outcome(channel, value)
