"""Topics, and how ids are spelt in them."""

import zlib

import pytest

from beforehand.errors import Refusal
from beforehand.messages import topics
from beforehand.messages.topics import Address, Scope

SCOPE = Scope("acme", "agent-1", "run-1")


@pytest.mark.parametrize(
    ("identifier", "level"),
    [
        ("plain-id_1.2~", "plain-id_1.2~"),
        ("a/b", "a%2Fb"),
        ("a%2Fb", "a%252Fb"),
        ("+", "%2B"),
        ("#", "%23"),
        ("$SYS", "%24SYS"),
        ("a$b", "a$b"),
        ("..", ".."),
        ("50%", "50%25"),
        ("tab\there", "tab%09here"),
        ("\x00", "%00"),
        ("\x7f\x85", "%7F%C2%85"),
        ("\ufdd0\uffff", "%EF%B7%90%EF%BF%BF"),
        ("\U0001fffe", "%F0%9F%BF%BE"),
        ("航班 42", "航班 42"),
        ("\u00e9", "\u00e9"),
        ("e\u0301", "e\u0301"),
    ],
)
def test_an_id_has_one_spelling(identifier, level):
    assert topics.encode(identifier) == level
    assert topics.decode(level, "run") == identifier


@pytest.mark.parametrize(
    ("level", "right"),
    [
        ("a%2fb", "'a%2Fb', with upper-case hex digits"),
        ("50%", "'50%25'"),
        ("50%zz", "'50%25zz'"),
        ("%41", "'A'"),
        ("a%24b", "'a$b'"),
        ("$SYS", "'%24SYS'"),
        ("caf%C3%A9", "'café'"),
        ("+", "'%2B'"),
        ("a\tb", "'a%09b'"),
    ],
)
def test_another_spelling_is_refused_with_the_right_one(level, right):
    with pytest.raises(Refusal) as refused:
        topics.decode(level, "agent")
    assert refused.value.field == "agent"
    assert f"write it as {right}" in refused.value.advice


@pytest.mark.parametrize("level", ["%FF", "%C3", "%ED%A0%80", "\ud800"])
def test_bytes_that_are_no_utf_8_are_refused(level):
    with pytest.raises(Refusal, match="does not decode to UTF-8"):
        topics.decode(level, "run")


def test_the_bound_counts_bytes_before_encoding():
    assert topics.decode("%2F" * 128, "run") == "/" * 128
    with pytest.raises(Refusal, match="129 bytes in UTF-8; send at most 128 bytes"):
        topics.decode("%2F" * 129, "run")


def test_a_topic_is_read_into_scope_and_channel():
    assert topics.read("beforehand/v1/acme/agent%2F1/run-1/step") == Address(Scope("acme", "agent/1", "run-1"), "step")
    assert topics.read("x/y/s07/a/b/c/plan", root="x/y/s07") == Address(Scope("a", "b", "c"), "plan")


@pytest.mark.parametrize(
    ("topic", "field"),
    [
        ("elsewhere/v1/a/b/c/event", "topic"),
        ("beforehand/v1", "topic"),
        ("beforehand/v12/a/b/c/event", "topic"),
        ("beforehand/v1/a/b/event", "topic"),
        ("beforehand/v1/a/b/c/d/event", "topic"),
        ("beforehand/v1/a/b/c/events", "topic"),
        ("beforehand/v1/a/b/c/packet", "topic"),
        ("beforehand/v1/a/b/c/derived", "topic"),
        ("beforehand/v1//b/c/event", "tenant"),
        ("beforehand/v1/a//c/event", "agent"),
        ("beforehand/v1/a/b//event", "run"),
        ("beforehand/v1/$daemon/b/c/event", "tenant"),
    ],
)
def test_a_topic_that_is_wrong_is_refused_with_the_level_that_is_wrong(topic, field):
    with pytest.raises(Refusal) as refused:
        topics.read(topic)
    assert refused.value.field == field
    assert refused.value.advice


def test_topics_of_a_run_of_a_step_and_of_the_daemon():
    scope = Scope("a/b", "+", "#")
    assert topics.of_run(scope, "receipt") == "beforehand/v1/a%2Fb/%2B/%23/receipt"
    assert topics.of_packet(scope, "s/1", root="r") == "r/a%2Fb/%2B/%23/packet/s%2F1"
    assert topics.of_status("main/2") == "beforehand/v1/$daemon/main%2F2/status"


def test_one_subscription_filter_for_each_channel():
    assert topics.filters(("step", "recall"), root="r") == ["r/+/+/+/step", "r/+/+/+/recall"]


@pytest.mark.parametrize(
    "topic",
    [
        "beforehand/v1/acme/agent-1/answers",
        "beforehand/v1/acme/agent-1/run-2/answers/7",
        "beforehand/v1/acme/agent-1/x/y",
    ],
)
def test_an_answer_may_go_below_the_agents_own_topics(topic):
    assert topics.answers_below(SCOPE, topic)


@pytest.mark.parametrize(
    "topic",
    [
        "beforehand/v1/acme/agent-1",
        "beforehand/v1/acme/agent-1/",
        "beforehand/v1/acme/agent-10/run-1/x",
        "beforehand/v1/acme/agent-2/run-1/reply",
        "beforehand/v1/other/agent-1/run-1/reply",
        "beforehand/v1/acme/agent-1/+",
        "beforehand/v1/acme/agent-1/x/#",
        "beforehand/v1/acme/agent-1/x\x00",
        "beforehand/v1/acme/agent-1/x\uffff",
        "beforehand/v1/acme/agent-1/run-1/event",
        "beforehand/v1/acme/agent-1/run-9/recall",
        "elsewhere",
        "",
    ],
)
def test_an_answer_goes_nowhere_else(topic):
    assert not topics.answers_below(SCOPE, topic)


def test_an_agent_whose_id_looks_like_a_prefix_reaches_nobody_else():
    assert not topics.answers_below(Scope("acme", "agent-1/run-1", "r"), "beforehand/v1/acme/agent-1/run-1/x")
    assert topics.answers_below(Scope("acme", "agent-1/run-1", "r"), "beforehand/v1/acme/agent-1%2Frun-1/x")


def test_the_shard_of_an_agent_is_crc32_of_its_topic_levels():
    number = zlib.crc32(b"acme/agent%2F1") % 64
    assert topics.sharded_root("acme", "agent/1", 64) == f"beforehand/v1/s{number:02d}"
    assert topics.sharded_root("acme", "agent/1", 1) == "beforehand/v1"


def test_shards_share_the_agents_about_evenly():
    roots = [topics.sharded_root("acme", f"agent-{number}", 8) for number in range(800)]
    assert set(roots) == {f"beforehand/v1/s{number:02d}" for number in range(8)}
    assert max(roots.count(root) for root in set(roots)) < 150
