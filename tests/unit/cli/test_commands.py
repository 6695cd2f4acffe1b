"""The command line as a whole: what it lists, what it loads, and what it says of itself."""

import asyncio
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner

from beforehand.cli.main import COMMANDS, app, loaded
from beforehand.cli.shared import awaited


def run(*words):
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_a_command_what_the_command_says_first(name):
    said = " ".join((loaded(name).help or "").split())
    assert said.startswith(COMMANDS[name][1].rstrip("."))


def test_the_list_has_every_command():
    shown = run("--help").output
    assert all(name in shown for name in COMMANDS)


def test_a_command_that_is_not_there_is_named_with_the_nearest():
    told = run("upp")
    assert told.exit_code == 2
    assert "'up'" in told.output


def test_a_group_lists_its_own():
    assert "rollback" in run("models", "--help").output


def test_what_a_command_logs_stands_beside_what_it_prints(capsys):
    try:
        assert run("config", "show", "--json").exit_code == 0
        structlog.get_logger().warning("a segment is not used")
        said = capsys.readouterr()
    finally:
        structlog.reset_defaults()
    assert said.out == ""
    assert "a segment is not used" in said.err


def printed(*words, under=(), stdout=subprocess.PIPE, **environment):
    command = [*under, sys.executable, "-m", "beforehand", *words]
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, check=False, timeout=60, env={**os.environ, **environment}
    )


def test_a_terminal_that_lacks_a_character_gets_its_code():
    done = printed("rules", "try", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u65e5\u671f" in done.stdout


@pytest.mark.parametrize("words", [("models", "list"), ("models", "list", "--json"), ("config", "show")])
def test_a_full_disk_under_standard_output_is_one_line(words):
    with Path("/dev/full").open("wb") as full:
        done = printed(*words, stdout=full)
    assert done.returncode == 1
    assert done.stderr.startswith(b"error No space left on device.")
    assert b"Traceback" not in done.stderr


CLOSED = ("sh", "-c", 'exec "$@" >&-', "sh")
"""Takes standard output away, and goes on as the command behind it."""


@pytest.mark.parametrize("words", [("models", "list", "--json"), ("config", "show")])
def test_where_standard_output_is_closed_nothing_is_printed_and_nothing_fails(words):
    done = printed(*words, under=CLOSED)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_export_to_a_closed_standard_output_says_so(tmp_path):
    (tmp_path / "j.sqlite3").touch()
    done = printed("export", "-", "--journal", tmp_path / "j.sqlite3", under=CLOSED)
    assert done.returncode == 1
    assert done.stderr.startswith(b"error standard output is closed.")


def test_ctrl_c_while_the_event_loop_is_made_leaves_no_half_of_it(monkeypatch):
    made = []

    def interrupted():
        os.kill(os.getpid(), signal.SIGINT)
        made.append(asyncio.SelectorEventLoop())
        return made[0]

    async def work():
        raise AssertionError("it was to be interrupted before")

    monkeypatch.setattr(asyncio.events, "new_event_loop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        awaited(work())
    assert made[0].is_closed()


def test_it_says_its_version():
    assert run("--version").output.strip() == version("beforehand")


def test_a_command_loads_what_it_needs_and_no_more():
    code = (
        "import sys; from beforehand.cli.main import loaded; loaded('up');"
        "print([name for name in ('beforehand.training', 'alembic', 'dask') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
