"""How long the daemon takes, as agents see it: real processes (broker, daemon, agents), 20 runs of hundreds of events.

Beside each figure the bare broker's round trip (QoS 1, publish to own delivery) of the same stretch. `refresh` is timed
from the publish of an event to the first packet that names it as its watermark. What no packet names is not timed: a
run that is heard from again before its turn gets one packet for both events, and an event may change no packet. How
many were named stands below it. `two daemons` divide the agents between them (deploy/README.md).
"""

from __future__ import annotations

import contextlib
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
from beforehand.messages import topics

SECONDS = 20.0
BUSY = f"{agents.EVENTS_PER_S} events/s"
LIMITS = {"refresh": (10.0, 50.0), "begin idle": (5.0, None)}
TITLES = {
    "refresh": f"event to refreshed packet, {BUSY}",
    "begin idle": "step begin to final packet, idle",
    "begin busy": f"step begin to final packet, {BUSY}",
    "client": "before_step of the client library, right after an event",
}


def run(seconds: float = SECONDS) -> list[dict[str, Any]]:
    """One row per broker and question: `ours` is the median, `p99` beside it, `limit` what is asked of both."""
    return [row for kind in brokers.KINDS for daemons in (1, 2) for row in _rows(kind, daemons, seconds)]


def _rows(kind: str, daemons: int, seconds: float) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        taken = _measured(kind, daemons, Path(folder), seconds)
    where = kind if daemons == 1 else f"{kind}, two daemons"
    rows = []
    for name, title in TITLES.items():
        samples, bare = taken[name], taken["echo idle" if name in ("begin idle", "client") else "echo busy"]
        ours, theirs = statistics.median(samples), statistics.median(bare)
        rows.append(
            {
                "benchmark": f"{where}: {title}",
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
    others = {
        f"events that a packet names, {BUSY}": ("%", taken["named_percent"]),
        f"burst of {agents.BURST} counted events until durable": ("events/s", taken["burst_per_s"]),
        f"processor of the daemon, {BUSY}": ("% of a core", taken["cpu_percent"]),
    }
    rows += [
        {"benchmark": f"{where}: {title}", "unit": unit, "ours": round(value)}
        for title, (unit, value) in others.items()
    ]
    return rows


def _measured(kind: str, daemons: int, folder: Path, seconds: float) -> dict[str, Any]:
    with brokers.running(kind, folder) as broker, contextlib.ExitStack() as running:
        pids = [_started(running, folder, shard, daemons, broker.port) for shard in range(daemons)]
        command = [sys.executable, "-m", "tests.bench.agents", str(broker.port), str(seconds), *map(str, pids)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def _started(running: contextlib.ExitStack, folder: Path, shard: int, daemons: int, port: int) -> int:
    """A daemon for its share of the agents; its process."""
    name = f"s{shard:02d}"
    own = folder / name
    own.mkdir()
    root = topics.ROOT if daemons == 1 else f"{topics.ROOT}/{name}"
    named = {"BEFOREHAND_BROKER__NAME": name, "BEFOREHAND_BROKER__ROOT": root}
    return running.enter_context(processes.up(own, port=port, environment=named)).process.pid


def _p99(samples: list[float]) -> float:
    return round(statistics.quantiles(samples, n=100)[98], 2)
