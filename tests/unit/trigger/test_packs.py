import pytest

from beforehand import limits
from beforehand.errors import RuleError
from beforehand.trigger.packs import check, read

HEAD = """\
name: travel
version: 1
description: For tests.
vocabulary:
  booking: [book, 预订]
"""
RULE = """\
rules:
  - name: a
    description: Why it is there.
    when: step.mutates
    recall:
      - {channel: facts}
"""


def complaints(text):
    return [(error.line, error.problem, error.advice) for error in check(text, "travel.yaml")]


def only(text):
    (found,) = complaints(text)
    return found


def changed(old, new):
    assert old in HEAD + RULE
    return (HEAD + RULE).replace(old, new)


def test_a_pack_is_read_with_all_that_its_rules_say():
    pack = read(
        HEAD
        + """\
rules:
  - name: a
    description: >
      Why it is
      there.
    when: '"booking" in topics'
    recall:
      - channel: exact
        keys: ["{step.needs}", order_id]
      - {channel: timeline, kinds: [reflection], tools: ["{step.tool}"], tags: [x], roles: [user], sources: [tool],
         ok: false, window: {last: 3}, k: 2}
    message: Mind {step.tool}.
    kind: reflection
    weight: 1
    cooldown_steps: 2
    cooldown_s: 1.5
    priority: -3
""",
        "travel.yaml",
    )
    (rule,) = pack.rules
    assert (pack.name, pack.version, rule.name, rule.line) == ("travel", 1, "travel/a", 7)
    assert rule.description == "Why it is there."
    assert (rule.weight, rule.cooldown_steps, rule.cooldown_s, rule.priority) == (1.0, 2, 1.5, -3)
    assert (rule.kind, rule.message is not None) == ("reflection", True)
    exact, timeline = rule.actions
    assert (exact.channel, len(exact.keys), exact.query.pieces, exact.k) == ("exact", 2, (), 8)
    assert (timeline.kinds, timeline.roles, timeline.sources) == (("reflection",), ("user",), ("tool",))
    assert (timeline.ok, timeline.last, timeline.k) == (False, 3, 2)
    assert pack.variables == {"topics"}


def test_a_rule_says_little_and_the_rest_has_defaults():
    rule = read(HEAD + RULE, "travel.yaml").rules[0]
    assert (rule.weight, rule.cooldown_steps, rule.cooldown_s, rule.priority, rule.message) == (0.5, 0, 0.0, 0, None)
    assert rule.actions[0].ok is None


def test_a_pack_may_be_bytes_with_a_byte_order_mark_and_windows_line_ends():
    raw = b"\xef\xbb\xbf" + (HEAD + RULE).replace("\n", "\r\n").encode()
    assert read(raw, "travel.yaml").rules[0].line == 7


def test_reading_raises_the_first_of_the_errors_that_checking_lists():
    text = changed("version: 1", "version: one").replace("channel: facts", "channel: fax")
    with pytest.raises(RuleError, match=r"^travel.yaml:2: `version` should be a whole number, not text"):
        read(text, "travel.yaml")
    assert [line for line, _, _ in complaints(text)] == [2, 11]


