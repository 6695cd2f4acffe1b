"""`beforehand demo`: a recorded run over MQTT, and the packet that waited for each step."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from beforehand import assembly
from beforehand.backends.embedders import embedder_for
from beforehand.cli.shared import Json, advising, log_to_stderr, out, print_json
from beforehand.client import Run, Told, connect
from beforehand.lifecycle.serve import broker_for, running
from beforehand.messages.outbound import Packet
from beforehand.settings import Settings
from beforehand.training import baselines
from beforehand.training.needed import carried
from beforehand.training.trajectories import Call, Said, Trajectory, read, text_of

RECORDING: Final = Path(__file__).parent / "recordings" / "shop.jsonl"
_DEADLINE_MS: Final = 2_000.0


@dataclass(slots=True)
class Score:
    """Needed values found, per way of remembering, and the tokens that it took."""

    needed: int = 0
    found: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    waiting: int = 0
    steps: int = 0


def demo(
    file: Annotated[Path, typer.Argument(help="Recorded runs; left out: a run of an online shop.")] = RECORDING,
    pace: Annotated[float, typer.Option(help="Seconds between two messages of the agent.")] = 0.15,
    budget: Annotated[int, typer.Option(help="Tokens of a packet.")] = 256,
    json: Json = False,
) -> None:
    """Play a recorded run of a real agent over MQTT and show the packet that was there before each step.

    Starts a broker and a daemon of its own; nothing is kept.
    """
    log_to_stderr(as_json=False, quiet=True)
    with advising(), tempfile.TemporaryDirectory(prefix="beforehand-demo-") as folder:
        trajectory = read(file)[0]
        flags = {
            "broker": {"embedded_port": 0},
            "journal": {"path": Path(folder) / "journal.sqlite3"},
            "policy": {"budget_tokens": budget},
        }
        score = asyncio.run(_play(Settings.model_validate(flags), Path(folder), trajectory, pace, quiet=json))
    if json:
        print_json(
            {
                "needed": score.needed,
                "found": score.found,
                "tokens": score.tokens,
                "steps": score.steps,
                "waiting": score.waiting,
            }
        )
    else:
        _summary(score)


async def _play(settings: Settings, folder: Path, trajectory: Trajectory, pace_s: float, *, quiet: bool) -> Score:
    score = Score()
    async with (
        broker_for(settings, folder) as reachable,
        running(assembly.daemon(reachable, folder)),
        connect(tenant="demo", agent="shop-assistant", broker=reachable.broker) as agent,
    ):
        await agent.connected()
        if not quiet:
            where = f"{reachable.broker.host}:{reachable.broker.port}"
            out.print(
                f"Broker and daemon run on {where}. An agent replays [bold]{trajectory.id}[/] ({trajectory.source})."
            )
        await _live(agent.run(trajectory.id), trajectory, pace_s, score, quiet=quiet)
        await agent.confirmed()
    return score


async def _live(run: Run, trajectory: Trajectory, pace_s: float, score: Score, *, quiet: bool) -> None:
    """As the agent would live it: the plan first, then what happens, and before every step its packet."""
    calls = trajectory.calls()
    embedder = embedder_for("static")
    plan = trajectory.plan().message
    run.plan(plan["goal"], plan["steps"], revision=plan["revision"], task_type=plan["task_type"])
    for said in trajectory.messages():
        await asyncio.sleep(pace_s)
        if said.channel == "step" and said.message["phase"] == "begin" and said.call is not None:
            call = calls[said.call]
            waiting = run.prepared(call.step)
            told = await run.before_step(call.step, deadline_ms=_DEADLINE_MS)
            past = [text_of(event) for event in trajectory.events[: call.index] if event["type"] != "call"]
            others = {
                "last 10 events": baselines.newest(past, told.packet.budget_tokens if told.packet else 0),
                "similarity search on demand": baselines.similar(
                    embedder,
                    past,
                    f"{call.goal} {' '.join(call.needs)}",
                    told.packet.budget_tokens if told.packet else 0,
                ),
            }
            _count(score, call, told, waiting, others)
            if not quiet:
                _show(call, told, waiting)
        else:
            _say(run, said)


def _say(run: Run, said: Said) -> None:
    fields = dict(said.message)
    if said.channel == "step":
        run.step(fields.pop("step"), fields.pop("phase"), **fields)
    else:
        run.event(fields.pop("kind"), fields.pop("text", ""), **fields)


def _count(score: Score, call: Call, told: Told, waiting: Packet | None, others: dict[str, str]) -> None:
    score.steps += 1
    score.waiting += waiting is not None
    score.needed += len(call.needed)
    score.tokens += told.packet.tokens if told.packet else 0
    for name, text in {"packets": told.text, **others}.items():
        score.found[name] = score.found.get(name, 0) + len(carried(text, set(call.needed)))


def _show(call: Call, told: Told, waiting: Packet | None) -> None:
    out.print()
    out.print(f"[bold cyan]{call.step}[/]  [bold]{call.tool}[/]  needs {', '.join(call.needs) or 'nothing'}")
    packet = told.packet
    if packet is None:
        out.print(f"  no packet: {told.reason}")
        return
    if waiting is not None:
        early_ms = (packet.created_at - waiting.created_at).total_seconds() * 1000
        out.print(
            f"  packet version {waiting.version} was there {early_ms:.0f} ms before the step; final version {packet.version}: {packet.status}, {packet.tokens} tokens"
        )
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=True)
    for item in packet.items:
        why = ", ".join(f"{reason.name} {reason.score:.2f}" for reason in item.why[:2])
        table.add_row(" ", item.text[:100], f"[dim]{why}[/]", f"[dim]{item.tokens} tokens[/]")
    out.print(table)
    found = carried(told.text, set(call.needed))
    for value in sorted(call.needed):
        out.print(f"  {'[green]in the packet[/]' if value in found else '[red]not in it[/]    '}  {value}")


def _summary(score: Score) -> None:
    out.print()
    out.print(
        f"{score.waiting} of {score.steps} packets were there before their step; {score.tokens / max(score.steps, 1):.0f} tokens a step."
    )
    parts = [f"{name} {found} of {score.needed}" for name, found in score.found.items()]
    out.print(f"[bold]Values that the steps then needed: {'; '.join(parts)}[/] (same token budget).")
