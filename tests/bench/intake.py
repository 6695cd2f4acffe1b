"""How many events a second become durable, sustained, with indexing and packets on, beside broker and bare client.

Twenty agents say notes of 1 KB, an agent keeps HISTORY of them hot, and a plan stands, so that packets are prepared
all the while. At most: each has so many events on their way that are not on disk yet, and says the next one when a
receipt of the daemon has named one. Steady: PACE a second for `--minutes`, whether or not receipts come. The broker
alone: the same publisher where nobody listens. A bare client: another process listens with our connection and
acknowledges, and does nothing else. Late: from the publish of an event to the receipt that says it is on disk. Memory:
of the daemon, over the second half. What is stored first and remembered later (`pipeline/lagging.py`) waits in the
journal: how much of it there is when the talking ends, and how long memory needs for it then.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import brokers
import processes

HISTORY = 1_000
PROBE_S = 5.0
MOST_S = 60.0
BOUNDS = {"BEFOREHAND_MEMORY__AGENT_EVENTS": str(HISTORY)}
WANTED_PER_S = 3_000
PACE = 3_300
ACKNOWLEDGED_MS = 100
CATCH_UP_S = 300


def run(minutes: float = 1.0) -> list[dict[str, Any]]:
    """Rates of the three, how late an acknowledgement is, and what memory does."""
    with tempfile.TemporaryDirectory() as name, brokers.running("mosquitto", Path(name)) as broker:
        alone = _load(broker.port, "nobody", PROBE_S, 0)
        with subprocess.Popen([sys.executable, "-m", "tests.bench.talkers", "listen", str(broker.port)]) as listener:
            bare = _load(broker.port, "bare", PROBE_S, 0)
            listener.kill()
        with processes.up(Path(name), port=broker.port, environment=BOUNDS) as daemon:
            most = _load(broker.port, "bench", MOST_S, daemon.process.pid)
    with (
        tempfile.TemporaryDirectory() as name,
        brokers.running("mosquitto", Path(name)) as broker,
        processes.up(Path(name), port=broker.port, environment=BOUNDS) as daemon,
    ):
        steady = _load(broker.port, "bench", 60 * minutes, daemon.process.pid, PACE)
        resident = processes.memory_mb(daemon.process.pid)
        waiting, began = _waiting(daemon.url), time.monotonic()
        while _waiting(daemon.url) and time.monotonic() < began + CATCH_UP_S:
            time.sleep(1)
        caught_up_s = time.monotonic() - began
    rate = {"benchmark": "durable intake at most", "unit": "events/s", "ours": round(most["per_s"])}
    pace = f"{PACE:,} events/s for {minutes:g} minutes"
    return [
        {**rate, **_beside("the broker alone", alone, most), "limit": WANTED_PER_S},
        {**rate, **_beside("a bare client", bare, most), "limit": WANTED_PER_S},
        _late("at most: event to receipt that it is on disk", most),
        {"benchmark": f"steady: durable, of {pace}", "unit": "events/s", "ours": round(steady["per_s"])},
        _late("steady: event to receipt that it is on disk", steady),
        {
            "benchmark": "steady: memory over the second half",
            "unit": "MB a minute",
            "ours": round(steady["slope_mb"], 2),
            "samples": steady["events"],
            "limit": "flat",
        },
        {"benchmark": "steady: memory when the talking ends", "unit": "MB", "ours": round(resident)},
        {"benchmark": "steady: stored and not remembered yet then", "unit": "events", "ours": waiting},
        {"benchmark": f"steady: until memory has it, {CATCH_UP_S} s at most", "unit": "s", "ours": round(caught_up_s)},
    ]


def _late(what: str, taken: dict[str, Any]) -> dict[str, Any]:
    late = sorted(taken["late_ms"])
    return {
        "benchmark": what,
        "unit": "ms",
        "ours": round(statistics.median(late), 1),
        "p99": round(late[int(0.99 * len(late))], 1),
        "samples": len(late),
        "limit": f"p99 {ACKNOWLEDGED_MS}",
    }


def _waiting(url: str) -> int:
    """How many messages the daemon has stored and not remembered yet."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as page:
        lines = page.read().decode().splitlines()
    return int(float(next(line.split()[1] for line in lines if line.startswith("beforehand_lagging_messages "))))


def _beside(comparison: str, theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    ratio = ours["per_s"] / theirs["per_s"]
    return {"comparison": comparison, "theirs": round(theirs["per_s"]), "ratio": round(ratio, 2)}


def _load(port: int, tenant: str, seconds: float, pid: int, per_s: float = 0.0) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.talkers", "load", *map(str, (port, tenant, seconds, pid, per_s))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
