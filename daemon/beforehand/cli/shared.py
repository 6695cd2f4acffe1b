"""What all commands share: settings from flags, errors as one line of advice, output for people or machines."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import orjson
import typer
from rich.text import Text

from beforehand import configuration
from beforehand.cli.screen import Screen
from beforehand.errors import BeforehandError, NotFound
from beforehand.messages import topics
from beforehand.settings import Settings

_Answer = TypeVar("_Answer")

FAILED = 1

_PIPE_COLUMNS = 160
_SPELT = re.compile("[%\ud800-\udfff]")
"""What is percent-encoded, or came from a shell as bytes that are no UTF-8: `topics.decode` says what is wrong."""


def _columns() -> int | None:
    """As many as the terminal has; a file or a pipe is wide, so that no table is cut that nobody can widen."""
    return None if (sys.stdout is not None and sys.stdout.isatty()) or "COLUMNS" in os.environ else _PIPE_COLUMNS


out = Screen(width=_columns())
err = Screen(stderr=True)

Config = Annotated[Path | None, typer.Option("--config", "-c", help="Settings file (TOML).", show_default=False)]
Journal = Annotated[Path | None, typer.Option("--journal", help="Journal file.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")]
Agent = Annotated[str, typer.Argument(help="Agent, as tenant/agent.")]
State = Annotated[Path, typer.Option("--state", help="Folder for lock files and the embedded broker's data.")]
STATE = Path(".beforehand")


@contextmanager
def advising() -> Iterator[None]:
    """An error of ours, or of a file, becomes its advice on standard error, and exit code 1; several become lines."""
    try:
        yield
    except* (BeforehandError, OSError) as group:
        for line in dict.fromkeys(map(_line, _leaves(group))):
            err.print(Text.assemble(("error", "bold red"), f" {line}"), soft_wrap=True)
        raise SystemExit(FAILED) from None


def awaited(work: Coroutine[Any, Any, _Answer]) -> _Answer:
    """As `asyncio.run`; Ctrl-C waits until there is a whole event loop: of half of one Python tells a traceback."""
    runner = asyncio.Runner()
    try:
        with _interrupted_after():
            runner.get_loop()
        return runner.run(work)
    finally:
        runner.close()
        work.close()  # which it is, unless it was never begun


@contextmanager
def _interrupted_after() -> Iterator[None]:
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def load(config: Path | None, **flags: Any) -> Settings:
    """Settings of this command; flags that were not given are left out."""
    given = {
        section: {name: value for name, value in values.items() if value is not None}
        for section, values in flags.items()
    }
    return configuration.load(config, **{section: values for section, values in given.items() if values})


def tenant_and_agent(agent: str) -> tuple[str, str]:
    """The two parts of `tenant/agent`, also as topics spell them. Raises NotFound or Refusal."""
    tenant, _, name = agent.partition("/")
    if not tenant or not name:
        raise NotFound(f"{agent!r} names no agent.", "Write tenant/agent, such as shop/anna.")
    return read_name(tenant, "tenant"), read_name(name, "agent")


def tenant_or_agent(named: str) -> tuple[str, str | None]:
    """The two parts of `tenant/agent`, or a tenant alone. Raises NotFound or Refusal."""
    return tenant_and_agent(named) if "/" in named or not named else (read_name(named, "tenant"), None)


def spelled(tenant: str, agent: str) -> str:
    """An agent as it is named to a command: each part as topics spell it, since a tenant may have a slash in it."""
    return f"{topics.encode(tenant)}/{topics.encode(agent)}"


def read_name(part: str, field: str) -> str:
    """A name, also as topics spell it. Raises Refusal for one that no topic could have."""
    return topics.decode(part, field) if _SPELT.search(part) else part


def print_json(value: Any) -> None:
    """One JSON document on standard output; none where that is closed."""
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str))


def _line(error: BaseException) -> str:
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}. Look at the path, its owner and its mode, or name another."
    return str(error)


def _leaves(group: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
