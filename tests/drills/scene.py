"""What every drill is made of: a broker, a daemon and agents, and what has to be true when it is over."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import brokers
from drills.talk import Talk
from processes import Up

NO_EFFECT: Final = "no effect"
DEGRADED: Final = "degraded and named"
REFUSED: Final = "refused and named"
Ended = Literal["no effect", "degraded and named", "refused and named"]
WITHIN_S = 90.0


@dataclass(slots=True)
class Outcome:
    """How a drill ended. said: what the daemon (or the client) said of the fault, in its own words."""

    ended: Ended
    said: str = ""
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Size:
    """How long a drill lasts. events: of each of two agents; kills: how often something is killed.

    seeds: of the simulation, played by so many processes.
    """

    events: int = 600
    kills: int = 2
    seed: int = 1
    seeds: int = 20
    processes: int = 1


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder of its own."""
    with tempfile.TemporaryDirectory(prefix="drill-") as made:
        yield Path(made)


@contextlib.contextmanager
def daemon(port: int, folder: Path, **options: Any) -> Iterator[Up]:
    """A started daemon on the broker at `port`."""
    one = Up(folder, port=port, **options)
    one.start()
    try:
        yield one
    finally:
        if one.process is not None:
            one.process.send_signal(signal.SIGCONT)
            one.kill()


@contextlib.contextmanager
def mosquitto(folder: Path, kind: str = brokers.KINDS[0]) -> Iterator[brokers.Broker]:
    """A broker of its own: Mosquitto where there is one."""
    (folder / "broker").mkdir()
    with brokers.running(kind, folder / "broker") as broker:
        yield broker


def until(condition: Callable[[], Any], within_s: float = WITHIN_S) -> float:
    """Wait until it holds; how long that took. Raises TimeoutError."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > within_s:
            raise TimeoutError(f"not within {within_s} s")
        time.sleep(0.02)
    return time.monotonic() - began


def fault(daemon: Up, part: str) -> str | None:
    """What the daemon says of a part, None while it is well. A daemon that says a fault and is ready still counts."""
    return next((one["reason"] for one in daemon.health()["faults"] if one["part"] == part), None)


def red(daemon: Up, part: str) -> tuple[float, str]:
    """Seconds until the daemon names this part as at fault, and what it says of it."""
    took_s = until(lambda: fault(daemon, part))
    return took_s, str(fault(daemon, part))


def whole(daemon: Up, talk: Talk) -> dict[str, Any]:
    """Lost and twice, of all that the agents said and were confirmed. Asserts that both are 0."""
    rows = Counter(key for key in daemon.rows() if not key.startswith("other-"))
    lost = len(set(talk.said) - rows.keys())
    twice = sum(count - 1 for count in rows.values())
    assert (lost, twice) == (0, 0), f"{lost} lost, {twice} twice"
    return {"events": len(talk.said), "lost": lost, "twice": twice}


def refused(daemon: Up, within_s: float = 30.0) -> str:
    """Start a daemon that must refuse to; the error that it ends with."""
    began = daemon.launch()
    code = daemon.process.wait(within_s)
    daemon.process = None
    said = daemon.log.read_bytes()[began:].decode().strip().splitlines()[-1]
    assert code != 0, f"it started: {said}"
    assert said.startswith("error"), f"no error is named: {said}"
    return said.removeprefix("error ").strip()


def command(daemon: Up, *words: str) -> subprocess.CompletedProcess[str]:
    """Run another command of the product on the daemon's journal."""
    environment = {**os.environ, "BEFOREHAND_JOURNAL__PATH": str(daemon.journal), "COLUMNS": "400"}
    program = [sys.executable, "-m", "beforehand", *words]
    return subprocess.run(program, env=environment, capture_output=True, text=True, timeout=120, check=False)


def accepts(port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
