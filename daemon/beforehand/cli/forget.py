"""The command `forget`: erase, clear what the broker retains, and prove by a search that nothing is left."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import typer
from rich.text import Text

from beforehand import assembly
from beforehand.backends.clocks import SystemClock
from beforehand.backends.journal import erasing, scanning
from beforehand.backends.journal.choosing import OF_TOOL, UNKNOWN, Whom
from beforehand.backends.journal.erasing import Erased
from beforehand.backends.journal.keys import JournalKeys, keys_of
from beforehand.backends.journal.lock import journal_lock
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.mqtt.retained import Retained
from beforehand.cli.keep import existing
from beforehand.cli.shared import (
    FAILED,
    STATE,
    Config,
    Journal,
    Json,
    State,
    advising,
    awaited,
    load,
    out,
    print_json,
    tenant_or_agent,
)
from beforehand.errors import BusError, NotFound, SettingsError
from beforehand.lifecycle.serve import broker_for
from beforehand.memory.retention import Due
from beforehand.messages import topics
from beforehand.messages.inbound import Role
from beforehand.messages.values import rfc3339
from beforehand.settings import Settings

_NEVER: Final = "not looked at"
_ORIGINS: Final = (*get_args(Role), UNKNOWN)


@dataclass(slots=True)
class Report:
    """What was erased, what was searched, and what is left. verified: nothing is. seconds: of the search."""

    whom: dict[str, Any]
    messages: int
    packets: int
    dead_letters: int
    keys: int
    retained_cleared: int = 0
    files_searched: int = 0
    bytes_searched: int = 0
    retained_searched: int | str = _NEVER
    marks: int = 0
    left: dict[str, int] = field(default_factory=dict)
    said_by_others: int = 0
    seconds: float = 0.0
    verified: bool = False
    broker: str | None = None


def add_to(app: typer.Typer) -> None:
    """Mount the command."""
    app.command()(forget)


def forget(
    agent: Annotated[
        str | None, typer.Argument(help="Agent, as tenant/agent; or a tenant: all of its agents.", show_default=False)
    ] = None,
    subject: Annotated[str | None, typer.Option(help="All that names this person or thing.")] = None,
    run: Annotated[str | None, typer.Option(help="All of this run.")] = None,
    origin: Annotated[
        str | None,
        typer.Option(help="All that came from user, agent, tool, system, unknown or tool:NAME, and notes made of it."),
    ] = None,
    expired: Annotated[
        bool,
        typer.Option("--expired", help="What retention.periods keep no longer; without AGENT of everybody."),
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="All of the agent, or of the tenant.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    config: Config = None,
    journal: Journal = None,
    state: State = STATE,
    json: Json = False,
) -> None:
    """Erase a subject, an origin, a run, an agent, a tenant, or what is over, and search files and broker for it.

    The daemon must be stopped.

    Exit code 0 when nothing is left. Backups are reached when the journal is sealed; the outboxes of agents are not.
    """
    with advising():
        whom = _whom(agent, subject, run, origin, expired=expired, everything=everything)
        settings = load(config, journal={"path": existing(config, journal)})
        whom = replace(whom, due=_due(settings)) if expired else whom
        with journal_lock(settings.journal.path):
            keys = keys_of(settings.journal)
            wanted = partial(_wanted, whom=whom, settings=settings, dry_run=dry_run, yes=yes)
            done = erasing.erase(settings.journal.path, whom, _now(), keys, wanted)
            if not done.made:
                _tell_plan(done, json=json)
                return
            report = awaited(_proved(settings, state, whom, done, keys))
    if json:
        print_json(asdict(report))
    else:
        _tell(report)
    if not report.verified:
        raise typer.Exit(FAILED)


def _whom(
    named: str | None, subject: str | None, run: str | None, origin: str | None, *, expired: bool, everything: bool
) -> Whom:
    if sum(given is not None for given in (subject, run, origin)) + expired + everything != 1:
        raise NotFound("it is not said what to forget.", "Give one of --subject, --run, --origin, --expired and --all.")
    if origin is not None and origin not in _ORIGINS and (not origin.startswith(OF_TOOL) or origin == OF_TOOL):
        raise NotFound(f"{origin!r} is no origin.", f"Give {', '.join(_ORIGINS)}, or {OF_TOOL}NAME for one tool.")
    if named is None and not expired:
        raise NotFound("it is not said of whom.", "Write tenant/agent, such as shop/anna, or a tenant.")
    tenant, agent = (None, None) if named is None else tenant_or_agent(named)
    if agent is None and run is not None:
        raise NotFound(f"a run of {named!r} is of no agent.", "Write tenant/agent, such as shop/anna.")
    return Whom(tenant, agent, run, subject, origin)


def _due(settings: Settings) -> Due:
    retention = settings.retention.retention
    if retention.shortest_days is None:
        raise SettingsError("setting retention.periods: none is set.", "Set them, such as `periods = [{ days = 90 }]`.")
    return Due(retention, SystemClock().now_us())


def _drop_segments(settings: Settings, planned: Erased) -> None:
    """Before the journal: once that is empty, nothing tells any more whose segments hold what was erased."""
    kept = assembly.segments(settings, RecordedMeasures())
    if kept is not None:
        for tenant, agent in planned.agents:
            kept.drop(tenant, agent)


async def _proved(settings: Settings, state: Path, whom: Whom, done: Erased, keys: JournalKeys) -> Report:
    """What the journal has no more is cleared from the broker; then the search."""
    began_s, path = time.monotonic(), settings.journal.path
    meant = {**asdict(replace(whom, due=None)), "due": whom.due is not None}
    report = Report(meant, done.messages, done.packets, done.dead_letters, done.keys)
    try:
        await _clear(settings, state, whom, done, report)
    except BusError as error:
        report.broker = str(error)
    left = _search(settings, state, done, report, keys)
    if left:
        erasing.compact(path)
        left = _search(settings, state, done, report, keys)
    report.left |= left
    report.verified = not report.left and report.broker is None
    report.seconds = round(time.monotonic() - began_s, 3)
    return report


def _search(settings: Settings, state: Path, done: Erased, report: Report, keys: JournalKeys) -> dict[str, int]:
    """File to how many marks it has that nothing else in the journal says for itself."""
    path = settings.journal.path
    searched = scanning.scan([*scanning.beside(path), state], done.marks)
    others = scanning.still_said(path, set().union(*searched.found.values()), keys)
    report.files_searched, report.bytes_searched = searched.files, searched.size_bytes
    report.marks, report.said_by_others = len(done.marks), len(others)
    return {file: len(found - others) for file, found in searched.found.items() if found - others}


async def _clear(settings: Settings, state: Path, whom: Whom, done: Erased, report: Report) -> None:
    """Clear the packets that stand on their topics, and look at what the broker still retains of the agent."""
    async with broker_for(settings, state) as reached:
        retained = Retained(reached.broker)
        standing = await retained.packets(whom.tenant, whom.agent)
        gone = [
            topic
            for topic, payload in standing.items()
            if topics.step_of(topic) in done.told or any(mark in payload for mark in done.marks)
        ]
        await retained.clear(gone)
        report.retained_cleared = len(gone)
        left = await retained.packets(whom.tenant, whom.agent)
        report.retained_searched = len(left)
        report.left |= {topic: 1 for topic, payload in left.items() if any(mark in payload for mark in done.marks)}


def _wanted(planned: Erased, *, whom: Whom, settings: Settings, dry_run: bool, yes: bool) -> bool:
    """Whether it is to be done. Then the segments go first."""
    if dry_run:
        return False
    named = "/".join(whom.names) or f"{len(planned.agents):,} agents"
    asked = f"Erase {planned.messages:,} messages of {named}? It cannot be undone."
    wanted = yes or typer.confirm(asked, err=True)
    if wanted:
        _drop_segments(settings, planned)
    return wanted


def _tell_plan(planned: Erased, *, json: bool) -> None:
    counts = {"messages": planned.messages, "packets": planned.packets, "dead_letters": planned.dead_letters}
    if json:
        print_json(counts)
    else:
        named = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
        out.print(f"would erase {named}; nothing is changed")


def _tell(report: Report) -> None:
    out.print(f"erased {report.messages:,} messages, {report.packets:,} packets, {report.dead_letters:,} dead letters")
    if report.keys:
        out.print(f"destroyed {report.keys:,} keys: no copy of the journal can be read for what they sealed")
        out.print("replace the copies of the key store: an older one would undo this", soft_wrap=True)
    out.print(
        f"cleared {report.retained_cleared:,} retained packets, looked at {report.retained_searched} that are left"
    )
    size = f"{report.bytes_searched / 1e6:,.1f} MB in {report.files_searched} files"
    out.print(f"searched {size} for {report.marks} pieces of what was erased, in {report.seconds:.2f} s")
    if report.said_by_others:
        out.print(f"{report.said_by_others} more pieces are said by messages that were not erased", soft_wrap=True)
    for place, count in report.left.items():
        out.print(f"left: {count} in {place}", soft_wrap=True)
    if report.broker is not None:
        out.print(f"the broker was not looked at: {report.broker}", soft_wrap=True)
    if report.verified:
        out.print("nothing is left", style="bold")
    else:
        out.print(Text.assemble(("not verified", "bold red"), ": run it again when mended"))


def _now() -> str:
    return rfc3339(SystemClock().now_us())
