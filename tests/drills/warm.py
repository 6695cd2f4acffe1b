"""A daemon that starts by a fork of a process that has imported everything: two hundred starts cost what ten did."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from processes import Up

WARM: Final = """
import os, signal, sys, time
def standing():
    with open(os.environ["DRILL_CLOCK"]) as file:
        return int(file.read())
time.time_ns = standing
import aiomqtt, numpy, xgboost
import beforehand.assembly, beforehand.cli.up, beforehand.lifecycle.serve
from beforehand.cli.main import app
while sys.stdin.readline():
    daemon = os.fork()
    if not daemon:
        log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        app(sys.argv[2:])
    print(daemon, flush=True)
    sys.stdin.readline()
    os.kill(daemon, signal.SIGKILL)
    os.waitpid(daemon, 0)
    print("killed", flush=True)
"""


class Warm(Up):
    """Started and killed (-9) again and again. Its clock stands still at what a file says: nanoseconds since 1970."""

    def __init__(self, folder: Path, port: int, clock: Path) -> None:
        super().__init__(folder, port=port, environment={"DRILL_CLOCK": str(clock)})
        command = [sys.executable, "-c", WARM, str(self.log), *self.arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=self.environment, cwd=folder, **pipes)

    def launch(self) -> int:
        self.log.touch()
        began = self.log.stat().st_size
        self._tell()
        return began

    def kill(self) -> None:
        self._tell()

    def end(self) -> None:
        self.process.communicate()

    def _tell(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline()


@contextlib.contextmanager
def warm(port: int, folder: Path, clock: Path) -> Iterator[Warm]:
    """One on the broker at `port`, started."""
    one = Warm(folder, port, clock)
    try:
        one.start()
        yield one
        one.kill()
    finally:
        one.end()
