"""What both clients say of a run: the calls that take a message and return at once."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from beforehand.client.inbox import Expected
from beforehand.client.process import Process
from beforehand.client.told import Told
from beforehand.messages.outbound import Packet, Reply


class Speaker:
    """One run of the agent. Messages are counted and kept until the daemon has them on disk.

    Each call returns whether its message was taken: False only when the outbox has no room. A message that the daemon
    would refuse raises Refusal (`field`, `problem`, `advice`).
    """

    def __init__(self, run: str, process: Process) -> None:
        self.scope = process.scope(run)
        self._process = process
        process.open(run)

    def event(self, kind: str, text: str = "", **fields: Any) -> bool:
        """Something happened. fields: those of the wire contract's `event`."""
        return self._say("event", {"kind": kind, "text": text, **fields})

    def plan(self, goal: str, steps: Sequence[dict[str, Any]], *, revision: int = 1, **fields: Any) -> bool:
        """The goal and the steps to come; a later revision replaces an earlier one."""
        return self._say("plan", {"goal": goal, "steps": list(steps), "revision": revision, **fields})

    def step(self, step: str, phase: str, **fields: Any) -> bool:
        """A step begins or ends, without waiting for its packet."""
        return self._say("step", {"step": step, "phase": phase, **fields})

    def feedback(self, **fields: Any) -> bool:
        """What a packet was worth (`packet`, `used`, `harmful`, `missing`) or how the run ended (`outcome`)."""
        return self._say("feedback", fields)

    def prepared(self, step: str) -> Packet | None:
        """The newest packet that has come for a step and has not expired, without asking for anything."""
        return self._process.inbox.newest(self.scope.run, step)

    def close(self) -> None:
        """Nothing more will be asked of this run: its packets are forgotten and no more are listened for."""
        self._process.close(self.scope.run)

    def _say(self, channel: Any, fields: dict[str, Any]) -> bool:
        return self._process.say(self.scope, channel, fields)

    def _begin(self, step: str, fields: dict[str, Any]) -> tuple[Expected, bool]:
        """Say that a step begins; what to expect, and whether it was taken."""
        expected = self._process.inbox.expect_final(self.scope.run, step)
        try:
            return expected, self.step(step, "begin", **fields)
        except BaseException:
            self._process.inbox.forget_final(expected)
            raise

    def _late(self, step: str, deadline_ms: float, *, taken: bool) -> Told:
        """What to tell when the final packet has not come in time: the prepared one, if any still holds; the reason."""
        reason = self._process.link.trouble or f"no final packet within {deadline_ms:g} ms"
        if not taken:
            reason = f"the outbox is full; {reason}"
        prepared = self.prepared(step)
        return Told("" if prepared is None else prepared.rendered, prepared, reason)

    def _ask(self, query: str, fields: dict[str, Any]) -> tuple[str, Future[Reply]]:
        """Ask; the question's id and the promised answer."""
        question = fields.setdefault("id", uuid.uuid4().hex)
        answer = self._process.inbox.expect_reply(question)
        try:
            self._say("recall", {"query": query, **fields})
        except BaseException:
            self._process.inbox.forget_reply(question)
            raise
        return question, answer

    def _unanswered(self, question: str, deadline_ms: float) -> Reply:
        reason = self._process.link.trouble or f"no answer within {deadline_ms:g} ms"
        return Reply(id=question, status="error", reason=reason)
