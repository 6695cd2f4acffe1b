"""Where the logs of a command go: to standard error, so that what it prints is its own."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

import structlog

from beforehand.cli.screen import SHOWN


def log_to_stderr(*, as_json: bool, quiet: bool = False) -> None:
    """Logs go to standard error: readable lines, or JSON lines; quiet: warnings and errors alone."""
    render = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger("warning" if quiet else "info"),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _harmless,
            render,
        ],
        logger_factory=_LastingLogger,
    )


def _harmless(_: object, __: str, said: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """What an agent chose, such as the id of a packet, sends the terminal of whoever reads the log no commands."""
    return {name: value.translate(SHOWN) if isinstance(value, str) else value for name, value in said.items()}


class _LastingLogger(structlog.PrintLogger):
    """Writes to standard error, and goes on when that cannot be written: a full disk must not end the daemon."""

    def __init__(self, *_: object) -> None:
        super().__init__(sys.stderr)

    def msg(self, message: str) -> None:
        """One line; it is lost when the disk under standard error is full."""
        with suppress(OSError):
            super().msg(message)

    log = debug = info = warn = warning = error = critical = exception = fatal = msg
