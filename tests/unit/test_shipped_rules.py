import pytest

from beforehand.backends import rule_files
from beforehand.trigger import schema
from beforehand.trigger.cases import judge, read_cases
from beforehand.trigger.condition import FUNCTIONS
from beforehand.trigger.packs import check, read
from beforehand.trigger.rules import fire
from beforehand.trigger.situation import EMPTY, SAMPLE, STRAINED, describe

PACKS = rule_files.shipped_packs()


def loaded(file):
    return read(rule_files.content(file), file.name)


def golden():
    for file in PACKS:
        pack, beside = loaded(file), rule_files.cases_of(file)
        cases, errors = read_cases(rule_files.content(beside), beside.name, pack)
        assert errors == []
        for case in cases:
            yield pytest.param(pack, case, id=f"{pack.name}: {case.name}")


def test_the_core_pack_is_shipped():
    assert "core.yaml" in [file.name for file in PACKS]


@pytest.mark.parametrize("file", PACKS, ids=lambda file: file.name)
def test_a_shipped_pack_has_no_mistakes_and_the_name_of_its_file(file):
    assert check(rule_files.content(file), file.name) == []
    assert loaded(file).name == file.stem


@pytest.mark.parametrize(("pack", "case"), list(golden()))
def test_a_golden_case_comes_true(pack, case):
    assert judge(pack, case, "cases") == []


@pytest.mark.parametrize("file", PACKS, ids=lambda file: file.name)
def test_every_rule_has_a_case_in_which_it_fires_and_one_in_which_it_is_silent(file):
    pack, beside = loaded(file), rule_files.cases_of(file)
    cases, _ = read_cases(rule_files.content(beside), beside.name, pack)
    names = {rule.name.partition("/")[2] for rule in pack.rules}
    assert names == {name for case in cases for name in case.part.fires}
    assert names == {name for case in cases for name in case.part.silent}


@pytest.mark.parametrize("example", [SAMPLE, EMPTY, STRAINED])
def test_no_shipped_condition_fails(example):
    assert fire([loaded(file) for file in PACKS], example).faults == ()


def test_values_that_a_step_needs_are_recalled_at_every_step():
    verdict = fire([loaded(PACKS[0])], SAMPLE)
    (rule,) = [each.rule for each in verdict.firings if each.rule.name == "core/needed-values"]
    assert (rule.cooldown_steps, rule.cooldown_s) == (0, 0)
    assert {"origin", "destination", "date"} <= set(verdict.firings[0].recalls[0].needs)


def test_the_readme_of_the_rules_says_all_there_is():
    readme = (rule_files.shipped_folder() / "README.md").read_text(encoding="utf-8")
    rows = [f"| `{name}` | {kind} | {means} |" for name, kind, means in describe()]
    rows += [f"| `{channel}` | {means} |" for channel, means in schema.CHANNELS.items()]
    for model in (schema.PackPart, schema.RulePart, schema.RecallPart):
        rows += [f"| `{key}` | {field.description} |" for key, field in model.model_fields.items()]
    assert [row for row in rows if row not in readme] == []
    assert [name for name in FUNCTIONS if f"| `{name}(" not in readme] == []


def test_the_examples_in_the_readme_work():
    readme = (rule_files.shipped_folder() / "README.md").read_text(encoding="utf-8")
    first, second = [part.partition("```")[0] for part in readme.split("```yaml\n")[1:]]
    pack = read(first, "travel.yaml")
    cases, errors = read_cases(second, "travel.cases.yaml", pack)
    assert errors == []
    assert len(cases) == 2
    assert [error for case in cases for error in judge(pack, case, "travel.cases.yaml")] == []
