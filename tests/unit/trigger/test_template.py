import pytest

from beforehand import limits
from beforehand.trigger.situation import SAMPLE, StepView, situation
from beforehand.trigger.template import FIELDS, Template, TemplateProblem


def filled(text, **step):
    return Template.of(text).fill(situation(StepView(**step)))


def test_placeholders_are_filled_and_lists_joined():
    assert filled("{step.goal}: {step.needs}", goal="Pay", needs=("amount", "card")) == "Pay: amount card"


def test_numbers_and_truth_values_are_written_out():
    assert filled("{step.ordinal} {step.mutates} {seconds_since_last_event}", ordinal=4) == "4 no 0"


def test_doubled_braces_are_braces():
    assert filled("{{step.goal}} {step.goal}", goal="x") == "{step.goal} x"


def test_what_is_filled_in_is_never_read_as_a_template():
    assert filled("{step.goal} {step.tool}", goal="{step.tool}", tool="t") == "{step.tool} t"


def test_what_is_filled_in_stands_on_one_line_without_hidden_characters():
    assert filled("do {step.goal}", goal="a\r\n\tb\0c\x1b[31md\u202ee\u2028f\u200bg") == "do a b c [31md e f g"


def test_what_is_filled_in_is_cut():
    assert len(filled("{step.goal}", goal="x" * 10_000)) == limits.QUERY_CHARS


def test_an_empty_field_leaves_no_gap():
    assert filled("{step.goal} {step.tool} {step.needs}", goal="a", needs=("b",)) == "a b"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{step.gaol}", "step.gaol"),
        ("{recent}", "recent"),
        ("{}", ""),
        ("{step.goal.__class__}", "step.goal.__class__"),
        ("{step}", "step"),
        ("{ordinal!r}", "ordinal!r"),
        ("{step.goal:>9}", "step.goal:>9"),
        ("open {", None),
        ("close }", None),
    ],
)
def test_anything_in_braces_that_is_no_field_is_refused(text, name):
    with pytest.raises(TemplateProblem) as refused:
        Template.of(text)
    assert refused.value.name == name


def test_a_list_alone_in_an_entry_gives_all_its_values():
    assert Template.of("{step.needs}").fill_list(SAMPLE) == ["origin", "destination", "date"]
    assert Template.of("my {step.needs}").fill_list(SAMPLE) == ["my origin destination date"]
    assert Template.of("{last_error_tool}").fill_list(SAMPLE) == []


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_every_field_can_be_filled_in(name):
    assert isinstance(Template.of(f"{{{name}}}").fill(SAMPLE), str)
