"""Every command ends with one line of advice and exit code 1 when it cannot go on; never with a traceback."""

from __future__ import annotations

import json
import os
import socket
import tomllib

import pytest
import structlog
from typer.testing import CliRunner

from beforehand import configuration
from beforehand.backends.broker.embedded import HOST, free_port
from beforehand.backends.journal.lock import journal_lock
from beforehand.cli import ask, doctor
from beforehand.cli.demo import RECORDING
from beforehand.cli.main import app


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    structlog.reset_defaults()


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
        ("a.jsonl", b'{"id":"r","events":[{"type":"user","canon":5}]}\n', "(`canon`) that are no list"),
        ("a.jsonl", b'{"id":"r","outcome":"good","events":[]}\n', "an outcome is a number from 0 to 1"),
        ("a.jsonl", b'{"id":"r","domain":5,"events":[]}\n', "source, domain and split are text"),
        ("a.jsonl", b'{"id":"r","events":[],"a":' + b"[" * 300 + b"]" * 300 + b"}\n", "nested too deep"),
        ("a.jsonl", b"", "a.jsonl is empty"),
        ("a.jsonl", b"\n\n", "a.jsonl is empty"),
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


def test_d8_a_status_without_a_broker_is_still_one_json_object():
    result = run("status", "--json", "--host", "127.0.0.1", "--port", free_port())
    assert result.exit_code == 1
    said = json.loads(result.stdout)
    assert said["state"] == "offline"
    assert "127.0.0.1" in said["reason"]


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["shop/clerk"], "Give one of"),
        (["shop/clerk", "--subject", "x", "--all"], "Give one of"),
        (["shop/clerk", "--origin", "web"], "Give user, agent, tool, system, unknown, or tool:NAME"),
        (["shop", "--run", "r1"], "Write tenant/agent"),
    ],
)
def test_what_to_forget_has_to_be_said(words, advice):
    result = run("forget", *words, "--journal", "none")
    assert result.exit_code == 1
    assert advice in result.stderr


def test_d8_a_host_that_no_broker_can_have_is_named():
    said = json.loads(run("status", "--json", "--host", "a..b").stdout)
    assert "a..b" in said["reason"]
    assert "Correct broker.host." in said["reason"]


def test_a_recall_that_fails_says_why_and_shows_no_table(monkeypatch):
    monkeypatch.setattr(ask, "_RECALL_MS", 50.0)
    result = run("recall", "shop/anna", "r", "what", "--port", free_port())
    assert result.exit_code == 1
    assert "no broker answers" in result.stderr
    assert result.stdout == "0 of 0 events; error\n"


def test_bytes_that_are_no_utf8_name_no_packet(tmp_path):
    (tmp_path / "j.sqlite3").touch()
    result = run("explain", os.fsdecode(b"p\xff"), "--journal", tmp_path / "j.sqlite3")
    assert result.exit_code == 1
    assert "error packet: the packet 'p\\udcff' does not decode to UTF-8" in result.stderr


def test_d8_the_settings_shown_are_toml_that_can_be_loaded_again(tmp_path, monkeypatch):
    monkeypatch.setenv("BEFOREHAND_BROKER__PASSWORD", "hunter2")
    monkeypatch.setenv("BEFOREHAND_BROKER__TLS", "true")
    shown = run("config", "show").stdout
    (tmp_path / "shown.toml").write_text(shown)
    assert tomllib.loads(shown)["broker"]["tls"] is True
    assert "# host = " in shown
    assert "hunter2" not in shown
    assert configuration.load(tmp_path / "shown.toml") == configuration.load()


def test_d8_a_change_of_the_situation_without_a_value_says_how_it_is_written():
    result = run("rules", "try", "--set", "nonsense")
    assert result.exit_code == 1
    assert "Write field=value" in result.stderr


def test_d8_a_replay_that_skips_all_runs_says_how_many_there_are():
    result = run("replay", RECORDING, "--skip", 100_000)
    assert result.exit_code == 1
    assert "shop.jsonl has 1." in result.stderr.replace("\n", "")


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [("PACKS", '["gone"]', "no shipped rule pack 'gone'"), ("MODEL", "gone", "no trigger model 'gone'")],
)
def test_d8_up_looks_at_rules_and_model_before_it_starts_a_broker(tmp_path, monkeypatch, variable, value, says):
    monkeypatch.setenv(f"BEFOREHAND_POLICY__{variable}", value)
    result = run("up")
    assert result.exit_code == 1
    assert says in result.stderr
    assert not (tmp_path / ".beforehand").exists()


def test_a_replay_says_nothing_of_what_the_agent_still_sees():
    played = json.loads(run("replay", RECORDING, "--view", 10_000, "--json").stdout)
    assert {item["kind"] for one in played for item in one["packet"]["items"]} == {"warning"}
    assert any(one["needed"] for one in json.loads(run("replay", RECORDING, "--json").stdout))


def test_d8_doctor_names_the_broker_that_up_would_start(monkeypatch):
    monkeypatch.setattr(doctor, "find_mosquitto", lambda: "/usr/sbin/mosquitto")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("BEFOREHAND_BROKER__EMBEDDED_PORT", "0")
    assert broker_found()["detail"] == "none configured: `up` starts mosquitto on loopback"


