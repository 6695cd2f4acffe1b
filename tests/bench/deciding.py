"""What a decision costs of a processor, by the length of the history: finding, scoring, choosing, packing for one step.

Agents of the latency benchmark's events, in one run or in twenty. They decide by turns, so that none finds its memory
in the processor's caches. `scoring` is the model alone, over as many candidates as a step has at most.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from tests.bench import said

from beforehand import assembly, limits
from beforehand.backends.measures import RecordedMeasures
from beforehand.context.packet import PacketHeader, assemble
from beforehand.lifecycle.models_in_use import models_in_use
from beforehand.messages.topics import Scope
from beforehand.replay import Replay
from beforehand.settings import Settings
from beforehand.trigger import features

STEPS: Final = 10
DECISIONS: Final = 100
HEADER: Final = PacketHeader(
    id="p",
    scope=Scope("bench", "a", "r"),
    step="s",
    version=1,
    created_us=0,
    expires_us=1,
    event=None,
    position=0,
    searched=0,
    policy="full",
)


class History(NamedTuple):
    """What an agent has behind it."""

    runs: int
    events: int

    def __str__(self) -> str:
        return f"{self.events:,} events in {self.runs} run{'s' if self.runs > 1 else ''}"


HISTORIES: Final = (History(1, 100), History(1, 1_000), History(1, 10_000), History(20, 10_000))


def run() -> list[dict[str, Any]]:
    """Median milliseconds; `limit`: what is asked for with ten thousand events, and of scoring."""
    settings = Settings()
    taken = asyncio.run(_decided(settings))
    rows = [_row(f"a decision over {history}", taken[history], 5.0) for history in HISTORIES]
    model = models_in_use(settings).live
    drawn = np.random.default_rng(0).random((limits.CANDIDATES, len(features.NAMES)), np.float32)
    scoring = [_timed(lambda: model.score(drawn)) for _ in range(DECISIONS)]
    return [*rows, _row(f"scoring {limits.CANDIDATES} candidates", scoring, 1.0)]


def _row(benchmark: str, taken: list[float], limit: float) -> dict[str, Any]:
    p99 = statistics.quantiles(taken, n=100)[98]
    return {
        "benchmark": benchmark,
        "unit": "ms of a processor",
        "ours": round(1e3 * statistics.median(taken), 3),
        "limit": limit,
        "p99": round(1e3 * p99, 3),
        "samples": len(taken),
    }


async def _decided(settings: Settings) -> dict[History, list[float]]:
    """Seconds of each decision: for the next step of the agent's newest run, after one more event of it."""
    replay = assembly.replay(settings, RecordedMeasures())
    events = {history: said.events(number) for number, history in enumerate(HISTORIES)}
    taken: dict[History, list[float]] = {history: [] for history in HISTORIES}
    async with replay.open():
        for number, history in enumerate(HISTORIES):
            for count in range(history.events):
                scope = Scope("bench", f"a{number}", f"r{count * history.runs // history.events}")
                await replay.feed(scope, "event", next(events[history]))
            await replay.feed(scope, "plan", said.plan(STEPS))
        gc.collect()
        gc.freeze()  # what is remembered is no garbage, as the daemon has it
        for _ in range(DECISIONS):
            for number, history in enumerate(HISTORIES):
                scope = Scope("bench", f"a{number}", f"r{history.runs - 1}")
                await replay.feed(scope, "event", next(events[history]))
            for number, history in enumerate(HISTORIES):
                scope = Scope("bench", f"a{number}", f"r{history.runs - 1}")
                taken[history].append(await _one(replay, settings, scope))
    return taken


async def _one(replay: Replay, settings: Settings, scope: Scope) -> float:
    way = replay.pipeline
    memory = await way.memories.of(scope)
    session = memory.session(scope.run)
    [step] = session.itinerary.coming(1)
    book, now_us = way.packets.book(scope), replay.clock.now_us()

    def decide() -> None:
        foreseen = way.foresight.foresee(memory, session, step, book, now_us)
        assemble(HEADER, foreseen.choices, foreseen.room(settings.policy.budget_tokens))

    return _timed(decide)


def _timed(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began
