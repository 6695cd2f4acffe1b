"""`inspect timeline`: the segment tree over an agent's events, rebuilt from its journal."""

from __future__ import annotations

from datetime import datetime
from math import isfinite
from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from beforehand.cli.journals import entries
from beforehand.cli.shared import (
    Agent,
    Config,
    Journal,
    Json,
    advising,
    awaited,
    load,
    out,
    print_json,
    tenant_and_agent,
)
from beforehand.errors import NotFound
from beforehand.index.timeline import TreeRow
from beforehand.memory.agent import AgentMemory
from beforehand.memory.looking_back import Reflection
from beforehand.messages.values import moment
from beforehand.pipeline.reading import reading_of
from beforehand.settings import Settings

_TOOLS = 3
"""Tools of a stretch that are named, the most frequent."""

inspect_app = typer.Typer(no_args_is_help=True, help="What memory is made of.")


@inspect_app.command()
def timeline(
    agent: Agent,
    run: Annotated[str | None, typer.Argument(help="Run; left out: all of the agent's.", show_default=False)] = None,
    depth: Annotated[int, typer.Option(min=0, max=8, help="Levels below the whole.")] = 2,
    config: Config = None,
    journal: Journal = None,
    json: Json = False,
) -> None:
    """The segment tree over the events: ranges, times, errors, actions, importance and tools. The daemon may run."""
    with advising():
        memory = awaited(agent_memory(load(config, journal={"path": journal}), agent, run))
    rows = memory.timeline.render(depth)
    tools = memory.codes.words("tool")
    if json:
        print_json({"agent": agent, "run": run, "tree": [_plain(row, tools) for row in rows]})
    else:
        out.print(_drawn(agent if run is None else f"{agent}/{run}", rows, tools))


@inspect_app.command()
def reflections(
    agent: Agent,
    run: Annotated[str | None, typer.Argument(help="Run; left out: all of the agent's.", show_default=False)] = None,
    config: Config = None,
    journal: Journal = None,
    json: Json = False,
) -> None:
    """What steps and runs taught: what was tried, what came of it, what to do otherwise. The daemon may run."""
    with advising():
        memory = awaited(agent_memory(load(config, journal={"path": journal}), agent, run))
    found = memory.reflections.all()
    if json:
        print_json({"agent": agent, "run": run, "reflections": [_lesson(one, memory) for one in found]})
        return
    for one in found:
        where = f"{one.run}/{one.step}" if one.step else one.run
        out.print(Text.assemble((where, "bold"), f"  {one}  ", (one.authority, "dim")))
    if not found:
        out.print("Nothing failed, and the agent reflected on nothing.")


async def agent_memory(settings: Settings, agent: str, run: str | None) -> AgentMemory:
    """The agent's events, without vectors; of one run alone when it is named. Raises NotFound when there are none."""
    tenant, name = tenant_and_agent(agent)
    path = settings.journal.path
    if not path.is_file():
        raise NotFound(f"no journal {path}.", "Name the daemon's journal with --journal or --config.")
    memory = AgentMemory(tenant, name, None, reading_of(settings))
    async for entry in entries(settings.journal, tenant, name):
        if run is None or entry.scope.run == run:
            memory.take(entry)
    if not memory.events:
        whose = agent if run is None else f"run {run!r} of {agent}"
        raise NotFound(f"{path} has no event of {whose}.", "Look at the names: they are those of the topics.")
    return memory


def _lesson(one: Reflection, memory: AgentMemory) -> dict[str, Any]:
    """One reflection for machines."""
    return {
        "run": one.run,
        "step": one.step or None,
        "tool": one.tool,
        "goal": one.goal,
        "ok": one.ok,
        "tried": [{"tool": each.tool, "failed": each.problem is not None} for each in one.attempts],
        "problem": one.problem,
        "otherwise": one.otherwise,
        "authority": one.authority,
        "events": [memory.events[row].id for row in one.rows],
    }


def _drawn(title: str, rows: list[TreeRow], tools: list[str]) -> Tree:
    whole = Tree(Text.assemble(f"{title}: ", _line(rows[0], tools)))
    above = [whole]
    for row in rows[1:]:
        del above[row.depth :]
        above.append(above[-1].add(_line(row, tools)))
    return whole


def _line(row: TreeRow, tools: list[str]) -> Text:
    plain = _plain(row, tools)
    times = f"{_written(plain['from'])} to {_written(plain['to'])}" if plain["from"] else "all erased"
    parts = [
        f"  {times}  {plain['events']:,} events",
        f"{plain['errors']:,} errors" if plain["errors"] else "",
        f"{plain['actions']:,} actions" if plain["actions"] else "",
        f"importance {plain['importance_mean']:.2f}, at most {plain['importance_max']:.2f}" if plain["events"] else "",
        ", ".join(f"{tool} {count:,}" for tool, count in list(plain["tools"].items())[:_TOOLS]),
        f"changed by revision {plain['changed']:,}" if plain["changed"] else "",
    ]
    told = "; ".join(part for part in parts if part)
    return Text.assemble((f"{row.start:,}-{row.stop - 1:,}", "bold"), told)


def _plain(row: TreeRow, tools: list[str]) -> dict[str, Any]:
    """One stretch for machines: rows start, ..., stop - 1."""
    whole = row.aggregate
    return {
        "depth": row.depth,
        "level": row.level,
        "start": row.start,
        "stop": row.stop,
        "from": None if row.from_us is None else moment(row.from_us),
        "to": None if row.to_us is None else moment(row.to_us),
        "events": whole.events,
        "errors": whole.errors,
        "actions": whole.actions,
        "importance_mean": whole.sum_importance / max(whole.events, 1),
        "importance_max": whole.max_importance if isfinite(whole.max_importance) else None,
        "changed": whole.changed,
        "tools": {tools[code]: count for code, count in row.tools.items() if tools[code]},
    }


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"
