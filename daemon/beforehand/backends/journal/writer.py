"""Group commit: one thread that stores, in order, whatever was handed over while its last commit ran."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from beforehand import limits
from beforehand.backends.journal.rows import Row, closed
from beforehand.errors import JournalError, Unstorable
from beforehand.ports import Measures
from beforehand.settings import JournalSettings

Table = Literal["messages", "packets", "vectors", "dead_letters"]


class NotNow(JournalError):
    """The database cannot store anything at present; the same commit may succeed later."""


@dataclass(slots=True, eq=False)
class Call:
    """Rows that one caller handed over; they are stored together or not at all."""

    table: Table
    rows: list[Row]
    answer: asyncio.Future[Any]
    handed_over_s: float
    tried: bool = False
    """Whether a commit of it failed in a way that leaves open what became of it."""

    @property
    def messages(self) -> int:
        """How many messages it brings."""
        return len(self.rows) if self.table == "messages" else 0


Commit = Callable[[Sequence[Call]], list[Any]]
"""Stores calls in one transaction and gives each its answer. Raises NotNow, or Unstorable when a row is at fault."""


class GroupWriter:
    """A queue and its thread. Answers are given on the loop, in order, and only for what is on disk.

    commit: called on the thread; settings: how many rows (`commit_messages`; a call is never split) and how long to
    wait for company (`commit_age_s`). Must be made on the loop that hands over.
    """

    def __init__(self, commit: Commit, settings: JournalSettings, measures: Measures) -> None:
        self._commit = commit
        self._settings = settings
        self._measures = measures
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Call] = deque()
        self._queued_rows = 0
        self._changed = threading.Condition()
        self._closing = False
        self._abandoned = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal-writer", daemon=True)
        self.reason: str | None = None
        """Why nothing can be stored now; None when all is well."""
        self.waiting = 0
        """Messages handed over and not yet on disk."""
        self._thread.start()

    async def hand_over(self, table: Table, new: list[Row]) -> Any:
        """The answer of `commit`, once these rows are durable. Raises JournalError after `close`."""
        call = Call(table, new, self._loop.create_future(), time.monotonic())
        with self._changed:
            if self._closing:
                raise closed()
            self._queue.append(call)
            self._queued_rows += len(new)
            self._changed.notify()
        self._wait_for(call.messages)
        return await call.answer

    def close(self) -> None:
        """Store what was handed over, for at most limits.FLUSH_S, then end the thread. Blocks."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(limits.FLUSH_S)
        self._abandoned.set()
        self._thread.join()

    def _run(self) -> None:
        while calls := self._next():
            self._store(calls)

    def _next(self) -> list[Call]:
        """The calls of the next commit; none when all is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closing)
            if self._queue and self._settings.commit_age_s:
                oldest = time.monotonic() - self._queue[0].handed_over_s
                self._changed.wait_for(self._is_full, self._settings.commit_age_s - oldest)
            return self._take()

    def _is_full(self) -> bool:
        return self._closing or self._queued_rows >= self._settings.commit_messages

    def _take(self) -> list[Call]:
        calls: list[Call] = []
        size = 0
        while self._queue and (not calls or size + len(self._queue[0].rows) <= self._settings.commit_messages):
            calls.append(self._queue.popleft())
            size += len(calls[-1].rows)
        self._queued_rows -= size
        return calls

    def _store(self, calls: list[Call]) -> None:
        """Commit, and halve around a row that cannot be stored until its call stands alone."""
        try:
            answers = self._persist(calls)
        except Unstorable as error:
            if len(calls) > 1:
                half = len(calls) // 2
                self._store(calls[:half])
                self._store(calls[half:])
                return
            answers = [error]
        except JournalError as error:
            answers = [error] * len(calls)
        with contextlib.suppress(RuntimeError):  # the loop is gone, and with it everyone who waited
            self._loop.call_soon_threadsafe(self._answer, calls, answers, time.monotonic())

    def _persist(self, calls: list[Call]) -> list[Any]:
        pause_s = limits.STORE_RETRY_FIRST_S
        while not self._abandoned.is_set():
            try:
                answers = self._commit(calls)
            except NotNow as error:
                self.reason = str(error)
                for call in calls:
                    call.tried = True
            else:
                self.reason = None
                return answers
            self._abandoned.wait(pause_s)
            pause_s = min(pause_s * 2, limits.STORE_RETRY_LAST_S)
        raise JournalError(f"the journal closed before this was stored: {self.reason}", "Send it again.")

    def _answer(self, calls: list[Call], answers: list[Any], durable_s: float) -> None:
        self._wait_for(-sum(call.messages for call in calls))
        stored = 0
        for call, answer in zip(calls, answers, strict=True):
            failed = isinstance(answer, JournalError)
            stored += 0 if failed else call.messages
            if call.answer.done():
                continue  # its caller was cancelled
            if failed:
                call.answer.set_exception(answer)
            else:
                call.answer.set_result(answer)
        if stored:
            self._measures.observe("beforehand_commit_messages", stored)
            self._measures.observe("beforehand_commit_seconds", durable_s - calls[0].handed_over_s)

    def _wait_for(self, messages: int) -> None:
        if messages:
            self.waiting += messages
            self._measures.gauge("beforehand_uncommitted", self.waiting)
