"""`inspect tree` and `inspect forgetting`: the weighted memory tree of a run, and what pruning would have cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.evaluate import PLAYED, drawn
from beforehand.cli.inspecting import agent_memory, inspect_app
from beforehand.cli.shared import Agent, Config, Journal, Json, advising, awaited, load, out, print_json
from beforehand.memory.session import Session
from beforehand.memory.trees import Growth, Trees
from beforehand.memory.weights import Node
from beforehand.pipeline.bearing import growth_of
from beforehand.settings import Settings
from beforehand.training.collecting import Setting
from beforehand.training.forgetting import Forgotten, forgetting
from beforehand.training.trajectories import Trajectory, read

_NAME_CHARS = 80


def add_to(app: typer.Typer) -> None:
    """Mount `inspect` with all its commands."""
    app.add_typer(inspect_app, name="inspect")


@inspect_app.command(name="tree")
def tree(
    agent: Agent,
    run: Annotated[str, typer.Argument(help="Run.")],
    config: Config = None,
    journal: Journal = None,
    json: Json = False,
) -> None:
    """The weighted tree of a run: what hangs below which step, what it weighs, what is archived. The daemon may run."""
    with advising():
        settings = load(config, journal={"path": journal})
        memory = awaited(agent_memory(settings, agent, run))
        session = memory.session(run)
        grown = Trees(growth_of(settings.memory)).of(memory, session)
    active = grown.at(session.itinerary.current)
    weights = growth_of(settings.memory).weights
    if json:
        rows = [_plain(node, node.weight(grown.events, weights)) for node in grown.nodes]
        print_json({"run": run, "live": grown.live, "depth": grown.depth, "active": active.place, "nodes": rows})
        return
    drawn_below = {grown.root.place: Tree(f"run {run}: {grown.live} live of {len(grown.nodes)} nodes")}
    for node in grown.nodes[1:]:
        above = drawn_below[node.parent.place if node.parent is not None else 0]
        name = _step_name(session, node.name) if node.kind == "step" else node.name
        weight = node.weight(grown.events, weights)
        drawn_below[node.place] = above.add(_line(node, name, weight, active=node is active))
    out.print(drawn_below[grown.root.place])


@inspect_app.command(name="forgetting")
def measure(
    file: Annotated[Path, typer.Argument(help="Recorded runs (.jsonl or .jsonl.gz).")],
    live: Annotated[
        list[int] | None, typer.Option(min=1, help="Most live nodes; may be given several times; left out: as set.")
    ] = None,
    setting: Annotated[Setting, typer.Option(help=PLAYED)] = Setting.INTERLEAVED,
    split: Annotated[str | None, typer.Option(help="Only runs of this split.")] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="So many runs, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(help="Draws the runs and weaves them.")] = 0,
    config: Config = None,
    json: Json = False,
) -> None:
    """How many values that steps of recorded runs needed would have been pruned away before them."""
    with advising():
        settings = load(config, policy={"model": "none"})
        chosen = drawn(read(file), split, runs, seed)
        rows = []
        for most in live or [settings.memory.tree_live_nodes]:
            growth = Growth(growth_of(settings.memory).weights, most)
            counted = awaited(_forgetting(settings, chosen, setting, growth, seed))
            rows.append({"live_nodes": most, **asdict(counted), "forgotten": _share(counted)})
    if json:
        print_json({"file": file.name, "setting": setting, "rows": rows})
        return
    for row in rows:
        out.print(", ".join(f"{name} {value}" for name, value in row.items()))


async def _forgetting(
    settings: Settings, chosen: Sequence[Trajectory], setting: Setting, growth: Growth, seed: int
) -> Forgotten:
    replayed = assembly.replay(settings, RecordedMeasures())
    async with replayed.open():
        return await forgetting(replayed, chosen, setting, growth, name="forgetting", seed=seed)


def _share(counted: Forgotten) -> float | None:
    return round(counted.lost / counted.held, 4) if counted.held else None


def _step_name(session: Session, step_id: str) -> str:
    """A step's id, and what was said of it."""
    step = session.itinerary.steps.get(step_id)
    told = "" if step is None else step.goal or step.tool or ""
    return f"{step_id}: {told}" if told else step_id


def _line(node: Node, name: str, weight: float, *, active: bool) -> Text:
    name = name if len(name) <= _NAME_CHARS else f"{name[:_NAME_CHARS]}…"
    parts = [f" {weight:.2f}", name]
    parts += [f"used {node.uses}"] if node.uses else []
    parts += [word for word, holds in (("active", active), ("archived", node.archived)) if holds]
    return Text.assemble((node.kind, "bold"), "  ".join(parts))


def _plain(node: Node, weight: float) -> dict[str, Any]:
    return {
        "node": node.place,
        "parent": None if node.parent is None else node.parent.place,
        "kind": node.kind,
        "name": node.name,
        "weight": round(weight, 4),
        "uses": node.uses,
        "protected": node.protected,
        "archived": node.archived,
        "rows": node.rows,
    }