@pytest.mark.parametrize(
    ("old", "new", "line", "problem", "advice"),
    [
        ("description: For", "descripton: For", 3, "no key `descripton`", "`description`"),
        ("name: travel", "name: Travel Pack", 1, "'Travel Pack' cannot be a name", "small letters"),
        ("version: 1", "version: 0", 2, "`version` is 0", ""),
        ("version: 1", "version: true", 2, "`version` should be a whole number, not a truth value", "digits"),
        ("[book, 预订]", "book", 5, "`booking` should be a list, not text", "[one, two]"),
        ("[book, 预订]", "[book, 7]", 5, "`booking` should be text, not a number", "quotes"),
        ("[book, 预订]", "[]", 5, "`booking` is a list of 0", ""),
        ("name: a", "name: -a-", 7, "'-a-' cannot be a name", "small letters"),
        ("    when: step.mutates\n", "", 7, "`when` is missing", "the condition"),
        ("when: step.mutates", "when: true", 9, "`when` should be text, not a truth value", "quotes"),
        ("when: step.mutates", "when: [x]", 9, "`when` should be text, not a list", ""),
        ("when: step.mutates", "when: step.goal", 9, "gives text, not true or false", ""),
        ("when: step.mutates", "when: step.mutat", 9, "`step` has no field `mutat`", "`mutates`"),
        ("when: step.mutates", "when: stp.mutates", 9, "no variable `stp`", "`step`"),
        ("when: step.mutates", "when: recent[0].ok == true", 9, "out of bounds", "guard it"),
        ("when: step.mutates", "when: '\"bok\" in topics'", 9, "no vocabulary `bok`", "`booking`"),
        ("when: step.mutates", "when: step.mutates &&", 9, "ends where something is missing", ""),
        ("channel: facts", "channel: semantics", 11, "`channel` cannot be 'semantics'", "`semantic`"),
        ("channel: facts", "kannel: facts", 11, "`channel` is missing", "which channel"),
        ("{channel: facts}", "facts", 11, "should be a mapping, not text", ""),
        ("channel: facts", "channel: facts, k: 0", 11, "`k` is 0", ""),
        ("channel: facts", "channel: facts, k: 8.5", 11, "`k` should be a whole number", ""),
        ("channel: facts", "channel: facts, roles: [boss]", 11, "`roles` cannot be 'boss'", "user"),
        ("channel: facts", "channel: facts, kinds: [observatoin]", 11, "'observatoin'", "`observation`"),
        ("channel: facts", "channel: facts, ok: sometimes", 11, "`ok` should be true or false, not text", ""),
        ("channel: facts", "channel: facts, window: 5", 11, "`window` should be a mapping", ""),
        ("channel: facts", "channel: facts, window: {first: 5}", 11, "no key `first`", "last"),
        ("channel: facts", "channel: window", 11, "channel `window` without a window", "window: {last: 5}"),
        ("channel: facts", "channel: facts, keys: [a]", 11, "`keys` with channel `facts`", "`query`"),
        ("channel: facts", "channel: facts, query: '{step.gaol}'", 11, "filled in for `{step.gaol}`", "`step.goal`"),
        ("channel: facts", "channel: facts, tools: ['{x']", 11, "a brace stands alone", "{{"),
        ("channel: facts}", "channel: facts}\n    weight: 1.5", 12, "`weight` is 1.5", ""),
        ("channel: facts}", "channel: facts}\n    weight: .nan", 12, "`weight` is nan", ""),
        ("channel: facts}", "channel: facts}\n    weight: '1'", 12, "`weight` should be a number, not text", ""),
        ("channel: facts}", "channel: facts}\n    cooldown_steps: -1", 12, "`cooldown_steps` is -1", ""),
        ("channel: facts}", "channel: facts}\n    message: '{now}'", 12, "filled in for `{now}`", ""),
        ("channel: facts}", "channel: facts}\n    kind: warning", 12, "`kind` without `message`", ""),
        ("channel: facts}", "channel: facts}\n    when: step.planned", 12, "`when` stands twice, first in line 9", ""),
        ("channel: facts}", "channel: facts}\n\tweight: 1", 12, "'\\t'", "spaces"),
        ("channel: facts}", "channel: *facts}", 11, "an alias", "Write the value out"),
        ("channel: facts", "channel: !!python/name:os.system x", 11, "the tag", "Remove it"),
        ("version: 1", "version: 0b_", 2, "looks like a number", "quotes"),
        ("For tests.", "For tests: mine", 3, "mapping values are not allowed", "quotes"),
        ("For tests.", '"For tests.', 3, "unexpected end of stream", "not closed"),
        ("[book, 预订]", "[book, 预订", 5, "expected ',' or ']'", "not closed"),
        ("For tests.", "@tests", 3, "cannot start any token", "quotes"),
        ("For tests.", "'it's'", 3, "expected <block end>", "quote inside quotes"),
        ("For tests.", '"\\UFFFFFFFF"', 3, "out of range", "Correct it"),
        ("For tests.", '"\\uD800"', 3, "surrogate", "the character itself"),
        ("For tests.", "For \x07 tests.", 3, "U+0007", "Remove it"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_what_would_be_right(old, new, line, problem, advice):
    text = changed(old, new)
    found = [each for each in complaints(text) if problem in each[1]]
    assert found, complaints(text)
    assert found[0][0] == line
    assert advice in found[0][2]


def test_a_rule_that_does_nothing_is_refused():
    assert only(HEAD + RULE.partition("    recall")[0])[:2] == (7, "rule `a` does nothing.")


def test_two_rules_of_one_name_are_refused_with_both_lines():
    line, problem, _ = only(HEAD + RULE + RULE.removeprefix("rules:\n"))
    assert (line, problem) == (12, "a rule `a` stands already in line 7.")


@pytest.mark.parametrize(
    ("when", "line"),
    [
        ("step.mutates && step.tol == ''", 9),
        ("|\n      step.mutates\n\n        && step.tol == ''", 12),
        ("|2-  # why\n      step.mutates &&\n      step.tol == ''", 11),
        (">\n      step.mutates &&\n      step.planned &&\n\n      step.tol == ''", 13),
        ("step.mutates &&\n      step.planned &&\n      step.tol == ''", 11),
        ("'step.mutates && step.goal == '''' &&\n      step.tol == '''''", 10),
        ("\"step.mutates &&\n      step.tol == ''\"", 10),
        ("\"step.mutates && \\\n      step.tol == ''\"", 9),
    ],
)
def test_a_mistake_in_a_condition_is_found_on_its_own_line_however_the_yaml_folds_it(when, line):
    assert only(changed("step.mutates", when))[:2] == (line, "`step` has no field `tol`.")


def test_a_syntax_error_in_a_condition_is_found_on_its_own_line():
    line, problem, advice = only(changed("step.mutates", "|\n      step.mutates &&\n      (step.planned"))
    assert line == 11
    assert "missing ')'" in problem
    assert "step.planned" in advice


def test_all_mistakes_are_named_at_once_in_the_order_of_their_lines():
    text = """\
name: Travel
versoin: 1
description: x
rules:
  - name: a
    description: x
    when: stp.mutates
    recall: [{channel: fax}]
    wieght: 2
  - name: a
    when: step.mutates &
    message: "{step.gaol}"
"""
    found = complaints(text)
    assert [line for line, _, _ in found] == sorted(line for line, _, _ in found)
    for part in ("'Travel'", "versoin", "stp", "'fax'", "wieght", "already", "does not parse", "gaol"):
        assert any(part in problem for _, problem, _ in found), part


@pytest.mark.parametrize("text", ["", "\n\n", "# only a remark\n", "---\n"])
def test_an_empty_file_is_refused(text):
    assert only(text)[0] == 1


@pytest.mark.parametrize("text", ["- a\n- b\n", "just text\n", "12\n", "null\n"])
def test_a_file_that_is_no_mapping_is_refused(text):
    assert only(text)[0] == 1


def test_bytes_that_are_not_utf8_are_refused_with_their_line():
    raw = (HEAD + RULE).encode().replace(b"For tests.", "Für Tests.".encode("latin-1"))
    line, problem, advice = only(raw)
    assert line == 3
    assert "not UTF-8" in problem
    assert "Save the file as UTF-8" in advice


def test_a_huge_file_is_refused_unread():
    line, problem, _ = only("x" * (limits.PACK_BYTES + 1))
    assert line == 1
    assert str(limits.PACK_BYTES) in problem


def test_a_bomb_of_aliases_is_refused_at_its_first_alias():
    bomb = 'a: &a ["lol", "lol"]\n' + "".join(f"b{at}: &b{at} [*a, *a, *a]\n" for at in range(9))
    assert only(bomb)[:2] == (2, "an alias (`*name`) stands here.")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_refused(opening):
    line, problem, _ = only(opening * 5_000)
    assert line == 1
    assert "nested deeper" in problem


def test_two_documents_in_a_file_are_refused():
    line, problem, advice = only(f"{HEAD}{RULE}---\n{HEAD}{RULE}")
    assert line == 12
    assert "another document" in problem
    assert "a file of its own" in advice


def test_more_rules_than_the_bound_are_refused():
    rule = "  - {{name: r{at}, description: x, when: step.mutates, message: x}}\n"
    text = HEAD + "rules:\n" + "".join(rule.format(at=at) for at in range(limits.PACK_RULES + 1))
    line, problem, _ = only(text)
    assert line == 6
    assert str(limits.PACK_RULES) in problem
