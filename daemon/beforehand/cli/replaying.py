"""The command `replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress
from rich.table import Column, Table

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.shared import Config, Json, advising, awaited, err, load, out, print_json
from beforehand.errors import NotFound
from beforehand.messages.topics import Scope
from beforehand.replay import Replay
from beforehand.training.playing import Played, play
from beforehand.training.trajectories import Trajectory, read


def add_to(app: typer.Typer) -> None:
    """Mount the command."""
    app.command()(replay)


def replay(
    file: Annotated[Path, typer.Argument(help="Recorded runs (.jsonl or .jsonl.gz), see docs/guides/replay.md.")],
    config: Config = None,
    runs: Annotated[int, typer.Option(min=1, help="How many runs of the file.")] = 1,
    skip: Annotated[int, typer.Option(min=0, help="Runs to leave out at the start.")] = 0,
    budget: Annotated[int | None, typer.Option(help="Tokens of a packet.")] = None,
    view: Annotated[
        int | None, typer.Option(min=0, help="Newest events that the agent still sees; left out: as set.")
    ] = None,
    json: Json = False,
) -> None:
    """Play recorded runs through the daemon in memory, on virtual time, and show the packet of every step."""
    with advising():
        settings = load(config, policy={"budget_tokens": budget, "window_events": view})
        known = read(file)
        chosen = known[skip : skip + runs]
        if not chosen:
            raise NotFound(
                f"no run is left to play: {file} has {len(known)}.", f"Let --skip be less than {len(known)}."
            )
        seen = settings.policy.window_events
        played = awaited(_play_all(assembly.replay(settings, RecordedMeasures()), chosen, seen))
    if json:
        print_json([_row(run, one) for run, one in played])
    else:
        _show(played)


async def _play_all(replayed: Replay, chosen: list[Trajectory], view: int) -> list[tuple[Trajectory, Played]]:
    played: list[tuple[Trajectory, Played]] = []
    async with replayed.open():
        with Progress(console=err, transient=True) as progress:
            for run in progress.track(chosen, description="replaying"):
                scope = Scope("replay", "agent", run.id[:100])
                played += [(run, one) async for one in play(replayed, run, scope, view=view)]
    return played


def _row(run: Trajectory, one: Played) -> dict[str, object]:
    return {
        "run": run.id,
        "step": one.call.step,
        "tool": one.call.tool,
        "needed": sorted(one.call.needed),
        "carried": sorted(one.carried),
        "waiting_version": one.waiting.version if one.waiting else None,
        "packet": None if one.packet is None else one.packet.model_dump(mode="json"),
    }


def _show(played: list[tuple[Trajectory, Played]]) -> None:
    table = Table(
        Column("run", overflow="fold"),
        "step",
        "tool",
        "packet before the step",
        "tokens",
        "needed",
        "in the packet",
        box=None,
    )
    for run, one in played:
        waiting = f"version {one.waiting.version}" if one.waiting else "none"
        tokens = str(one.packet.tokens) if one.packet else "-"
        table.add_row(
            run.id, one.call.step, one.call.tool, waiting, tokens, str(len(one.call.needed)), str(len(one.carried))
        )
    out.print(table)
    needed = sum(len(one.call.needed) for _, one in played)
    held = sum(len(one.carried) for _, one in played)
    before = sum(one.waiting is not None for _, one in played)
    share = f"{held / needed:.0%}" if needed else "none needed"
    out.print(f"{before} of {len(played)} packets were there before their step;", end=" ")
    out.print(f"needed values in them: {held} of {needed} ({share})")
