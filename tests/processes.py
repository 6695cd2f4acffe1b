"""`beforehand up` as a process of its own, for acceptance tests and benchmarks."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

START_S = 30.0


class Up:
    """The daemon as people start it. port: of the broker; None for an embedded one of `embedded` kind."""

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        embedded: str = "auto",
        embedded_port: int = 0,
        protocol: str = "5",
        journal: Path | None = None,
        environment: Mapping[str, str] | None = None,
        program: Sequence[str] = ("-m", "beforehand"),
    ) -> None:
        self.folder = folder
        self.journal = journal or folder / "journal.sqlite3"
        self.log = folder / "daemon.log"
        self.environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "BEFOREHAND_BROKER__EMBEDDED": embedded,
            "BEFOREHAND_BROKER__PROTOCOL": protocol,
            "BEFOREHAND_HTTP__PORT": "0",
            **(environment or {}),
        }
        self._program = program
        self.url = ""
        self._broker = ["--host", "127.0.0.1", "--port", str(port)] if port else []
        if not port:
            self.environment["BEFOREHAND_BROKER__EMBEDDED_PORT"] = str(embedded_port)
        self.port = port or 0
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it says that it is ready. Raises RuntimeError with its log when it ends first."""
        began = self.launch()
        deadline = time.monotonic() + START_S
        while not (ready := [line for line in self.lines(began) if line.get("event") == "ready"]):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the daemon is not ready:\n{self.log.read_text()}")
            time.sleep(0.02)
        self.port = ready[-1]["port"]
        self.url = next(line["url"] for line in self.lines(began) if "url" in line)

    def launch(self) -> int:
        """Start it and do not wait; where in its log it begins."""
        command = [sys.executable, *self._program, *self.arguments]
        began = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=self.environment, cwd=self.folder, start_new_session=True
            )
        return began

    @property
    def arguments(self) -> list[str]:
        """What is behind the program's name."""
        files = ["--journal", str(self.journal), "--state", str(self.folder / "state")]
        return ["up", "--log-json", *files, *self._broker]

    def health(self) -> dict[str, Any]:
        """What it says of itself over HTTP; `ready` is whether it does its work."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=START_S) as page:
                return {"ready": True, **json.load(page)}
        except urllib.error.HTTPError as error:
            with error:
                return {"ready": False, **json.load(error)}

    def lines(self, began: int = 0) -> list[dict[str, Any]]:
        """Its log."""
        text = self.log.read_bytes()[began:].decode()
        return [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]

    def kill(self, how: int = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=START_S)
            self.process = None

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def rows(self, channel: str = "event") -> list[str]:
        """The keys that the journal holds of a channel, read beside the daemon."""
        with contextlib.closing(sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True)) as store:
            found = store.execute("SELECT key FROM messages WHERE channel = ? ORDER BY position", (channel,))
            return [key for (key,) in found]

    def positions(self) -> set[int]:
        """Where the journal holds a message of any channel, read beside the daemon."""
        with contextlib.closing(sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True)) as store:
            return {position for (position,) in store.execute("SELECT position FROM messages")}


@contextlib.contextmanager
def up(folder: Path, **options: Any) -> Iterator[Up]:
    daemon = Up(folder, **options)
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.kill()


def memory_mb(pid: int) -> float:
    """Resident memory of a process (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
