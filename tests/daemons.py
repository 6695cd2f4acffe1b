"""A daemon in the test's own process, on a real broker and a real file, so that a test can look at its metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.lifecycle.serve import running
from beforehand.settings import Settings


@asynccontextmanager
async def daemon_here(folder: Path, broker: dict[str, Any]) -> AsyncIterator[RecordedMeasures]:
    """Connected when entered, stopped in order at the end. broker: the fields of BrokerSettings."""
    measures = RecordedMeasures()
    settings = Settings.model_validate(
        {"broker": broker, "journal": {"path": folder / "journal.sqlite3"}, "embedder": {"kind": "hashing"}}
    )
    async with running(assembly.daemon(settings, folder / "state", measures)) as daemon:
        await daemon.bus.connected()
        yield measures
