"""How long the daemon takes, as agents see it: real processes (broker, daemon, agents), 20 runs of hundreds of events.

Beside each figure the bare broker's round trip (QoS 1, publish to own delivery) of the same stretch. `refresh` is timed
from the publish of an event to the packet that names it as its watermark, so events that change no packet do not count.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench import agents

import brokers
import processes

SECONDS = 20.0
LIMITS = {"refresh": (10.0, 50.0), "begin idle": (5.0, None)}
TITLES = {
    "refresh": f"event to refreshed packet, {agents.EVENTS_PER_S} events/s",
    "begin idle": "step begin to final packet, idle",
    "begin busy": f"step begin to final packet, {agents.EVENTS_PER_S} events/s",
    "client": "before_step of the client library, right after an event",
}


def run(seconds: float = SECONDS) -> list[dict[str, Any]]:
    """One row per broker and question: `ours` is the median, `p99` beside it, `limit` what is asked of both."""
    return [row for kind in brokers.KINDS for row in _rows(kind, seconds)]


def _rows(kind: str, seconds: float) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        taken = _measured(kind, Path(folder), seconds)
    rows = []
    for name, title in TITLES.items():
        samples, bare = taken[name], taken["echo idle" if name in ("begin idle", "client") else "echo busy"]
        ours, theirs = statistics.median(samples), statistics.median(bare)
        rows.append(
            {
                "benchmark": f"{kind}: {title}",
                "unit": "ms",
                "ours": round(ours, 2),
                "comparison": "bare round trip through the broker",
                "theirs": round(theirs, 2),
                "ratio": round(theirs / ours, 2),
                "p99": _p99(samples),
                "theirs_p99": _p99(bare),
                "samples": len(samples),
                "limit": " / ".join("-" if bound is None else f"{bound:g}" for bound in LIMITS.get(name, ())),
            }
        )
    rate = {"benchmark": f"{kind}: burst of {agents.BURST} counted events until durable", "unit": "events/s"}
    rows.append({**rate, "ours": round(taken["burst_per_s"])})
    cpu = {"benchmark": f"{kind}: the daemon's processor at {agents.EVENTS_PER_S} events/s", "unit": "% of a core"}
    return [*rows, {**cpu, "ours": round(taken["cpu_percent"])}]


def _measured(kind: str, folder: Path, seconds: float) -> dict[str, Any]:
    with brokers.running(kind, folder) as broker, processes.up(folder, port=broker.port) as daemon:
        command = [sys.executable, "-m", "tests.bench.agents", str(broker.port), str(seconds), str(daemon.process.pid)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def _p99(samples: list[float]) -> float:
    return round(statistics.quantiles(samples, n=100)[98], 2)
