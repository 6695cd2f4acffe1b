"""Keeps one lane connected: reconnection with backoff, subscriptions, and what is told to whoever waits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import structlog

from beforehand import limits
from beforehand.backends.mqtt import reasons
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.errors import BusError, BusUnavailable, ClientIdTaken
from beforehand.ports import Arrival, Lane, Measures

_log = structlog.get_logger(__name__)
_SHORT_S = 1.0


class LaneLink:
    """One lane over all its connections.

    greet: called on each new connection before it counts as made.
    chance: draws from 0..1, for the jitter of the backoff.
    """

    def __init__(
        self,
        lane: Lane,
        options: ConnectionOptions,
        filters: Sequence[str],
        greet: Callable[[Connection], Awaitable[None]],
        *,
        measures: Measures,
        chance: Callable[[], float],
    ) -> None:
        self._lane = lane
        self._options = options
        self._filters = filters
        self._greet = greet
        self._measures = measures
        self._chance = chance
        self._feeds: deque[Connection] = deque()
        self._fed = asyncio.Event()
        self._up = asyncio.Event()
        self._made = asyncio.Event()
        self._tried = asyncio.Event()
        self._failure: BusError | None = None
        self._closed = False
        self._task: asyncio.Task[None] | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._renewed = False
        self.connection: Connection | None = None
        """The connection that can be used now."""
        self.connections = 0
        """How often it was made."""

    # --- for the bus ---

    async def start(self) -> None:
        """Return after the first attempt; later ones go on behind. Raises BusError when it was refused for good."""
        self._task = asyncio.create_task(self._run(), name=f"lane {self._lane}")
        self._task.add_done_callback(self._on_ended)
        await self._tried.wait()
        if self._failure is not None:
            raise self._failure

    async def close(self) -> None:
        """End the connection in order, and the arrivals with it."""
        self._closed = True
        tasks = [task for task in (self._renewal, self._task) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for waited_for in (self._fed, self._up, self._made):
            waited_for.set()

    async def ready(self) -> None:
        """Return as soon as there is a connection. Raises BusError when there will be none."""
        while self.connection is None:
            self._raise_ended()
            await self._up.wait()

    async def made_after(self, seen: int) -> None:
        """Return as soon as the connection was made more often than `seen`. Raises as `ready`."""
        while self.connections <= seen:
            self._raise_ended()
            self._made.clear()
            await self._made.wait()

    @property
    def is_up(self) -> bool:
        """Whether there is a connection now."""
        return self.connection is not None

    async def arrivals(self) -> AsyncIterator[list[Arrival]]:
        """Batches over all connections, until `close`. Raises BusError when there will be no more connection."""
        while not self._closed:
            if not self._feeds:
                self._raise_failure()
                self._fed.clear()
                await self._fed.wait()
                continue
            feed = self._feeds[0]
            try:
                batch = await feed.receive()
            except BusUnavailable:
                if self._feeds and self._feeds[0] is feed:
                    self._feeds.popleft()
                continue
            yield batch

    # --- the loop ---

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        down_since, delay, short_ones = loop.time(), limits.RECONNECT_FIRST_S, 0
        while self._failure is None:
            connection = Connection(self._options, on_pause=self._on_pause)
            try:
                if await self._attempt(connection):
                    up_since = loop.time()
                    self._measure(up_since - down_since)
                    await self._until_lost(connection)
                    down_since, delay = loop.time(), limits.RECONNECT_FIRST_S
                    short = down_since - up_since < _SHORT_S or connection.lost_code == reasons.TAKEN_OVER
                    short_ones = short_ones + 1 if short else 0
                else:
                    short_ones = 0
            finally:
                await connection.close()
            self._tried.set()
            if short_ones >= limits.TAKEOVERS:
                self._fail(_taken_over(self._options))
            if self._failure is None:
                await asyncio.sleep(delay * (0.5 + self._chance()))
                delay = min(2 * delay, limits.RECONNECT_LAST_S)

    async def _attempt(self, connection: Connection) -> bool:
        """Whether the connection was made, with subscriptions and greeting."""
        try:
            await connection.open()
            self._feed(connection)
            await self._subscribe(connection)
            await self._greet(connection)
        except BusUnavailable as error:
            _log.warning("no broker", lane=self._lane, problem=error.problem, advice=error.advice)
        except BusError as error:
            _log.error("broker refuses", lane=self._lane, problem=error.problem, advice=error.advice)
            if not self._tried.is_set():
                self._fail(error)
            return False
        return connection.is_open

    def _feed(self, connection: Connection) -> None:
        """Let the arrivals go on with this connection. What is unread of an earlier one comes again in its session."""
        if connection.session_present:
            self._feeds.clear()
        self._feeds.append(connection)
        self._fed.set()

    async def _subscribe(self, connection: Connection) -> None:
        """Subscribe where the broker has no session.

        In a session that it kept, the subscriptions stand. They are renewed once in each process, because the filters
        may have changed since the last one; but nobody waits for that, because some brokers (rumqttd) hold the SUBACK
        back behind unacknowledged messages.
        """
        if not connection.session_present:
            await connection.subscribe(self._filters)
            self._renewed = True
        elif not self._renewed:
            self._renewal = asyncio.create_task(self._renew(connection), name=f"renew {self._lane}")

    async def _renew(self, connection: Connection) -> None:
        try:
            await connection.subscribe(self._filters, retained=False)
            self._renewed = True
        except BusError as error:
            _log.warning("subscriptions not renewed", lane=self._lane, problem=error.problem, advice=error.advice)

    async def _until_lost(self, connection: Connection) -> None:
        self.connection = connection
        self.connections += 1
        for waited_for in (self._up, self._made, self._tried):
            waited_for.set()
        _log.info("connected", lane=self._lane, broker=self._options.where, session=connection.session_present)
        try:
            reason = await connection.lost()
        finally:
            self.connection = None
            self._up.clear()
        _log.warning("disconnected", lane=self._lane, problem=reason.problem, code=connection.lost_code)

    def _fail(self, error: BusError) -> None:
        """Nobody need wait for a connection any more."""
        self._failure = error
        for waited_for in (self._tried, self._up, self._made, self._fed):
            waited_for.set()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _raise_ended(self) -> None:
        self._raise_failure()
        if self._closed:
            raise BusUnavailable("the bus is closed.", "Make a new one.")

    def _on_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("lane ended", lane=self._lane, exc_info=error)
            self._fail(BusError(f"the {self._lane} lane has ended: {error!r}.", "Restart the daemon, and report this."))

    def _on_pause(self) -> None:
        self._measures.count("beforehand_pauses_total", lane=self._lane)

    def _measure(self, down_s: float) -> None:
        self._measures.count("beforehand_disconnected_seconds_total", down_s, lane=self._lane)
        if self.connections:
            self._measures.count("beforehand_reconnections_total", lane=self._lane)


def _taken_over(options: ConnectionOptions) -> ClientIdTaken:
    return ClientIdTaken(
        f"the broker at {options.where} ended {limits.TAKEOVERS} connections of {options.client_id!r}, each as soon as "
        "it was made: most likely another client uses this id.",
        "Give this daemon another broker.name, or stop the other one; the broker's log names its address.",
    )
