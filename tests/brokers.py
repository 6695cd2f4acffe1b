"""Real brokers for tests: each on a free port of loopback, in its own folder, ended by the test that started it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Final, Literal

from beforehand.backends.broker import configuration, embedded, guard
from beforehand.backends.broker.embedded import free_port
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.messages import topics
from beforehand.ports import Arrival
from programs import needed

START_S = 20.0
KINDS: Final = ("mosquitto", "iotcore") if os.environ.get("CI") or embedded.find_mosquitto() else ("iotcore",)
"""Brokers that the suite runs on. A machine without Mosquitto tests on the other; CI has to have both."""


class Broker:
    """One broker process with the configuration that the product ships. `extra`: more lines for mosquitto.conf."""

    def __init__(
        self,
        kind: Literal["mosquitto", "iotcore"],
        folder: Path,
        protocol: Literal["5", "3.1.1"] = "5",
        root: str = topics.ROOT,
        extra: str = "",
    ):
        self.kind = kind
        self.folder = folder
        self.protocol = protocol
        self.root = root
        self.extra = extra
        self.port = free_port()
        self._program = needed("mosquitto", "mosquitto") if kind == "mosquitto" else sys.executable
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start it (again, on the same port) and wait until it accepts connections."""
        with (self.folder / "broker.log").open("wb") as log:
            self._process = subprocess.Popen(self._command(), stdin=subprocess.PIPE, stdout=log, stderr=log)
        deadline = time.monotonic() + START_S
        while not _accepts(self.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.kind} did not start: {(self.folder / 'broker.log').read_text()}")
            time.sleep(0.01)

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.stdin.close()
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Let it stand still, connections open."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def _command(self) -> list[str]:
        if self.kind == "mosquitto":
            file = self.folder / "mosquitto.conf"
            file.write_text(configuration.mosquitto(self.port, self.folder, "root") + self.extra)
            return [self._program, "-c", str(file)]
        file = self.folder / "iotcore.toml"
        file.write_text(configuration.iotcore(self.port, self.protocol, self.root))
        return [self._program, "-P", guard.__file__, "iotcore", str(file)]


@contextlib.contextmanager
def running(kind: Literal["mosquitto", "iotcore"], folder: Path, **options) -> Iterator[Broker]:
    """A started broker; see Broker for the options."""
    broker = Broker(kind, folder, **options)
    broker.start()
    try:
        yield broker
    finally:
        broker.stop(signal.SIGKILL)


@contextlib.asynccontextmanager
async def connected(port: int, client_id: str = "agent", **options) -> AsyncIterator[Connection]:
    """An open connection; see ConnectionOptions for the options."""
    connection = Connection(ConnectionOptions(client_id=client_id, port=port, **options))
    try:
        await connection.open()
        yield connection
    finally:
        await connection.close()


async def take(connection: Connection, count: int) -> list[Arrival]:
    """The next messages."""
    got: list[Arrival] = []
    async with asyncio.timeout(20):
        while len(got) < count:
            got += await connection.receive()
    return got


async def until(condition: Callable[[], object], within_s: float = 20.0) -> None:
    """Return as soon as the condition holds. Raises TimeoutError."""
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.001)


def is_alive(pid: int) -> bool:
    """Whether the process runs (a zombie does not)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def children_of(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
