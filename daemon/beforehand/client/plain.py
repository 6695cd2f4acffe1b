"""The client for programs without an event loop: the same calls; one background thread sends and hears."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from beforehand import limits
from beforehand.client.agent import process_for
from beforehand.client.process import OnRefused
from beforehand.client.speaker import Speaker
from beforehand.client.told import Told
from beforehand.messages.outbound import Reply
from beforehand.settings import BrokerSettings


class PlainRun(Speaker):
    """One run, for programs without an event loop; see `Speaker` for the calls that do not wait.

    Waiting is done by the calling thread, so a background thread that is stuck costs the deadline and no more.
    """

    def before_step(self, step: str, *, deadline_ms: float = 150.0, **fields: Any) -> Told:
        """See `client.Run.before_step`."""
        expected, taken = self._begin(step, fields)
        try:
            packet = expected.final.result(deadline_ms / 1000)
            return Told(packet.rendered, packet)
        except TimeoutError:
            return self._late(step, deadline_ms, taken=taken)
        finally:
            self._process.inbox.forget_final(expected)

    def recall(self, query: str, *, deadline_ms: float = 1000.0, **fields: Any) -> Reply:
        """See `client.Run.recall`."""
        question, answer = self._ask(query, fields)
        try:
            return answer.result(deadline_ms / 1000)
        except TimeoutError:
            return self._unanswered(question, deadline_ms)
        finally:
            self._process.inbox.forget_reply(question)


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
        on_refused: OnRefused | None = None,
        linger_s: float = limits.LINGER_S,
    ) -> None:
        self._process = process_for(
            tenant=tenant, agent=agent, broker=broker, outbox=outbox, shards=shards, on_refused=on_refused
        )
        self._linger_s = linger_s
        self._loop = asyncio.new_event_loop()
        self._serving: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._serve, name=f"client of {tenant}/{agent}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self.trouble is None:
            self.confirmed(self._linger_s)
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join(limits.BROKER_ANSWER_S)
        self._process.end()

    def run(self, run: str) -> PlainRun:
        """A run by its id. Raises Refusal for an id that the wire contract does not take."""
        return PlainRun(run, self._process)

    @property
    def unconfirmed(self) -> int:
        """Messages that the daemon has not confirmed yet."""
        return len(self._process.outbox)

    @property
    def trouble(self) -> str | None:
        """Why nothing can be sent now, or None."""
        return self._process.link.trouble

    def connected(self, timeout_s: float) -> bool:
        """Wait until the broker is reached; False when it is not in time. Raises BusError when it refuses us."""
        link = self._process.link

        def reached() -> bool:
            if link.refusal is not None:
                raise link.refusal
            return link.trouble is None

        return _until(reached, link.changed.next, timeout_s)

    def confirmed(self, timeout_s: float) -> bool:
        """Wait until the daemon has everything on disk, or has refused it; False when that is not in time."""
        return _until(lambda: not self.unconfirmed, self._process.confirmed.next, timeout_s)

    def _serve(self) -> None:
        with contextlib.closing(self._loop):
            self._serving = self._loop.create_task(self._process.serve())
            with contextlib.suppress(asyncio.CancelledError):
                self._loop.run_until_complete(self._serving)
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.wait(left))

    def _stop(self) -> None:
        if self._serving is not None:
            self._serving.cancel()


def _until(is_so: Callable[[], bool], next_change: Callable[[], Future[None]], timeout_s: float) -> bool:
    ends = time.monotonic() + timeout_s
    while True:
        changed = next_change()
        if is_so():
            return True
        try:
            changed.result(max(ends - time.monotonic(), 0.0))
        except TimeoutError:
            return False
