"""Agents that talk all the while: they say events one behind the other, ask before steps, and know what they said."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Self

from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings

WINDOW = 500
"""Unconfirmed messages at which an agent waits."""
ASK_EVERY = 100
DEADLINE_MS = 150.0
SLACK_S = 0.5
"""What a loaded machine may add to a deadline before an answer counts as late."""
TEXT = "the order %d goes to box %d; " * 8
PLAN = [{"id": "pack", "goal": "pack the order", "needs": ["order", "box"]}]


class Talk:
    """`agents` agents on the broker at `port`, each saying `events` events; a context manager that waits for nobody.

    first: the number of the first event, so that an agent can go on where it stopped.
    """

    def __init__(self, port: int, *, agents: int = 2, events: int = 1_000, name: str = "talk", first: int = 0) -> None:
        self.port = port
        self._broker = BrokerSettings(host="127.0.0.1", port=port)
        self._names = [f"{name}-{number}" for number in range(agents)]
        self._numbers = range(first, first + events)
        self._threads = [threading.Thread(target=self._talk, args=(one,), daemon=True) for one in self._names]
        self._stop = threading.Event()
        self.said: list[str] = []
        self.confirmed = 0
        """Agents of which all is on disk, as they know it."""
        self.late = 0
        """Answers before a step that came later than the deadline."""
        self.reasons: Counter[str] = Counter()
        """Why there was no final packet, by reason."""
        self.unconfirmed = dict.fromkeys(self._names, 0)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)

    @property
    def is_over(self) -> bool:
        """Whether every agent has said all, and all of it is on disk."""
        return self.confirmed == len(self._names)

    def wait(self, within_s: float) -> None:
        """Until it is over. Raises TimeoutError."""
        deadline = time.monotonic() + within_s
        while not self.is_over:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.unconfirmed} are not confirmed after {within_s} s")
            time.sleep(0.05)

    def wait_for(self, said: int, within_s: float = 60.0) -> None:
        """Until so much was said. Raises TimeoutError."""
        deadline = time.monotonic() + within_s
        while len(self.said) < said:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(self.said)} of {said} were said within {within_s} s")
            time.sleep(0.01)

    def _talk(self, name: str) -> None:
        with PlainAgent(tenant="drill", agent=name, broker=self._broker, linger_s=0) as agent:
            run = agent.run("r1")
            run.plan("ship the orders", PLAN)
            for number in self._numbers:
                while agent.unconfirmed >= WINDOW and not self._stop.is_set():
                    self.unconfirmed[name] = agent.unconfirmed
                    time.sleep(0.01)
                if self._stop.is_set():
                    return
                key = f"{name}-{number}"
                if run.event("note", TEXT % ((number, number % 97) * 8), id=key):
                    self.said.append(key)
                if number % ASK_EVERY == ASK_EVERY - 1:
                    self._ask(run, number)
            while not self._stop.is_set() and not agent.confirmed(0.1):
                self.unconfirmed[name] = agent.unconfirmed
            self.confirmed += not agent.unconfirmed

    def _ask(self, run, number: int) -> None:
        began = time.monotonic()
        told = run.before_step(f"pack-{number}", deadline_ms=DEADLINE_MS, goal="pack the order", needs=["order", "box"])
        self.late += time.monotonic() - began > DEADLINE_MS / 1000 + SLACK_S
        if told.reason is not None:
            self.reasons[told.reason.split(":")[0]] += 1
        run.step(f"pack-{number}", "end", ok=True)
