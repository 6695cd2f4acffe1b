"""Commands that show facts: `facts` in three views, `history` of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from beforehand.backends.clocks import SystemClock
from beforehand.cli.journals import entries
from beforehand.cli.keep import existing
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
from beforehand.memory.agent import AgentMemory
from beforehand.memory.claims import Claim
from beforehand.memory.history import Told, history
from beforehand.memory.record import FOREVER, Record, Standing
from beforehand.messages.emptied import erased_at
from beforehand.messages.values import instant, micros, moment, rfc3339
from beforehand.pipeline.claimed import note_of
from beforehand.pipeline.reading import reading_of


class View(StrEnum):
    """What is shown of facts."""

    ACTIVE = "active"
    AUDIT = "audit"
    COMPLIANCE = "compliance"


def add_to(app: typer.Typer) -> None:
    """Mount the commands."""
    app.command()(facts)
    app.command(name="history")(history_of)


def facts(
    agent: Agent,
    view: Annotated[
        View, typer.Option(help="active: what stands; audit: every claim; compliance: whose data is held, no values.")
    ] = View.ACTIVE,
    subject: Annotated[str | None, typer.Option(help="Only of this subject.")] = None,
    as_of: Annotated[str | None, typer.Option(help="What held in the world then (RFC 3339).")] = None,
    known_at: Annotated[str | None, typer.Option(help="As far as it was known then (RFC 3339).")] = None,
    config: Config = None,
    journal: Journal = None,
    json: Json = False,
) -> None:
    """What is known of whom, from the journal; the daemon may run."""
    with advising():
        memory, erased = _read(config, journal, agent)
        at_us, known_us = _time(as_of, SystemClock().now_us()), _time(known_at, FOREVER)
    records = [one for one in memory.facts.records() if subject is None or _is_of(one, subject)]
    match view:
        case View.ACTIVE:
            rows = [_standing(one, found, at_us) for one in records if (found := one.at(at_us, known_us)) is not None]
        case View.AUDIT:
            rows = [_claimed(told) for one in records for told in history(one, at_us)]
        case View.COMPLIANCE:
            rows = [*_held(records), *_gone(erased)]
    _show(rows, json=json)


def history_of(
    agent: Agent,
    subject: Annotated[str, typer.Argument(help="Whom or what it is about.")],
    attribute: Annotated[str, typer.Argument(help="Which property.")],
    space: Annotated[str, typer.Option(help="Space of the fact.")] = "",
    config: Config = None,
    journal: Journal = None,
    json: Json = False,
) -> None:
    """Every claim of one fact: from when until when it held, who said it when, and what replaced it."""
    with advising():
        memory, _ = _read(config, journal, agent)
        record = memory.facts.record(subject, attribute, space)
        if record is None:
            known = ", ".join(
                sorted({f"{one.claims[0].key[0]} / {one.claims[0].key[1]}" for one in memory.facts.records()})
            )
            raise NotFound(f"nothing was claimed of {subject} / {attribute}.", f"There are: {known[:500] or 'none'}.")
    _show([_claimed(told) for told in history(record, SystemClock().now_us())], json=json)


def _read(config: Path | None, journal: Path | None, agent: str) -> tuple[AgentMemory, Counter[str]]:
    """The agent's memory without vectors, and how many of its messages were erased when."""
    tenant, name = tenant_and_agent(agent)
    settings = load(config, journal={"path": existing(config, journal)})
    memory = AgentMemory(tenant, name, None, reading_of(settings))
    erased: Counter[str] = Counter()

    async def fold() -> None:
        async for entry in entries(settings.journal, tenant, name):
            memory.take(entry)
            at = erased_at(entry.body)
            if at is not None:
                erased[at] += 1

    awaited(fold())
    if not memory.sessions:
        raise NotFound(f"{settings.journal.path} has nothing of {agent}.", "Look at the names: they are of the topics.")
    return memory, erased


def _time(written: str | None, otherwise: int) -> int:
    if written is None:
        return otherwise
    try:
        return micros(instant(written))
    except ValueError as error:
        raise NotFound(f"{written!r} is no time: {error}.", "Write RFC 3339 with an offset.") from None


def _is_of(record: Record, subject: str) -> bool:
    return record.claims[0].key[0].casefold() == subject.casefold()


def _standing(record: Record, found: Standing, at_us: int) -> dict[str, Any]:
    claim = found.claim
    return {
        **_key(claim),
        "value": claim.value,
        "from": _written(claim.from_us),
        "until": _written(claim.to_us),
        "by": claim.authority,
        "known": note_of(record, at_us),
        "contradicted": "; ".join(f"{other.authority}: {other.value}" for other in found.conflicts),
    }


def _claimed(told: Told) -> dict[str, Any]:
    claim = told.claim
    return {
        **_key(claim),
        "value": claim.value,
        "from": _written(claim.from_us),
        "until": _written(told.until_us),
        "recorded": _written(claim.recorded_us),
        "by": claim.authority,
        "origin": claim.origin,
        "event": claim.event_id,
        "fate": told.fate,
        "through": "" if told.by is None else told.by.event_id,
    }


def _held(records: list[Record]) -> Iterator[dict[str, Any]]:
    """Per subject: how much is held, from whom, since when; no values."""
    of_subject: dict[str, list[Claim]] = {}
    for record in records:
        of_subject.setdefault(record.claims[0].key[0], []).extend(record.claims)
    for subject, claims in of_subject.items():
        yield {
            "subject": subject,
            "attributes": len({claim.key[1].casefold() for claim in claims}),
            "claims": len(claims),
            "by": ", ".join(sorted({claim.authority for claim in claims})),
            "first recorded": _written(min(claim.recorded_us for claim in claims)),
            "last recorded": _written(max(claim.recorded_us for claim in claims)),
        }


def _gone(erased: Counter[str]) -> Iterator[dict[str, Any]]:
    for at, messages in sorted(erased.items()):
        yield {"subject": "(erased)", "claims": 0, "messages": messages, "last recorded": at}


def _key(claim: Claim) -> dict[str, Any]:
    subject, attribute, space = claim.key
    return {"subject": subject, "attribute": attribute, **({"space": space} if space else {})}


def _written(at_us: int | None) -> str:
    return "" if at_us is None else rfc3339(micros(moment(at_us).replace(microsecond=0)))


def _show(rows: list[dict[str, Any]], *, json: bool) -> None:
    if json:
        print_json(rows)
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    table = Table(*columns, box=None)
    for row in rows:
        table.add_row(*(str(row.get(name, "")) for name in columns))
    out.print(table)
    out.print(f"{len(rows)} rows")
