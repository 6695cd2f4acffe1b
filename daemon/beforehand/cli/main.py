"""The command `beforehand`. A command's code is imported when it is run: the daemon does not wait for what trains."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from beforehand.cli.logs import log_to_stderr

for _name, _value in (("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1"), ("OMP_WAIT_POLICY", "passive")):
    os.environ.setdefault(_name, _value)
"""Before a library that computes is loaded: short calls are many times slower with two threads (docs/decisions)."""

COMMANDS: Final = {
    "up": ("up", "Start the daemon, and a broker when none is configured."),
    "demo": (
        "demo",
        "Play a recorded run of a real agent over MQTT and show the packet that was there before each step.",
    ),
    "replay": (
        "replaying",
        "Play recorded runs through the daemon in memory, on virtual time, and show the packet of every step.",
    ),
    "status": ("ask", "What the daemon says of itself."),
    "recall": ("ask", "Ask a running daemon what an agent's memory holds."),
    "explain": ("ask", "Why a packet says what it says: every rule that fired, every candidate, the whole arithmetic."),
    "doctor": ("look", "Check all that a daemon needs, from settings and disk to rules and model."),
    "backup": ("keep", "Copy the journal into one file, checked and synced, while the daemon goes on."),
    "restore": ("keep", "Put a copy in the journal's place; what stood there is kept beside it."),
    "repair": ("keep", "Move what can be read of a damaged journal into a new one, and name what is lost."),
    "checkpoint": ("checkpoint", "Memories kept beside the journal, so that a restart is short."),
    "export": ("carrying", "Write all that is held into a file: messages, packets with decisions, dead letters."),
    "import": ("carrying", "Store what an export holds and the journal does not have, behind what is there."),
    "facts": ("facts", "What is known of whom, from the journal; the daemon may run."),
    "history": (
        "facts",
        "Every claim of one fact: from when until when it held, who said it when, and what replaced it.",
    ),
    "forget": (
        "forget",
        "Erase a subject, an origin, a run, an agent, a tenant, or what is over, and search files and broker for it.",
    ),
    "train": (
        "train",
        "Fit a trigger model to recorded runs or journals; a gate holds it against the current one.",
    ),
    "evaluate": (
        "evaluate",
        "Replay recorded runs and compare what each policy puts before every step, with what the step then needed.",
    ),
    "embed": ("embed", "Make the vectors that the journal lacks, or has of another embedder."),
    "config": ("look", "Settings."),
    "inspect": ("trees", "What memory is made of."),
    "rules": ("rules", "Rule packs: check, list, try."),
    "models": ("models", "Trigger models: list, show, promote, roll back."),
    "workflows": ("workflows", "Workflows: what runs that went well have in common."),
    "experiment": ("experiment", "Experiments: start, list, stop, report, power, simulate."),
}
"""Each command or group: the module that mounts it, and what the list of commands says of it."""


class Commands(TyperGroup):
    """The commands by name and line of help; the one that is run is loaded."""

    def __init__(self, **attributes: Any) -> None:
        """attributes: as typer gives them; there are no commands among them."""
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=line) for name, (_, line) in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """As click does it, with the command itself in the place of its line of help."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, loaded(name) if name in COMMANDS else listed, rest

    def invoke(self, ctx: Any) -> Any:
        """As click does it; a file or a terminal that fails while a command prints becomes one line, too."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # whoever read it has enough: click ends in silence
        except OSError as error:
            with import_module("beforehand.cli.shared").advising():  # loaded with the command, not before
                raise error from None


def loaded(name: str) -> Any:
    """A command or a group of them, with all that it needs."""
    app = typer.Typer()
    import_module(f"beforehand.cli.{COMMANDS[name][0]}").add_to(app)
    return get_group(app).commands[name]


app = typer.Typer(name="beforehand", cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("beforehand"))
        raise typer.Exit


@app.callback()
def main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Hands AI agents, before every step, the few things they must not forget in it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without a character is no reason to stop
    log_to_stderr(as_json=False, quiet=True)
