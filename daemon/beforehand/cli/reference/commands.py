"""The page of the command line, read off the typer application."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from beforehand.cli.main import COMMANDS, app, loaded

_SHELL_OPTIONS = {"install_completion", "show_completion"}


def rendered() -> dict[str, str]:
    """`cli.md`."""
    blocks = ["# The command line", "Written from the code by `make docs`."]
    blocks += [block for command, name in walk() for block in _section(command, name)]
    return {"cli.md": "\n\n".join(blocks) + "\n"}


def walk(command: Any = None, name: str = "beforehand") -> Iterator[tuple[Any, str]]:
    """Every command with its full name, groups before their members."""
    here, members = command, getattr(command, "commands", {})
    if command is None:
        here, members = get_command(app), {each: loaded(each) for each in COMMANDS}
    yield here, name
    for inner_name, inner in members.items():
        if not inner.hidden:
            yield from walk(inner, f"{name} {inner_name}")


def _section(command: Any, name: str) -> Iterator[str]:
    parameters = [each for each in command.params if not each.hidden and each.name not in _SHELL_OPTIONS]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    usage = " ".join([name, *(_argument(each) for each in arguments)])
    yield f"## `{usage}`"
    yield (command.help or "").strip().replace("\b", "")
    rows = [_row(each) for each in parameters]
    if rows:
        yield "\n".join(["| name | default | meaning |", "|---|---|---|", *rows])


def _argument(parameter: Any) -> str:
    name = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
    return name if parameter.required else f"[{name}]"


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        names = parameter.name.upper()
    else:
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    shown = "required" if parameter.required else _default(parameter.default)
    return f"| `{names}` | {shown} | {' '.join((parameter.help or '').split())} |"


def _default(value: Any) -> str:
    """As people read it; a path inside this machine is no default that a page can give."""
    here = isinstance(value, Path) and value.is_absolute()
    return "" if here or callable(value) or value in (None, False, [], ()) else f"`{value}`"
