"""Logs are written where they can be; a log that cannot be written ends nothing."""

from __future__ import annotations

import json
import sys

import structlog

from beforehand.cli.logs import log_to_stderr


class Full:
    """Standard error on a disk that is full."""

    def write(self, _: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def test_a_log_on_a_full_disk_does_not_end_the_daemon(monkeypatch, capsys):
    said = capsys.readouterr
    log_to_stderr(as_json=True)
    try:
        structlog.get_logger().warning("before")
        assert json.loads(said().err)["event"] == "before"
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", Full())
            log_to_stderr(as_json=True)
            structlog.get_logger().error("cannot be written")
        log_to_stderr(as_json=True)
        structlog.get_logger().warning("after")
        assert json.loads(said().err)["event"] == "after"
    finally:
        structlog.reset_defaults()


def test_what_an_agent_chose_sends_the_readers_terminal_no_commands(capsys):
    log_to_stderr(as_json=False)
    try:
        structlog.get_logger().warning("not found", packet="p\x1b[2J\x1b]0;mine\x07")
    finally:
        structlog.reset_defaults()
    assert "p␛[2J␛]0;mine␇" in capsys.readouterr().err
