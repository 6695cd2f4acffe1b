"""Whatever stands in a pack or a condition, the answer is a pack or errors with lines; nothing else ever comes out."""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beforehand.errors import RuleError
from beforehand.trigger.cases import judge, read_cases
from beforehand.trigger.condition import Condition, ConditionProblem, context
from beforehand.trigger.names import strays
from beforehand.trigger.packs import check, read
from beforehand.trigger.rules import fire
from beforehand.trigger.situation import EMPTY, SAMPLE, STRAINED, RecentEvent, StepView, situation
from beforehand.trigger.template import FIELDS, Template

PACK = """\
name: core
version: 1
description: x
vocabulary: {booking: [book, 预订]}
rules:
  - name: a
    description: why
    when: |
      step.mutates
        && "booking" in topics
    recall:
      - {channel: exact, keys: ["{step.needs}"], window: {last: 3}}
    weight: .3
    cooldown_s: 3
  - name: b
    description: why
    when: 'recent.exists(e, e.kind == "x")'
    message: "hi {step.goal}"
"""
CASES = """\
cases:
  - name: x
    situation: {step: {tool: cancel_x, needs: [a]}, recent: [{kind: observation, ok: false}]}
    fires: [a]
    silent: [b]
"""
CHUNKS = st.sampled_from(
    [
        r"*a",
        r"&a",
        r"!!int",
        r"!!python/object:os.system",
        r"<<:",
        r"---",
        r"%YAML",
        r'"\UFFFFFFFF"',
        r'"\uD800"',
        r"'",
        r'"',
        r"{",
        r"}",
        r"[",
        r"]",
        r"|",
        r">",
        r":",
        r"-",
        r"?",
        r"~",
        r"1e999",
        r".inf",
        r".nan",
        r"0b_",
        r"1:60",
        r"9999999999999999999999999",
        r"true",
        r"=",
        r"{{",
        r"{step.gaol}",
        r"recent[0].ok",
        r"((((",
        r"1/0>1",
        r"2024-99-99",
        r"!!set",
        r"!<x>",
        r"#",
        r"😀",
    ]
) | st.sampled_from("\t\n\r\0 \u2028\x85\ufeff\ud800")
EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), CHUNKS | st.text(max_size=3)), min_size=1, max_size=5)


def edited(text, edits):
    for place, cut, put in edits:
        at = int(place * len(text))
        text = text[:at] + put + text[at + cut :]
    return text


def lines_of(text):
    return max(1, len(text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")))


def assert_errors_are_in(text, errors):
    for error in errors:
        assert isinstance(error, RuleError)
        assert 1 <= error.line <= lines_of(text)
        assert error.problem
        assert "\n" not in str(error)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(EDITS)
def test_a_pack_that_was_mutated_is_read_or_refused_with_lines_within_it(edits):
    text = edited(PACK, edits)
    errors = check(text, "p.yaml")
    assert_errors_are_in(text, errors)
    if errors:
        with pytest.raises(RuleError):
            read(text, "p.yaml")
    else:
        pack = read(text, "p.yaml")
        for example in (SAMPLE, EMPTY, STRAINED):
            assert fire([pack], example).faults == ()


@settings(max_examples=200, deadline=None)
@given(st.text() | st.binary())
def test_any_text_and_any_bytes_are_read_or_refused(raw):
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    assert_errors_are_in(text, check(raw, "p.yaml"))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abk", max_size=3), inner, max_size=3),
    max_leaves=8,
)
KEYS = [
    "name",
    "version",
    "description",
    "vocabulary",
    "rules",
    "when",
    "recall",
    "channel",
    "query",
    "keys",
    "message",
]
KEYS += ["kind", "weight", "cooldown_steps", "cooldown_s", "priority", "kinds", "tools", "ok", "window", "last", "k"]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_pack_with_a_value_of_any_type_in_any_place_is_read_or_refused(data):
    whole = yaml.safe_load(PACK)
    place = data.draw(st.sampled_from([whole, whole["rules"][0], whole["rules"][1], whole["rules"][0]["recall"][0]]))
    place[data.draw(st.sampled_from(KEYS))] = data.draw(VALUES)
    text = yaml.safe_dump(whole, allow_unicode=True)
    assert_errors_are_in(text, check(text, "p.yaml"))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(EDITS)
def test_cases_that_were_mutated_are_judged_or_refused_with_lines_within_them(edits):
    pack = read(PACK, "p.yaml")
    text = edited(CASES, edits)
    cases, errors = read_cases(text, "p.cases.yaml", pack)
    judged = [error for case in cases for error in judge(pack, case, "p.cases.yaml")]
    assert_errors_are_in(text, [*errors, *judged])


TOKENS = st.sampled_from(
    [
        r"step",
        r".",
        r"goal",
        r"tol",
        r"(",
        r")",
        r"[",
        r"]",
        r"{",
        r"}",
        r"&&",
        r"||",
        r"!",
        r"-",
        r"?",
        r":",
        r",",
        r"words",
        r"recent",
        r"exists",
        r"map",
        r"filter",
        r"w",
        r"e",
        r"'a'",
        r'"b"',
        r"1",
        r"1.5",
        r"1u",
        r"in",
        r"==",
        r"<",
        r"+",
        r"*",
        r"%",
        r"has",
        r"size",
        r"matches",
        r"mentions",
        r"matches_any",
        r"topics",
        r"true",
        r"null",
        r"'\ud800'",
        r"b'x'",
        r"r'\'",
        r"timestamp",
        r"duration",
        r"'1h'",
        r"9223372036854775807",
        r"预订",
    ]
) | st.sampled_from(["\n", "//c\n", "(" * 200, "-" * 300, "\ud800", "\0"])


def evaluated(text):
    try:
        return Condition.of(text).holds(context(SAMPLE.as_variables() | {"topics": []}))
    except ConditionProblem as refused:
        return refused


@settings(max_examples=400, deadline=None)
@given(st.lists(TOKENS, max_size=30), st.sampled_from(["", " "]))
def test_any_condition_is_evaluated_or_refused(tokens, between):
    text = between.join(tokens)
    for stray in strays(text):
        assert 0 <= stray.offset < len(text)
    outcome = evaluated(text)
    if isinstance(outcome, ConditionProblem):
        assert outcome.offset is None or 0 <= outcome.offset <= len(text)
    else:
        assert outcome in {True, False}


ANY_TEXT = st.text(max_size=40) | st.just("\ud800") | st.just("{step.tool}")


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT, ANY_TEXT, st.lists(ANY_TEXT, max_size=4), st.lists(ANY_TEXT, max_size=3), st.integers(1, 600))
def test_whatever_an_agent_says_the_rules_answer_and_fill_in_one_line(goal, tool, needs, texts, ordinal):
    here = situation(
        StepView(goal=goal, tool=tool, needs=tuple(needs), ordinal=ordinal),
        recent=tuple(RecentEvent("observation", text, text, ok=False) for text in texts),
    )
    verdict = fire([read(PACK, "p.yaml")], here)
    assert verdict.faults == ()
    for name in FIELDS:
        assert "\n" not in Template.of(f"say {{{name}}}").fill(here)
    for firing in verdict.firings:
        assert all(key.strip() for recall in firing.recalls for key in recall.needs)