def test_d8_doctor_says_before_up_does_that_the_port_of_its_broker_is_taken(tmp_path, monkeypatch):
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        monkeypatch.setenv("BEFOREHAND_BROKER__EMBEDDED_PORT", str(taken.getsockname()[1]))
        assert broker_found()["state"] == "bad"
        assert "broker.embedded_port" in broker_found()["advice"]
        journal = tmp_path / "beforehand.sqlite3"
        journal.touch()
        with journal_lock(journal):
            assert broker_found("--journal", journal)["state"] == "good"


def test_d8_doctor_takes_an_empty_file_for_a_journal_that_is_still_to_be_made(tmp_path):
    empty = tmp_path / "beforehand.sqlite3"
    empty.touch()
    found = {one["part"]: one for one in json.loads(run("doctor", "--json").stdout)}
    assert found["journal"]["state"] == "good"
    assert empty.stat().st_size == 0, "doctor only looks"


@pytest.mark.parametrize("place", [".", "/dev/null"])
def test_doctor_says_before_up_does_that_the_journal_is_no_file(place):
    found = {one["part"]: one for one in json.loads(run("doctor", "--json", "--journal", place).stdout)}
    assert found["journal"]["state"] == "bad"
    assert "is not a file" in found["journal"]["detail"]


@pytest.mark.parametrize("command", ["replay", "evaluate", "train"])
@pytest.mark.parametrize(
    ("name", "args", "says"),
    [
        ("t" * 5_000, {}, "tool: 5000 characters"),
        ("t", {"a": "x" * 2_000_000}, "payload: "),
    ],
)
def test_a_run_that_a_daemon_would_refuse_is_named_with_what_is_wrong(tmp_path, command, name, args, says):
    run_of = {"id": "r1", "events": [{"type": "call", "name": name, "args": args}]}
    (tmp_path / "a.jsonl").write_text(json.dumps(run_of), encoding="utf-8")
    result = run(command, "a.jsonl", *(("--into", "m") if command == "train" else ()))
    assert result.exit_code == 1
    assert says in result.stderr
    assert "run 'r" in result.stderr


@pytest.mark.parametrize("command", ["induce", "measure"])
@pytest.mark.parametrize("name", ["t" * 600, 7])
def test_runs_that_teach_workflows_are_named_when_a_daemon_would_refuse_them(tmp_path, command, name):
    events = [{"type": "call", "name": "pay", "args": {}}, {"type": "result", "name": name, "text": "done"}]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "r1", "events": events}), encoding="utf-8")
    result = run("workflows", command, "a.jsonl")
    assert result.exit_code == 1
    assert "r1:1: tool: " in result.stderr


def test_a_training_on_too_little_says_what_it_takes(tmp_path):
    events = [{"type": "user", "text": "Pay order #W7."}, {"type": "call", "name": "pay", "args": {"order": "#W7"}}]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "r", "events": events}), encoding="utf-8")
    result = run("train", "a.jsonl", "--into", "m")
    assert result.exit_code == 1
    assert "the runs teach too little" in result.stderr


def test_a_training_says_before_its_work_that_its_folder_cannot_be_made(tmp_path):
    (tmp_path / "taken").touch()
    result = run("train", RECORDING, "--into", "taken")
    assert result.exit_code == 1
    assert result.stderr.startswith("error taken: File exists")


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--match", "("), "--match '(' is no regular expression"),
        (("--first", "["), "--first '[' is no regular expression"),
        (("--match", "nobody"), "--match 'nobody' finds none of 1 runs"),
        (("--first", "nobody"), "--first 'nobody' finds none of 1 runs"),
        (("--split", "dev"), "There are none: leave --split out"),
        (("--after", "1"), "let --after leave some of them"),
        ((), "no step is counted: 1 runs were chosen"),
    ],
)
def test_an_evaluation_of_no_runs_says_why_there_are_none(tmp_path, flags, says):
    (tmp_path / "a.jsonl").write_text('{"id":"r","events":[]}', encoding="utf-8")
    result = run("evaluate", "a.jsonl", *flags)
    assert result.exit_code == 1
    assert says in result.stderr


def test_empty_lines_between_runs_are_no_runs(tmp_path):
    (tmp_path / "a.jsonl").write_text('\n{"id":"r","events":[]}\n\n{"id":"s","events":[]}\n\n', encoding="utf-8")
    assert run("replay", "a.jsonl", "--runs", 5).exit_code == 0


def test_a_replay_shows_the_names_of_tools_as_they_are_written(tmp_path):
    events = [{"type": "call", "name": name, "args": {}} for name in ("[pay]", "pay[/all]")]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "[r1]", "events": events}), encoding="utf-8")
    shown = run("replay", "a.jsonl").stdout
    assert all(name in shown for name in ("[r1]", "[pay]", "pay[/all]"))


def broker_found(*words):
    found = json.loads(run("doctor", "--json", *words).stdout)
    return next(one for one in found if one["part"] == "broker")
