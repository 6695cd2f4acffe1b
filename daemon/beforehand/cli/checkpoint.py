"""Commands that look at segments, the memories that are kept beside the journal: `checkpoint list` and `verify`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import typer
from rich.table import Table

from beforehand import assembly
from beforehand.backends.clocks import SystemClock
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.keep import existing
from beforehand.cli.shared import (
    FAILED,
    Config,
    Journal,
    Json,
    advising,
    awaited,
    load,
    out,
    print_json,
    spelled,
    tenant_and_agent,
)
from beforehand.errors import NotFound
from beforehand.pipeline.bearing import growth_of
from beforehand.pipeline.hot import Key
from beforehand.pipeline.loading import Loading
from beforehand.pipeline.verifying import Checkpoint, checkpoints, verified
from beforehand.settings import Settings

_CODE_CHARS = 12
_Agents = Annotated[
    list[str] | None, typer.Argument(help="Agents, as tenant/agent; left out: all.", show_default=False)
]

commands = typer.Typer(no_args_is_help=True, help="Memories kept beside the journal, so that a restart is short.")


def add_to(app: typer.Typer) -> None:
    """Mount the group."""
    app.add_typer(commands, name="checkpoint")


@commands.command(name="list")
def list_checkpoints(
    agents: _Agents = None, config: Config = None, journal: Journal = None, json: Json = False
) -> None:
    """How far each agent's checkpoint reaches, and whether its next first touch would use it. The daemon may run."""
    with advising():
        settings = load(config, journal={"path": existing(config, journal)})
        found = awaited(_listed(settings, agents or []))
    if json:
        print_json(found)
        return
    columns = ("agent", "position", "events", "size", "age", "code", "used")
    table = Table(*columns, box=None)
    for row in found:
        table.add_row(*(_cell(name, row) for name in columns))
    out.print(table)
    out.print(f"{sum(row['used'] for row in found)} of {len(found)} agents come back from a checkpoint")


@commands.command()
def verify(agents: _Agents = None, config: Config = None, journal: Journal = None, json: Json = False) -> None:
    """Compare each checkpoint with the journal replayed: every projection, and the tree of every run.

    The daemon may run. Exit code 1 when any differs, or is damaged.
    """
    with advising():
        settings = load(config, journal={"path": existing(config, journal)})
        rows = awaited(_verified(settings, agents or []))
    if json:
        print_json(rows)
    else:
        for row in rows:
            _tell(row)
    if any(row["damaged"] or row["differences"] for row in rows):
        raise typer.Exit(FAILED)


async def _listed(settings: Settings, agents: list[str]) -> list[dict[str, Any]]:
    async with _loading(settings) as loading:
        now_s = SystemClock().now_us() / 1e6
        return [_plain(one, now_s) async for one in checkpoints(loading, await _keys(loading, agents))]


async def _verified(settings: Settings, agents: list[str]) -> list[dict[str, Any]]:
    growth, rows = growth_of(settings.memory), []
    async with _loading(settings) as loading:
        now_s = SystemClock().now_us() / 1e6
        async for one in checkpoints(loading, await _keys(loading, agents)):
            checked = await verified(one, loading, growth)
            rows.append({**_plain(checked, now_s), "differences": [found._asdict() for found in checked.found]})
    return rows


@asynccontextmanager
async def _loading(settings: Settings) -> AsyncIterator[Loading]:
    """What a daemon with these settings would make memories with. Raises NotFound when it keeps no segments."""
    journal, memories = assembly.memories(settings, RecordedMeasures())
    if memories.keeping.loading.segments is None:
        raise NotFound("memory.segments_bytes is 0: no checkpoints are kept.", "Set it to the bytes they may take.")
    async with journal.open():
        yield memories.keeping.loading


async def _keys(loading: Loading, agents: list[str]) -> list[Key]:
    known = await loading.journal.agents()
    asked = [tenant_and_agent(agent) for agent in agents]
    unknown = [spelled(tenant, agent) for tenant, agent in asked if (tenant, agent) not in set(known)]
    if unknown:
        raise NotFound(f"the journal has nothing of {unknown[0]}.", "Look at the names: they are of the topics.")
    return asked or known


def _plain(one: Checkpoint, now_s: float) -> dict[str, Any]:
    """One agent for machines; sizes in bytes, times in seconds."""
    kept = one.kept
    about = {} if kept is None else {"position": kept.upto, "events": kept.events, "bytes": kept.bytes}
    readable = kept is not None and bool(kept.code)
    return {
        "agent": spelled(one.tenant, one.agent),
        **about,
        "age_s": round(now_s - kept.written_s, 1) if kept is not None and readable else None,
        "code": kept.code if kept is not None and readable else None,
        "used": one.used,
        "damaged": kept is not None and kept.damaged,
        "reason": "there is none" if kept is None else kept.fault,
    }


def _cell(name: str, row: dict[str, Any]) -> str:
    """A column for people."""
    match name:
        case "size":
            return f"{row['bytes'] / 1e6:,.2f} MB" if "bytes" in row else ""
        case "age":
            return "" if row["age_s"] is None else f"{row['age_s']:,.0f} s"
        case "code":
            return (row["code"] or "")[:_CODE_CHARS]
        case "used":
            return "yes" if row["used"] else f"no: {row['reason']}"
        case _:
            return f"{row.get(name, '')}"


def _tell(row: dict[str, Any]) -> None:
    """What verifying found of one agent."""
    if not row["used"]:
        out.print(f"{row['agent']}: not used: {row['reason']}", soft_wrap=True)
        return
    found = row["differences"]
    holds = f"{row['agent']}: {row['events']:,} events up to position {row['position']:,}"
    out.print(f"{holds}: {f'{len(found):,} differences' if found else 'as replayed'}", soft_wrap=True)
    for one in found:
        where = f"  {one['part']}: {one['place']}"
        out.print(f"{where}: kept {one['one']}, replayed {one['other']}", soft_wrap=True)
