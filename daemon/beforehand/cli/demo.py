"""`beforehand demo`: a recorded run over MQTT, and the packet that waited for each step."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from beforehand import assembly, shipped
from beforehand.backends.embedders import StaticEmbedder
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.shared import Json, advising, awaited, out, print_json
from beforehand.client import Run, Told, connect
from beforehand.lifecycle.serve import broker_for, running
from beforehand.messages.outbound import Item, Packet
from beforehand.ports import Embedder
from beforehand.settings import Settings
from beforehand.training import baselines
from beforehand.training.needed import carried
from beforehand.training.trajectories import Call, Said, Trajectory, read, text_of

RECORDING: Final = Path(__file__).parent / "recordings" / "shop.jsonl"
_DEADLINE_MS: Final = 2_000.0
_SHOWN: Final = 6
_CHARS: Final = 64
_CHARS_LEAST: Final = 16
_MARGINS: Final = 6


@dataclass(slots=True)
class Score:
    """How many needed values each way of remembering had at hand, and what it took."""

    steps: int = 0
    packets_before_step: int = 0
    needed: int = 0
    found: dict[str, int] = field(default_factory=dict)
    tokens: int = 0

    def count(self, call: Call, told: Told, waiting: Packet | None, texts: dict[str, str]) -> None:
        """One step: what its call needed against every text that an agent could have had."""
        self.steps += 1
        self.packets_before_step += waiting is not None
        self.needed += len(call.needed)
        self.tokens += told.packet.tokens if told.packet else 0
        for name, text in texts.items():
            self.found[name] = self.found.get(name, 0) + len(carried(text, set(call.needed)))


def add_to(app: typer.Typer) -> None:
    """Mount the command."""
    app.command()(demo)


def demo(
    file: Annotated[Path, typer.Argument(help="Recorded runs; left out: a run of an online shop.")] = RECORDING,
    pace: Annotated[float, typer.Option(help="Seconds between two messages of the agent.")] = 0.15,
    budget: Annotated[int, typer.Option(help="Tokens of a packet.")] = 256,
    json: Json = False,
) -> None:
    """Play a recorded run of a real agent over MQTT and show the packet that was there before each step.

    Starts a broker and a daemon of its own; nothing is kept.
    """
    with advising(), tempfile.TemporaryDirectory(prefix="beforehand-demo-") as folder:
        settings = Settings.model_validate(
            {
                "broker": {"embedded_port": 0},
                "journal": {"path": Path(folder) / "journal.sqlite3"},
                "policy": {"budget_tokens": budget},
            }
        )
        score = awaited(_play(settings, Path(folder), read(file)[0], pace, quiet=json))
    if json:
        print_json(asdict(score))
    else:
        _summary(score)


async def _play(settings: Settings, folder: Path, trajectory: Trajectory, pace_s: float, *, quiet: bool) -> Score:
    score, measures = Score(), RecordedMeasures()
    async with (
        broker_for(settings, folder) as reachable,
        running(assembly.daemon(reachable, folder, measures)),
        connect(tenant="demo", agent="shop-assistant", broker=reachable.broker) as agent,
    ):
        await agent.connected()
        if not quiet:
            where = f"{reachable.broker.host}:{reachable.broker.port}"
            out.print(f"Broker and daemon run on {where}.")
            told = f" ({trajectory.source}) over MQTT, its plan first."
            out.print(Text.assemble("An agent replays ", (trajectory.id, "bold"), told))
        await _live(agent.run(trajectory.id), trajectory, pace_s, score, quiet=quiet)
        await agent.confirmed()
    return score


async def _live(run: Run, trajectory: Trajectory, pace_s: float, score: Score, *, quiet: bool) -> None:
    """As the agent would live it: the plan, then what happens, and before every step its packet."""
    calls = trajectory.calls()
    embedder = StaticEmbedder(shipped.folder("models") / "embedding")
    plan = trajectory.plan().message
    run.plan(plan["goal"], plan["steps"], revision=plan["revision"], task_type=plan["task_type"])
    for said in trajectory.messages():
        await asyncio.sleep(pace_s)
        if said.message.get("phase") != "begin" or said.call is None:
            _say(run, said)
            continue
        call = calls[said.call]
        waiting = run.prepared(call.step)
        told = await run.before_step(call.step, deadline_ms=_DEADLINE_MS)
        score.count(call, told, waiting, {"packets": told.text, **_others(trajectory, call, told, embedder)})
        if not quiet:
            _show(call, told, waiting)


def _others(trajectory: Trajectory, call: Call, told: Told, embedder: Embedder) -> dict[str, str]:
    """What the agent would have had without the daemon, for the same tokens."""
    budget = told.packet.budget_tokens if told.packet else 0
    past = [text_of(event) for event in trajectory.events[: call.index] if event["type"] != "call"]
    query = f"{call.goal} {' '.join(call.needs)}"
    return {
        "last 10 events": baselines.newest(past, budget),
        "similarity search on demand": baselines.similar(embedder, past, query, budget),
    }


def _say(run: Run, said: Said) -> None:
    fields = dict(said.message)
    if said.channel == "step":
        run.step(fields.pop("step"), fields.pop("phase"), **fields)
    else:
        run.event(fields.pop("kind"), fields.pop("text", ""), **fields)


def _show(call: Call, told: Told, waiting: Packet | None) -> None:
    out.print()
    needs = f"  needs {', '.join(call.needs) or 'nothing'}"
    out.print(Text.assemble((call.step, "bold cyan"), "  ", (call.tool, "bold"), needs))
    packet = told.packet
    if packet is None:
        out.print(f"  no packet: {told.reason}")
        return
    if waiting is not None:
        early_ms = (packet.created_at - waiting.created_at).total_seconds() * 1000
        out.print(f"  its packet (version {waiting.version}) was there {early_ms:.0f} ms before the step began")
    out.print(f"  final version {packet.version}: {packet.reason or packet.status}, {packet.tokens} tokens")
    found = carried(told.text, set(call.needed))
    items = sorted(packet.items, key=lambda item: (not carried(item.text, set(call.needed)), -item.probability))
    if items:
        out.print(_table(items[:_SHOWN], set(call.needed)))
    if len(items) > _SHOWN:
        out.print(f"    and {len(items) - _SHOWN} more")
    if call.needed:
        missing = sorted(set(call.needed) - found)
        lacking = Text(f"; missing: {_short(', '.join(missing))}", "red") if missing else ""
        values = "value" if len(call.needed) == 1 else "values"
        needed = f"  the call then needed {len(call.needed)} {values}; in the packet: "
        out.print(Text.assemble(needed, (str(len(found)), "green"), lacking))


def _table(items: Sequence[Item], needed: set[str]) -> Table:
    """Items beside the rule or model that wanted them most. On a narrow screen the texts are cut, not the scores."""
    whys = [f"{item.why[0].name} {item.why[0].score:.2f}" if item.why else "" for item in items]
    chars = min(_CHARS, max(out.width - max(map(len, whys)) - _MARGINS, _CHARS_LEAST))
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    for item, why in zip(items, whys, strict=True):
        colour = "green" if carried(item.text, needed) else "default"
        table.add_row(Text(f"  {_short(item.text, chars)}", colour), why)
    return table


def _short(text: str, chars: int = _CHARS) -> str:
    """At most so many characters."""
    return text if len(text) <= chars else f"{text[: chars - 1]}…"


def _summary(score: Score) -> None:
    average = score.tokens / max(score.steps, 1)
    out.print()
    out.print(f"{score.packets_before_step} of {score.steps} packets were there before their step began;", end=" ")
    out.print(f"{average:.0f} tokens a step on average.")
    parts = "; ".join(f"{name} {found} of {score.needed}" for name, found in score.found.items())
    out.print(f"Values that the steps then needed, at the same token budget: {parts}.", style="bold")
