"""`facts` and `history` show what stands, everything that was claimed, and whose data is held."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from beforehand.backends.journal.choosing import Whom
from beforehand.backends.journal.erasing import erase
from beforehand.cli.main import app
from beforehand.messages.topics import Scope
from forgetting import entry, written

CITY = {"subject": "anna", "attribute": "city"}
BUDGET = {"subject": "anna", "attribute": "budget"}


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "journal.sqlite3"
    written(
        path,
        [
            entry(id="new", text="", facts=[{**CITY, "value": "Beijing", "valid_from": "2025-03-01T00:00:00Z"}]),
            entry(id="old", text="", facts=[{**CITY, "value": "Shanghai", "valid_from": "2021-06-01T00:00:00Z"}]),
            entry(id="said", text="", facts=[{**BUDGET, "value": 8000}]),
            entry(id="seen", role="tool", text="", facts=[{**BUDGET, "value": 9000}]),
        ],
    )
    return path


def shown(journal, *command):
    done = CliRunner().invoke(app, [*command, "--journal", str(journal), "--json"])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_what_stands_is_shown_with_who_says_otherwise(journal):
    rows = {row["attribute"]: row for row in shown(journal, "facts", "shop/clerk")}
    assert rows["city"]["value"] == "Beijing"
    assert rows["city"]["from"] == "2025-03-01T00:00:00Z"
    assert (rows["budget"]["value"], rows["budget"]["by"]) == ("8000", "user")
    assert rows["budget"]["contradicted"] == "tool: 9000"


def test_what_stood_then_and_what_was_known_then(journal):
    [city] = shown(journal, "facts", "shop/clerk", "--as-of", "2023-01-01T00:00:00Z")
    assert city["value"] == "Shanghai"
    assert shown(journal, "facts", "shop/clerk", "--known-at", "2020-01-01T00:00:00Z") == []


def test_t6_the_history_says_when_each_held_and_what_replaced_it(journal):
    new, old = shown(journal, "history", "shop/clerk", "Anna", "City")
    assert (new["value"], new["fate"], new["until"]) == ("Beijing", "stands", "")
    assert (old["value"], old["fate"], old["through"]) == ("Shanghai", "replaced", "new")
    assert old["until"] == "2025-03-01T00:00:00Z"


def test_the_audit_has_every_claim_and_its_fate(journal):
    rows = shown(journal, "facts", "shop/clerk", "--view", "audit")
    assert {(row["value"], row["fate"]) for row in rows} == {
        ("Beijing", "stands"),
        ("Shanghai", "replaced"),
        ("8000", "stands"),
        ("9000", "contradicts"),
    }


def test_compliance_says_whose_data_is_held_without_a_value_and_what_was_erased(journal):
    [held] = shown(journal, "facts", "shop/clerk", "--view", "compliance")
    assert (held["subject"], held["attributes"], held["claims"], held["by"]) == ("anna", 2, 4, "tool, user")
    assert "Beijing" not in json.dumps(held)
    erase(journal, Whom("shop", "clerk", subject="anna"), "2026-03-02T09:00:00Z")
    [gone] = shown(journal, "facts", "shop/clerk", "--view", "compliance")
    assert (gone["subject"], gone["messages"], gone["last recorded"]) == ("(erased)", 4, "2026-03-02T09:00:00Z")


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (("history", "shop/clerk", "anna", "shoe size"), "anna / city"),
        (("facts", "clerk"), "Write tenant/agent"),
        (("facts", "shop/nobody"), "Look at the names"),
        (("facts", "shop/clerk", "--as-of", "yesterday"), "Write RFC 3339"),
    ],
)
def test_what_cannot_be_shown_is_said_with_advice(journal, command, advice):
    done = CliRunner().invoke(app, [*command, "--journal", str(journal)])
    assert done.exit_code == 1
    assert advice in " ".join(done.stderr.split())


def test_a_tenant_with_a_slash_is_named_as_topics_spell_it(tmp_path):
    path = tmp_path / "journal.sqlite3"
    written(path, [entry(scope=Scope("acme/eu", "50%", "r1"), text="", facts=[{**CITY, "value": "Porto"}])])
    [row] = shown(path, "facts", "acme%2Feu/50%25")
    assert row["value"] == "Porto"
    [listed] = shown(path, "checkpoint", "list")
    assert listed["agent"] == "acme%2Feu/50%25"
    assert shown(path, "forget", "acme%2Feu", "--all", "--dry-run")["messages"] == 1


@pytest.mark.parametrize("command", [["facts"], ["inspect", "timeline"], ["forget", "--all", "--dry-run"]])
def test_a_name_that_is_no_utf_8_is_told_so(journal, command):
    done = CliRunner().invoke(app, [*command, "shop/\udcff", "--journal", str(journal)])
    assert done.exit_code == 1
    assert "does not decode to UTF-8" in done.stderr


def test_people_get_a_table(journal):
    done = CliRunner().invoke(app, ["facts", "shop/clerk", "--journal", str(journal)])
    assert done.exit_code == 0
    assert "Beijing" in done.stdout
    assert "2 rows" in done.stdout
