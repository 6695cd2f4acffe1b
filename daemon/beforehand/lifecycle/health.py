"""Whether the daemon serves, and what is at fault when it does not: one answer for status, probes and metrics."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from beforehand import limits
from beforehand.lifecycle.daemon import Daemon

PARTS: Final = ("journal", "broker", "disk", "memory", "embedder", "trigger model", "language model")
"""What can be at fault, the gravest first."""
_NAMED: Final = 10
_LAG_TOLD_S: Final = 2.0
"""How long a memory may lag behind the journal before that is a fault: a burst is none."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One part that is at fault. stops: whether it keeps the daemon from storing messages or sending packets."""

    part: str
    reason: str
    advice: str
    stops: bool


@dataclass(frozen=True, slots=True)
class Health:
    """Looks at a daemon's parts; cheap, and never waits. folder: where the journal is; None when it is in memory."""

    daemon: Daemon
    folder: Path | None = None

    @property
    def is_started(self) -> bool:
        """Whether the daemon has opened its journal and serves its lanes."""
        return self.daemon.ready.is_set()

    @property
    def limited(self) -> list[str]:
        """Agents of whom messages were refused for their rate of late, the latest first; no fault of the daemon's."""
        door = self.daemon.door
        return [] if door.rates is None else door.rates.limited(door.clock.monotonic_s())[:_NAMED]

    def faults(self) -> list[Fault]:
        """What is at fault now, the gravest first; empty when all is well."""
        return [
            *self._journal(),
            *self._broker(),
            *self._disk(),
            *self._memory(),
            *self._embedder(),
            *self._missing(),
            *self._language_model(),
        ]

    def _journal(self) -> Iterator[Fault]:
        state = self.daemon.journal.state()
        if not state.healthy:
            yield Fault(
                "journal", str(state.reason), "Nothing is acknowledged; `beforehand doctor` finds out.", stops=True
            )

    def _broker(self) -> Iterator[Fault]:
        if not self.daemon.bus.is_connected:
            advice = "It is tried again for ever; `beforehand doctor` says why it cannot be reached."
            yield Fault("broker", "there is no connection to the broker", advice, stops=True)

    def _disk(self) -> Iterator[Fault]:
        if self.folder is None:
            return
        try:
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            yield Fault("disk", f"{self.folder}: {error.strerror}", "Mount it again.", stops=False)
            return
        if free < limits.DISK_LOW_BYTES:
            reason = f"only {free // 1_000_000} MB are free at {self.folder}"
            yield Fault("disk", reason, "Make room before it is full.", stops=False)

    def _memory(self) -> Iterator[Fault]:
        unreadable = self.daemon.pipeline.memories.unreadable
        if unreadable:
            reason = f"{len(unreadable)} agents cannot be remembered, such as {'/'.join(next(iter(unreadable)))}: "
            advice = "Their messages are stored; it is tried again with each."
            yield Fault("memory", reason + next(iter(unreadable.values())), advice, stops=False)
        lagging = self.daemon.pipeline.memories.lagging
        if late := lagging.since(_LAG_TOLD_S):
            reason = "agents say more than can be remembered at once: their memory follows the journal"
            most = f"{lagging.messages:,} messages of {len(late)} agents wait, most of {'/'.join(late[0])}."
            advice = f"{most} Nothing is lost; they should say less, or be divided among several daemons."
            yield Fault("memory", reason, advice, stops=False)

    def _embedder(self) -> Iterator[Fault]:
        failing = self.daemon.pipeline.memories.vectors.failing
        if failing is not None:
            advice = "What came meanwhile is found by words; restart the daemon to give it vectors."
            yield Fault("embedder", failing, advice, stops=False)

    def _missing(self) -> Iterator[Fault]:
        for part in self.daemon.missing:
            yield Fault(part, "it cannot be used; packets are made without it", "The log says why.", stops=False)

    def _language_model(self) -> Iterator[Fault]:
        interpreting = self.daemon.interpreting
        if interpreting is not None and interpreting.failing is not None:
            advice = "Nothing waits for it; what it was not asked is asked when it can be."
            yield Fault("language model", interpreting.failing, advice, stops=False)
