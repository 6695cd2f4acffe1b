"""The client for programs without an event loop: the same calls, carried out by one background thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from beforehand.client.agent import Agent, Run, connect
from beforehand.client.told import Told
from beforehand.messages.outbound import Reply
from beforehand.settings import BrokerSettings

T = TypeVar("T")
_MARGIN_S: Final = 0.25
"""What a deadline is overrun by before a stuck background thread is given up."""


class PlainRun:
    """One run; see `client.agent.Run` for every call."""

    def __init__(self, run: Run, agent: PlainAgent) -> None:
        self._run = run
        self._agent = agent

    def event(self, kind: str, text: str = "", **fields: Any) -> bool:
        """See Run.event."""
        return self._agent.on_loop(lambda: self._run.event(kind, text, **fields))

    def plan(self, goal: str, steps: Sequence[dict[str, Any]], *, revision: int = 1, **fields: Any) -> bool:
        """See Run.plan."""
        return self._agent.on_loop(lambda: self._run.plan(goal, steps, revision=revision, **fields))

    def step(self, step: str, phase: str, **fields: Any) -> bool:
        """See Run.step."""
        return self._agent.on_loop(lambda: self._run.step(step, phase, **fields))

    def feedback(self, **fields: Any) -> bool:
        """See Run.feedback."""
        return self._agent.on_loop(lambda: self._run.feedback(**fields))

    def before_step(self, step: str, *, deadline_ms: float = 150.0, **fields: Any) -> Told:
        """See Run.before_step."""
        asked = self._run.before_step(step, deadline_ms=deadline_ms, **fields)
        try:
            return self._agent.wait(asked, deadline_ms / 1000 + _MARGIN_S)
        except TimeoutError:
            return Told("", None, "the client's own thread did not answer in time")

    def recall(self, query: str, *, deadline_ms: float = 1000.0, **fields: Any) -> Reply:
        """See Run.recall."""
        asked = self._run.recall(query, deadline_ms=deadline_ms, **fields)
        return self._agent.wait(asked, deadline_ms / 1000 + _MARGIN_S)


class PlainAgent:
    """Use as a context manager. Arguments: those of `client.connect`."""

    def __init__(
        self,
        *,
        tenant: str,
        agent: str,
        broker: BrokerSettings | None = None,
        outbox: Path | None = None,
        shards: int = 1,
    ) -> None:
        self._connecting = connect(tenant=tenant, agent=agent, broker=broker, outbox=outbox, shards=shards)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="beforehand", daemon=True)
        self._stack = AsyncExitStack()
        self._agent: Agent | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._agent = self.wait(self._stack.enter_async_context(self._connecting), None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.wait(self._stack.aclose(), None)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def run(self, run: str) -> PlainRun:
        """A run by its id."""
        return PlainRun(self.on_loop(lambda: self._entered().run(run)), self)

    def connected(self, timeout_s: float) -> bool:
        """Wait until the broker is reached; False when it is not in time."""
        try:
            self.wait(self._entered().connected(), timeout_s)
        except TimeoutError:
            return False
        return True

    def confirmed(self, timeout_s: float) -> bool:
        """Wait until the daemon has everything on disk; False when it has not in time."""
        try:
            self.wait(self._entered().confirmed(), timeout_s)
        except TimeoutError:
            return False
        return True

    def on_loop(self, call: Callable[[], T]) -> T:
        """Carry out a call on the background thread and return what it returns or raises."""

        async def called() -> T:
            return call()

        return self.wait(called(), None)

    def wait(self, work: Coroutine[Any, Any, T], timeout_s: float | None) -> T:
        """The result of a coroutine that runs on the background thread. Raises TimeoutError."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout_s)
        except TimeoutError:
            future.cancel()
            raise

    def _entered(self) -> Agent:
        if self._agent is None:
            raise RuntimeError("enter the agent first: with PlainAgent(...) as agent:")
        return self._agent
