"""The way out: the newest packet of each topic reaches the broker, in order per topic, across reconnections."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace

import structlog

from beforehand import limits
from beforehand.errors import BusUnavailable, PublishRefused
from beforehand.ports import Bus, Clock, Measures

_log = structlog.get_logger()
_IN_FLIGHT = 16


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One publish. An empty payload clears what is retained."""

    topic: str
    payload: bytes
    retain: bool = False
    expiry_s: float | None = None
    correlation: bytes | None = None


class Publisher:
    """Retained messages replace each other per topic while they wait; the others queue, the oldest are dropped."""

    def __init__(self, bus: Bus, clock: Clock, measures: Measures) -> None:
        self._bus = bus
        self._clock = clock
        self._measures = measures
        self._retained: dict[str, Outgoing] = {}
        self._plain: deque[Outgoing] = deque()
        self._standing: dict[str, tuple[Outgoing, float]] = {}
        """What is retained, by topic, and until when it may be; what was published last stands last."""
        self._busy: set[str] = set()
        self._plain_next = False
        self._idle: deque[asyncio.Event] = deque()

    def put(self, outgoing: Outgoing) -> None:
        """Hand over; returns at once. Past limits.PENDING_PACKETS waiting topics the oldest gives way."""
        if outgoing.retain:
            self._retained[outgoing.topic] = outgoing
        else:
            self._plain.append(outgoing)
        self._drop_oldest()
        self._call()

    def _drop_oldest(self) -> None:
        """Keep what waits within its bounds; what goes is counted."""
        if len(self._retained) > limits.PENDING_PACKETS:
            self._retained.pop(next(iter(self._retained)))
            self._measures.count("beforehand_failures_total", part="publisher")
        if len(self._plain) > limits.PENDING_RECEIPTS:
            self._plain.popleft()
            self._measures.count("beforehand_failures_total", part="publisher")

    async def run(self) -> None:
        """Publish until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_IN_FLIGHT):
                group.create_task(self._work())
            group.create_task(self._restore_after_reconnection())

    async def drain(self) -> None:
        """Publish all that waits, then return (replay and shutdown)."""
        while (outgoing := self._next()) is not None:
            await self._send(outgoing)

    async def _work(self) -> None:
        called = asyncio.Event()
        while True:
            outgoing = self._next()
            if outgoing is None:
                called.clear()
                self._idle.append(called)
                await called.wait()
                continue
            await self._send(outgoing)

    def _call(self) -> None:
        """One worker looks again, if one has nothing to do: to wake all for each message costs more than to send it."""
        if self._idle:
            self._idle.pop().set()

    def _next(self) -> Outgoing | None:
        """The next message whose topic nobody is publishing to; packets and receipts take turns."""
        topic = next((topic for topic in self._retained if topic not in self._busy), None)
        self._plain_next = not self._plain_next
        if self._plain and (topic is None or self._plain_next):
            return self._plain.popleft()
        if topic is None:
            return None
        self._busy.add(topic)
        return self._retained.pop(topic)

    async def _send(self, outgoing: Outgoing) -> None:
        started = self._clock.monotonic_s()
        try:
            await self._bus.publish(
                outgoing.topic,
                outgoing.payload,
                retain=outgoing.retain,
                expiry_s=outgoing.expiry_s,
                correlation=outgoing.correlation,
            )
            self._measures.observe("beforehand_publish_seconds", self._clock.monotonic_s() - started)
            self._remember(outgoing)
        except PublishRefused as error:
            _log.warning("the broker refused a publish", topic=outgoing.topic, reason=str(error))
        except BusUnavailable:
            self._put_back(outgoing)
            await asyncio.sleep(0)  # the bus may have to run first, to notice that its connection is lost
            await self._bus.connected()
        except asyncio.CancelledError:
            self._put_back(outgoing)  # for `drain`; twice does no harm
            raise
        finally:
            if outgoing.retain:
                self._busy.discard(outgoing.topic)
                if self._retained:
                    self._call()

    def _put_back(self, outgoing: Outgoing) -> None:
        """Wait for the broker, unless something newer for the topic already does."""
        if outgoing.retain:
            self._retained.setdefault(outgoing.topic, outgoing)
        else:
            self._plain.appendleft(outgoing)

    def _remember(self, outgoing: Outgoing) -> None:
        """What must be retained now, should the broker forget it; what has expired need not be, and is forgotten."""
        now_s = self._clock.monotonic_s()
        self._standing.pop(outgoing.topic, None)
        if outgoing.retain and outgoing.payload:
            lasts_s = float("inf") if outgoing.expiry_s is None else outgoing.expiry_s
            self._standing[outgoing.topic] = outgoing, now_s + lasts_s
        while self._standing:
            topic, (_, until_s) = next(iter(self._standing.items()))
            if until_s > now_s and len(self._standing) <= limits.PENDING_PACKETS:
                break
            del self._standing[topic]

    async def _restore_after_reconnection(self) -> None:
        """A broker that restarted may have lost what it retained: publish it again, for the time that it has left."""
        seen = self._bus.connections
        while True:
            await self._bus.reconnected(seen)
            seen = self._bus.connections
            now_s = self._clock.monotonic_s()
            for outgoing, until_s in list(self._standing.values()):
                if outgoing.topic not in self._retained and until_s > now_s:
                    expiry_s = None if outgoing.expiry_s is None else until_s - now_s
                    self.put(replace(outgoing, expiry_s=expiry_s))
