"""R3: start, kill and start again, many times: no orphan processes, no growth in memory or file handles."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import brokers
from beforehand.backends.broker import EmbeddedBroker
from programs import needed

pytestmark = pytest.mark.anyio

_DAEMON = """
import asyncio, sys
from pathlib import Path
from beforehand.backends.broker import EmbeddedBroker
async def main():
    async with EmbeddedBroker(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])) as broker:
        print("guard", broker._process.pid, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.mark.parametrize("kind", brokers.KINDS)
async def test_r3_the_broker_dies_with_a_daemon_that_is_killed(tmp_path, kind):
    """The same port and folder each time: what an orphan held would be missed by the next one."""
    port = brokers.free_port()
    for _ in range(6):
        daemon = subprocess.Popen(
            [sys.executable, "-c", _DAEMON, kind, str(port), str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        try:
            guard = int(next(line.removeprefix("guard ") for line in daemon.stdout if line.startswith("guard ")))
            started = [guard, *brokers.children_of(guard)]
        finally:
            daemon.kill()
            daemon.communicate()
        await brokers.until(lambda started=started: not any(brokers.is_alive(pid) for pid in started))


async def test_r3_the_broker_dies_with_its_guard(tmp_path):
    needed("mosquitto", "mosquitto")
    async with EmbeddedBroker("mosquitto", 0, tmp_path) as broker:
        guard = broker._process.pid
        [mosquitto] = brokers.children_of(guard)
        os.kill(guard, signal.SIGKILL)
        await brokers.until(lambda: not brokers.is_alive(mosquitto))
        await brokers.until(lambda: broker.restarts == 1)


async def test_r3_starting_and_stopping_leaves_no_file_handles(tmp_path):
    handles = []
    for _ in range(8):
        async with EmbeddedBroker("auto", 0, tmp_path):
            pass
        handles.append(len(list(Path("/proc/self/fd").iterdir())))
    assert handles[-1] <= handles[1]
