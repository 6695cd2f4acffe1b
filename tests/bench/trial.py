"""An experiment as a team would run it: two policies over 400 recorded runs, played by real agents over MQTT.

Broker, daemon and agents are real (`beforehand up`, the client library), and so are the commands that start and report.
Each run is an agent of its own. Half of the runs get packets of at most 96 tokens, half of at most
56. In the end an agent reports how many needed values it had and how many of them its packets carried; the report
compares, and its verdict stands in each row. docs/reference/experiments.md tells what it means.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import brokers
import processes
from beforehand.client import connect
from beforehand.settings import BrokerSettings
from beforehand.training.needed import carried
from beforehand.training.trajectories import Trajectory, read

RUNS = 400
TOGETHER = 4
DEADLINE_MS = 20_000
SETTINGS = "[policy]\nbudget_tokens = 96\n"
EXPERIMENT = """
name = "smaller"
why = "Packets of 56 tokens cost less. How many needed values do they leave out?"
effect = 0.05
units = 400
arms = [{ name = "control" }, { name = "small", policy = { budget_tokens = 56 } }]

[[metrics]]
name = "recall"
value = "metrics.carried"
per = "metrics.needed"
role = "primary"

[[metrics]]
name = "success"
value = "outcome"

[[metrics]]
name = "tokens"
value = "packet_tokens"
per = "steps"
role = "guardrail"
better = "lower"
margin = 5
"""


def run(data: Path) -> list[dict[str, Any]]:
    """One row for each metric. data: the folder of public data sets."""
    with tempfile.TemporaryDirectory() as folder:
        told = reported(data / "sgd_dev" / "traj.jsonl.gz", Path(folder))
    return [
        {
            "metric": f"{one['metric']['name']} ({one['metric']['role']})",
            "control": round(one["control"], 4),
            "small": round(one["treated"], 4),
            "effect": round(one["interval"]["estimate"], 4),
            "at_any_look": f"{one['interval']['low']:+.4f} to {one['interval']['high']:+.4f}",
            "at_one_look": f"{one['interval']['fixed_low']:+.4f} to {one['interval']['fixed_high']:+.4f}",
            "runs": one["units"],
            "arms": " : ".join(map(str, told["exposed"]["counts"])),
            "verdict": told["verdict"]["decision"],
        }
        for one in told["comparisons"]
    ]


def reported(file: Path, folder: Path, runs: int = RUNS, page: Path | None = None) -> dict[str, Any]:
    """Play the runs and judge them: what `beforehand experiment report --json` says. page: for the report as HTML."""
    (folder / "beforehand.toml").write_text(SETTINGS)
    (folder / "experiments").mkdir()
    (folder / "experiments" / "smaller.toml").write_text(EXPERIMENT)
    chosen = random.Random(0).sample(read(file), runs)
    command(folder, "start", "smaller")
    (folder / "broker").mkdir()
    broker = brokers.Broker(brokers.KINDS[0], folder / "broker")
    broker.start()
    try:
        with processes.up(folder, port=broker.port) as daemon:
            asyncio.run(play(chosen, broker.port))
            daemon.kill(signal.SIGTERM)
    finally:
        broker.stop()
    more = [] if page is None else ["--html", str(page)]
    command(folder, "report", "smaller", "--journal", str(daemon.journal), *more)
    return json.loads(command(folder, "report", "smaller", "--journal", str(daemon.journal), "--json"))


def command(folder: Path, *words: str) -> str:
    """What `beforehand experiment` says, started in `folder`."""
    words = (sys.executable, "-m", "beforehand", "experiment", *words)
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout


async def play(chosen: list[Trajectory], port: int) -> None:
    """All runs, some at a time."""
    broker = BrokerSettings(host="127.0.0.1", port=port)
    room = asyncio.Semaphore(TOGETHER)

    async def one(number: int, run: Trajectory) -> None:
        async with room:
            await lived(run, f"a{number}", broker)

    async with asyncio.TaskGroup() as group:
        for number, run in enumerate(chosen):
            group.create_task(one(number, run))


async def lived(trajectory: Trajectory, agent: str, broker: BrokerSettings) -> None:
    """One run by an agent of its own, which waits for the packet of each step and tells what they were worth."""
    calls = trajectory.calls()
    needed = held = 0
    async with connect(tenant="trial", agent=agent, broker=broker) as client:
        await client.connected()
        run = client.run("run")
        run.plan(**trajectory.plan().message)
        for said in trajectory.messages():
            if said.channel == "event":
                run.event(**said.message)
            elif said.message["phase"] == "end" or said.call is None:
                run.step(**said.message)
            else:
                fields = {name: value for name, value in said.message.items() if name not in ("step", "phase")}
                told = await run.before_step(said.message["step"], deadline_ms=DEADLINE_MS, **fields)
                if not told.is_final:
                    raise RuntimeError(f"no packet: {told.reason}")
                wanted = set(calls[said.call].needed)
                needed += len(wanted)
                held += len(carried(told.text, wanted))
        run.feedback(outcome="success" if held == needed else "failure", metrics={"needed": needed, "carried": held})
        await client.confirmed()
