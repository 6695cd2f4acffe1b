"""Commands that ask: status and recall of a running daemon, explain from its journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, get_args

import orjson
import typer
from rich.table import Table
from rich.text import Text

from beforehand.backends.journal.sqlite import SqliteJournal
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import from_settings
from beforehand.cli.shared import (
    FAILED,
    Agent,
    Config,
    Journal,
    Json,
    advising,
    awaited,
    err,
    load,
    out,
    print_json,
    read_name,
    tenant_and_agent,
)
from beforehand.client import connect
from beforehand.errors import BusError, NotFound
from beforehand.messages import topics
from beforehand.messages.inbound import Mode
from beforehand.messages.outbound import Packet, Reply, Status
from beforehand.messages.topics import Scope
from beforehand.ports import PacketRecord
from beforehand.settings import Settings

Host = Annotated[str | None, typer.Option(help="Broker; left out: as set, else 127.0.0.1.")]
Port = Annotated[int | None, typer.Option(help="Broker port; left out: as set, else 1883.")]
_RECALL_MS = 5_000.0
_PLACE = ("tenant", "agent", "run", "step")


def add_to(app: typer.Typer) -> None:
    """Mount the commands."""
    app.command()(status)
    app.command()(recall)
    app.command()(explain)


def status(config: Config = None, host: Host = None, port: Port = None, json: Json = False) -> None:
    """What the daemon says of itself. Exit code 0 when it is online, 1 otherwise."""
    with advising():
        said = awaited(_status(load(config, broker={"host": host, "port": port})))
    if json:
        print_json(said.model_dump(mode="json"))
    else:
        out.print(Text.assemble((said.state, "bold"), f": {said.reason}" if said.reason else ""))
        if said.since is not None:
            out.print(f"version {said.version}, since {said.since:%Y-%m-%d %H:%M:%S} UTC")
    if said.state != "online":
        raise typer.Exit(FAILED)


def recall(
    agent: Agent,
    run: Annotated[str, typer.Argument(help="Run.")],
    query: Annotated[str, typer.Argument(help="What to look for.")],
    mode: Annotated[str, typer.Option(help=f"{', '.join(get_args(Mode))}.")] = "auto",
    k: Annotated[int, typer.Option(min=1, help="Answers at most.")] = 10,
    config: Config = None,
    host: Host = None,
    port: Port = None,
    json: Json = False,
) -> None:
    """Ask a running daemon what an agent's memory holds."""
    with advising():
        tenant, name = tenant_and_agent(agent)
        settings = load(config, broker={"host": host, "port": port})
        reply = awaited(_recall(settings, (tenant, name, run), query, mode=mode, k=k))
    if json:
        print_json(reply.model_dump(mode="json"))
    else:
        _show_reply(reply)
    if reply.status == "error":
        raise typer.Exit(FAILED)


def explain(
    packet: Annotated[
        str, typer.Argument(help="Id of a packet; or tenant/agent/run/step as topics spell them: the step's newest.")
    ],
    config: Config = None,
    journal: Journal = None,
    json: Json = False,
) -> None:
    """Why a packet says what it says: every rule that fired, every candidate, the whole arithmetic."""
    with advising():
        settings = load(config, journal={"path": journal})
        record = awaited(_packet(settings, packet))
    if json:
        print_json({"packet": record.packet.model_dump(mode="json"), "decision": dict(record.decision)})
        return
    _show_packet(record.packet)
    _show_decision(record)


async def _status(settings: Settings) -> Status:
    """The retained status; `offline`, with the reason, when there is none or no broker."""
    connection = Connection(from_settings(settings.broker, client_id=""))
    try:
        await connection.open()
        await connection.subscribe([topics.of_status(settings.broker.name, settings.broker.root)])
        async with asyncio.timeout(2.0):
            [arrival, *_] = await connection.receive()
        return Status.model_validate(orjson.loads(arrival.payload))
    except TimeoutError:
        return Status(state="offline", reason=f"no daemon {settings.broker.name!r} has a status on this broker")
    except BusError as error:
        return Status(state="offline", reason=str(error))
    finally:
        connection.drop()


