"""Every command ends with one line of advice and exit code 1 when it cannot go on; never with a traceback."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from beforehand.cli.main import app


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize("command", ["replay", "evaluate", "demo"])
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.jsonl", b"not json\n", "a.jsonl:1: not JSON"),
        ("a.jsonl", b'{"a":1}\n', "a.jsonl:1: a run has an id and a list of events"),
        ("a.jsonl", b'{"id":"r","events":[{"type":"dance"}]}\n', "an event without a type of user, agent"),
        ("a.jsonl", b'{"id":"r","events":[{"type":"call"}]}\n', "a call without the name of its tool"),
        ("a.jsonl", b"", "a.jsonl is empty"),
        ("a.jsonl.gz", b"no gzip", "a.jsonl.gz is not a whole gzip file"),
        ("a.jsonl.gz", b"\x1f\x8b\x08\x00", "a.jsonl.gz is not a whole gzip file"),
    ],
)
def test_d4_a_file_that_holds_no_runs_is_named_with_what_is_wanted(tmp_path, command, name, content, says):
    (tmp_path / name).write_bytes(content)
    result = run(command, name)
    assert result.exit_code == 1
    assert says in result.stderr


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--state", "/proc/nope"], "/proc/nope: "),
        (["--journal", "/proc/nope.sqlite3"], "/proc/nope.sqlite3"),
    ],
)
def test_d4_a_place_that_cannot_be_written_is_named(monkeypatch, flags, says):
    monkeypatch.setenv("BEFOREHAND_BROKER__EMBEDDED_PORT", "0")
    result = run("up", *flags)
    assert result.exit_code == 1
    assert says in result.stderr
    assert "Look at" in result.stderr
