"""Commands of workflows: what recorded or lived runs teach, and what that would have been worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from beforehand.cli.evaluate import drawn
from beforehand.cli.journals import entries, settings_at
from beforehand.cli.shared import Config, Json, advising, awaited, load, out, print_json, spelled, tenant_and_agent
from beforehand.errors import NotFound
from beforehand.memory.flows import Flows
from beforehand.memory.session import Session
from beforehand.memory.workflows import Workflow
from beforehand.messages.topics import Scope
from beforehand.pipeline.reading import reading_of
from beforehand.settings import Settings
from beforehand.training.experience import learn, worth
from beforehand.training.trajectories import read

commands = typer.Typer(no_args_is_help=True, help="Workflows: what runs that went well have in common.")
_RECORDED = (".jsonl", ".gz")


def add_to(app: typer.Typer) -> None:
    """Mount the group."""
    app.add_typer(commands, name="workflows")


@commands.command()
def induce(
    source: Annotated[Path, typer.Argument(help="Recorded runs (.jsonl or .jsonl.gz), or a daemon's journal.")],
    agent: Annotated[str | None, typer.Option(help="Only this agent of a journal, as tenant/agent.")] = None,
    task_type: Annotated[str | None, typer.Option(help="Only workflows of this sort of task.")] = None,
    retired: Annotated[bool, typer.Option("--retired", help="Only those that evidence has retired.")] = False,
    config: Config = None,
    json: Json = False,
) -> None:
    """The workflows that runs teach: the same that a daemon draws from its journal as they are lived."""
    with advising():
        if not source.is_file():
            raise NotFound(f"no file {source}.", "Name recorded runs (.jsonl, .jsonl.gz) or a journal.")
        if source.suffix in _RECORDED:
            known = {"recorded": _recorded(source)}
        else:
            known = awaited(_lived(source, agent, load(config)))
    rows = [
        (who, workflow)
        for who, flows in known.items()
        for workflow in flows.workflows(retired=retired)
        if task_type is None or workflow.task_type == task_type
    ]
    if json:
        print_json([{"agent": who, **asdict(workflow), "success": workflow.success} for who, workflow in rows])
    else:
        _show(rows)


@commands.command()
def measure(
    file: Annotated[Path, typer.Argument(help="Recorded runs (.jsonl or .jsonl.gz).")],
    split: Annotated[str | None, typer.Option(help="Only runs of this split.")] = None,
    runs: Annotated[int | None, typer.Option(min=1, help="So many runs, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(help="Draws the runs and the calls that are left out of plans.")] = 0,
    json: Json = False,
) -> None:
    """What the runs before each run would have said before its steps, by how many of its sort there had been.

    Next calls that were named and right; calls taken from a plan that were noticed; whole plans that were found
    wanting all the same.
    """
    with advising():
        bands = worth(drawn(read(file), split, runs, seed), seed)
    rows = [{"earlier_runs": f"{band}+", **asdict(counted)} for band, counted in bands.items()]
    if json:
        print_json({"file": file.name, "rows": rows})
        return
    table = Table(*rows[0], box=None)
    for row in rows:
        table.add_row(*map(str, row.values()))
    out.print(table)


def _recorded(file: Path) -> Flows:
    flows = Flows()
    for run in read(file):
        learn(flows, run)
    return flows


async def _lived(path: Path, agent: str | None, settings: Settings) -> dict[str, Flows]:
    """The workflow memory of each agent, folded anew from the journal. Raises NotFound."""
    tenant, name = (None, None) if agent is None else tenant_and_agent(agent)
    known: dict[str, Flows] = {}
    sessions: dict[Scope, Session] = {}
    reading = reading_of(settings)
    async for stored in entries(settings_at(path, settings.journal), tenant, name):
        entry = reading.screened(stored)
        scope = entry.scope
        session = sessions.setdefault(scope, Session(scope, 0))
        if session.knows(entry) is None:
            session.take(entry)
            known.setdefault(spelled(scope.tenant, scope.agent), Flows()).take(entry, session)
    if agent is not None and not known:
        raise NotFound(f"{path} has nothing of {agent}.", "Look at the names: they are those of the topics.")
    return known


def _show(rows: list[tuple[str, Workflow]]) -> None:
    table = Table("agent", "workflow", "version", "went well", "steps", "risks", box=None)
    for who, workflow in rows:
        table.add_row(who, workflow.name, str(workflow.version), _rate(workflow), *_columns(workflow))
    out.print(table)
    out.print(f"{len(rows)} workflows")


def _rate(workflow: Workflow) -> str:
    _, low, high = workflow.success
    return f"{workflow.support} of {workflow.runs} ({low:.0%} to {high:.0%})"


def _columns(workflow: Workflow) -> Iterator[str]:
    yield " > ".join(workflow.steps)
    yield workflow.retired or "; ".join(
        f"{risk.tool} failed in {risk.failed} of {risk.tried}" for risk in workflow.risks
    )