async def _recall(settings: Settings, scope: tuple[str, str, str], query: str, *, mode: str, k: int) -> Reply:
    tenant, agent, run = scope
    logging.getLogger("beforehand.client").addHandler(logging.NullHandler())  # the reply says what is wrong
    async with connect(tenant=tenant, agent=agent, broker=settings.broker) as client:
        return await client.run(run).recall(query, deadline_ms=_RECALL_MS, mode=mode, k=k)


async def _packet(settings: Settings, named: str) -> PacketRecord:
    if not settings.journal.path.is_file():
        raise NotFound(f"no journal {settings.journal.path}.", "Name the daemon's journal with --journal or --config.")
    journal = SqliteJournal(settings.journal, RecordedMeasures())
    async with journal.open():
        of_step = named.count("/") == len(_PLACE) - 1
        record = await (_newest(journal, named) if of_step else journal.packet(read_name(named, "packet")))
    if record is None:
        advice = "Copy `id` from the packet message, or name tenant/agent/run/step."
        raise NotFound(f"no packet {named!r} in {settings.journal.path}.", advice)
    return record


async def _newest(journal: SqliteJournal, named: str) -> PacketRecord | None:
    """The newest packet of a step. Raises Refusal for a name that is not spelt as in a topic."""
    *scope, step = (topics.decode(level, name) for level, name in zip(named.split("/"), _PLACE, strict=True))
    found = await journal.packets(Scope(*scope))
    return next((record for record in reversed(found) if record.packet.step == step), None)


def _show_reply(reply: Reply) -> None:
    if reply.reason:
        err.print(reply.reason)
    if reply.items:
        table = Table("channel", "at", "source", "text", box=None)
        for item in reply.items:
            at = f"{item.at:%Y-%m-%d %H:%M:%S}" if item.at else ""
            table.add_row(item.channel, at, item.source or "", item.text)
        out.print(table)
    out.print(f"{len(reply.items)} of {reply.searched} events; {reply.status}")


def _show_packet(packet: Packet) -> None:
    where = f" for step {packet.step!r} of {packet.tenant}/{packet.agent}/{packet.run}"
    out.print(Text.assemble((packet.id, "bold"), where))
    final = "final" if packet.final else "prepared"
    out.print(f"{packet.status}, version {packet.version}, {final}; policy {packet.policy}")
    out.print(f"{packet.tokens} of {packet.budget_tokens} tokens")
    if packet.reason:
        out.print(packet.reason)
    if packet.rendered:
        out.print(packet.rendered, soft_wrap=True)


def _show_decision(record: PacketRecord) -> None:
    decision = record.decision
    for rule in decision["rules"]:
        out.print(
            f"rule {rule['name']} fired with {rule['score']:.2f}" + (f": {rule['warning']}" if rule["warning"] else "")
        )
    for fault in decision.get("faults", ()):
        out.print(f"rule {fault['name']} failed: {fault['problem']}")
    if decision["considered"]:
        names = ("passage", "found by", "rules", "model", "past use", "probability", "worth", "open needs", "left out")
        table = Table(*names, box=None)
        for row in _considered(decision["considered"]):
            table.add_row(*row)
        out.print(table)
    out.print(
        f"{decision['candidates']} candidates from {decision['finds']} finds among {record.packet.searched} events"
    )
    if decision.get("expected") is not None:
        told = "; so few that the packet is short" if decision["brief"] else ""
        out.print(f"{decision['expected']:.2f} of them are expected to hold something needed{told}")


def _considered(told: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The rows of the table, from the columns that trigger.decision writes."""
    for number, passage in enumerate(told["passage"]):
        yield (
            passage,
            _named(told["channels"], number),
            _named(told["rules"], number),
            f"{told['model'][number]:.2f}",
            f"x {told['lift'][number]:.2f}",
            f"{told['probability'][number]:.2f}",
            f"{told['worth'][number]:+.2f}",
            f"x {told['open'][number]:.2f}" if "open" in told else "",
            told["left_out"][number] or "",
        )


def _named(columns: Mapping[str, Sequence[float]], number: int) -> str:
    """The names that have something to say about a candidate, each with its number."""
    return ", ".join(f"{name} {column[number]:.2f}" for name, column in columns.items() if column[number] > 0)
