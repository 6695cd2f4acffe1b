import json

import pytest
from typer.testing import CliRunner

from beforehand.cli.rules import commands as app

PACK = """\
name: mine
version: 1
description: x
rules:
  - {name: a, description: "Because [it] matters.", when: step.mutates, weight: 0.7, message: "Mind {step.tool}"}
"""
CASES = "cases: [{name: c, situation: {step: {tool: delete_it}}, fires: [a]}]\n"


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(PACK)
    (tmp_path / "mine.cases.yaml").write_text(CASES)
    return file


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def test_the_shipped_packs_pass_and_say_so():
    result = run("check")
    assert result.exit_code == 0
    assert "core.yaml" in result.output


def test_a_pack_and_the_cases_beside_it_are_checked(mine):
    result = run("check", mine, "--json")
    assert result.exit_code == 0
    (pack,) = json.loads(result.stdout)["packs"]
    assert (pack["pack"], pack["rules"], pack["cases"], pack["errors"]) == ("mine", 1, 1, [])


def test_a_folder_and_a_file_of_cases_stand_for_their_packs(mine):
    for path in (mine.parent, mine.with_name("mine.cases.yaml")):
        assert [pack["pack"] for pack in json.loads(run("check", path, "--json").stdout)["packs"]] == ["mine"]


def test_mistakes_are_printed_with_file_line_problem_and_advice(mine):
    mine.write_text(PACK.replace("step.mutates", "step.mutats").replace("version", "versoin"))
    result = run("check", mine)
    assert result.exit_code == 1
    assert f"{mine}:2: there is no key `versoin` here. Did you mean `version`?" in result.output
    assert f"{mine}:5: `step` has no field `mutats`. Did you mean `mutates`?" in result.output


def test_a_case_that_does_not_come_true_fails_the_check(mine):
    mine.with_name("mine.cases.yaml").write_text(CASES.replace("delete_it", "get_it"))
    result = run("check", mine, "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["ok"] is False
    (error,) = answer["packs"][0]["errors"]
    assert (error["line"], error["problem"]) == (1, "case 'c': `a` did not fire.")
    assert error["file"].endswith("mine.cases.yaml")


def test_a_path_to_nothing_fails_the_check(tmp_path):
    result = run("check", tmp_path / "nothing.yaml")
    assert result.exit_code == 1
    assert "cannot be read" in result.output


def test_a_folder_without_packs_fails_the_check(tmp_path):
    assert run("check", tmp_path).exit_code == 1


def test_rules_are_listed_with_their_reasons(mine):
    result = run("list", "--pack", mine)
    assert result.exit_code == 0
    assert "mine/a" in result.output
    assert "Because [it] matters." in result.output
    (rule,) = json.loads(run("list", "--pack", mine, "--json").stdout)
    assert rule == {"name": "mine/a", "when": "step.mutates", "weight": 0.7, "description": "Because [it] matters."}


def test_trying_shows_what_fires_and_why(mine):
    assert "No rule fires" in run("try", "--pack", mine).output
    result = run("try", "--pack", mine, "--set", "step.tool=delete_it")
    assert result.exit_code == 0
    assert "mine/a" in result.output
    assert "because step.mutates" in result.output
    assert "says Mind delete_it" in result.output


def test_trying_takes_several_changes_of_any_type(mine):
    changes = [
        "step.tool=delete_it",
        "step.goal=Look: [all], {now}",
        "errors_in_a_row=2",
        "step.needs=[a, b]",
        "recent=[{kind: observation, ok: false}]",
    ]
    words = [word for change in changes for word in ("--set", change)]
    answer = json.loads(run("try", "--pack", mine, *words, "--json").stdout)
    assert [each["rule"] for each in answer["fired"]] == ["mine/a"]
    step = answer["situation"]["step"]
    assert (step["tool"], step["goal"], step["needs"]) == ("delete_it", "Look: [all], {now}", ["a", "b"])
    assert answer["situation"]["errors_in_a_row"] == 2
    assert len(answer["situation"]["recent"]) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("step.tol=x", "Did you mean `tool`?"),
        ("errors_in_a_row=two", "should be a whole number"),
        ("step=x", "should be a mapping"),
        ("=", "--set"),
        ("x.y.z=[", "--set"),
        (".".join("a" * 30) + "=1", "nested deeper"),
    ],
)
def test_a_change_that_cannot_be_made_is_explained(change, said):
    result = run("try", "--set", change)
    assert result.exit_code == 1
    assert said in result.output


def test_an_unknown_pack_is_answered_with_those_there_are():
    result = run("list", "--pack", "cor")
    assert result.exit_code == 1
    assert "core" in result.output
