import pytest

from beforehand import limits
from beforehand.trigger.condition import Condition, ConditionProblem, context
from beforehand.trigger.names import strays
from beforehand.trigger.situation import SAMPLE


def holds(text, **variables):
    return Condition.of(text).holds(context(SAMPLE.as_variables() | variables))


def test_a_condition_reads_the_situation():
    assert holds("step.planned && plan.steps_left == 3 && errors_in_a_row < 2")
    assert not holds("step.mutates")


def test_our_functions_can_be_called_both_ways():
    assert holds('matches_any(words, ["flights", "hotels"]) && words.matches_any(["lisbon"])')
    assert not holds('matches_any(words, ["hotels"])')
    assert holds('mentions(step.goal, ["LISBON"]) && mentions("预订机票", ["机票"])')
    assert not holds('mentions(step.goal, ["lis"])')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 +", "ends where something is missing"),
        ("a &&\n  (b", "missing ')'"),
        ("", "ends where something is missing"),
        ("'open", "token recognition error"),
        ("(" * 500, "does not parse"),
        ("x" * (limits.CONDITION_CHARS + 1), "characters"),
    ],
)
def test_what_does_not_parse_says_why(text, said):
    with pytest.raises(ConditionProblem, match="condition") as refused:
        Condition.of(text)
    assert said in refused.value.problem


def test_a_syntax_error_knows_its_place_in_a_text_of_several_lines():
    with pytest.raises(ConditionProblem) as refused:
        Condition.of("true &&\n  words ) ||\n  false")
    assert refused.value.offset == len("true &&\n  words ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("step.goal", "gives text"),
        ("errors_in_a_row", "gives a number"),
        ("words", "gives a list"),
        ("null", "gives null"),
        ("1 / 0 == 1", "division by zero"),
        ("recent[9].ok == true", "out of bounds"),
        ("step.goal + 1 == 'x'", "Unsupported operation"),
        ("step.goal.matches('(')", "not a valid regex"),
        ("mentions(1, 2)", "mentions"),
        ("9223372036854775807 + errors_in_a_row + 1 > 0", "overflow"),
    ],
)
def test_what_fails_or_is_no_truth_value_is_one_kind_of_problem(text, said):
    with pytest.raises(ConditionProblem) as failed:
        holds(text)
    assert said in failed.value.problem
    assert "\n" not in failed.value.problem


@pytest.mark.parametrize(
    ("text", "name", "advice"),
    [
        ("step.mutates && step.tol == ''", "tol", "`tool`"),
        ("true || stp.tool == ''", "stp", "`step`"),
        ("recent.exists(e, e.knd == 'x')", "knd", "`kind`"),
        ("recent.filter(e, e.ok == false).all(f, f.tol == '')", "tol", "`tool`"),
        ("size(recent) > 0 && recent[0].sourc == ''", "sourc", "`source`"),
        ("words.exists(w, w == 'a') && w == 'a'", "w", "There are"),
        ("has(step.gaol)", "gaol", "`goal`"),
        ("siz(words) > 0", "siz", "`size`"),
        ("step.goal.startWith('a')", "startWith", "`startsWith`"),
        ('"bokking" in topics', "bokking", "`booking`"),
        ('false && matches_any(topics, ["booking", "bugdet"])', "bugdet", "`budget`"),
    ],
)
def test_a_name_that_stands_for_nothing_is_found_where_evaluation_would_skip_it(text, name, advice):
    (found,) = strays(text, ["booking", "budget"])
    assert f"`{name}`" in found.problem
    assert advice in found.advice
    assert text[found.offset :].lstrip('"').startswith(name)


@pytest.mark.parametrize(
    "text",
    [
        "'step.tol' == \"stp\" // foo.bar",
        "recent.exists(e, e.tags.exists(t, t.startsWith('x')))",
        "{'a': step.tool}.a == '' && [1, 2][0] == 1",
        "plan['goal'] == '' && run.events > 1.5e3 && size(r'\\d') == 2",
        "recent.map(e, e.tool).exists(tool, tool.contains('x'))",
        "type(step.goal) == string && '''a\n\"b''' != ''",
        "timestamp('2026-01-01T00:00:00Z').getFullYear() == 2026",
        '"booking" in topics',
    ],
)
def test_right_names_strings_and_comments_are_left_alone(text):
    assert strays(text, ["booking"]) == []
    assert Condition.of(text).holds(context(SAMPLE.as_variables() | {"topics": []})) in {True, False}


def test_loops_inside_loops_are_bounded():
    two = "recent.exists(e, words.exists(w, e.text.contains(w)))"
    three = "recent.exists(e, words.exists(w, e.tags.exists(t, t == w)))"
    assert strays(two) == []
    assert [found.problem for found in strays(three)] == ["3 loops stand inside one another"]
