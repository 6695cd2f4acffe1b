"""The Bus over an MQTT broker: an ingest lane that may be paused, a control lane that answers, and a status."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import structlog

from beforehand import limits
from beforehand.backends import presence
from beforehand.backends.mqtt.connection import Connection, Delivery
from beforehand.backends.mqtt.lane import LaneLink
from beforehand.backends.mqtt.lock import client_id_lock
from beforehand.backends.mqtt.options import ConnectionOptions, Will, from_settings
from beforehand.errors import BusError, BusUnavailable, PublishRefused
from beforehand.messages import topics
from beforehand.ports import Arrival, Lane, Measures
from beforehand.settings import BrokerSettings

_log = structlog.get_logger(__name__)
_FAREWELL_S = 3.0
_PROBES = 5
_CHANNELS = {Lane.INGEST: topics.INGEST, Lane.CONTROL: topics.CONTROL}


class MqttBus:
    """`ports.Bus` over MQTT 5 or 3.1.1; opened once.

    state_folder: for the locks on the client ids.
    chance: draws from 0..1, for the jitter of the backoff.
    """

    def __init__(
        self,
        settings: BrokerSettings,
        measures: Measures,
        state_folder: Path,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._name = settings.name
        self._broker = from_settings(settings, client_id=settings.name)
        self._state_folder = state_folder
        self._measures = measures
        self._status_topic = topics.of_status(settings.name, settings.root)
        self._probe_topic = self._status_topic.removesuffix("status") + "probe"
        self._status: bytes | None = None
        self._status_refused = False
        self._links = {
            lane: LaneLink(
                lane,
                self._options(lane),
                topics.filters(_CHANNELS[lane], settings.root),
                self._greet if lane is Lane.CONTROL else _no_greeting,
                measures=measures,
                chance=chance,
            )
            for lane in Lane
        }

    def _options(self, lane: Lane) -> ConnectionOptions:
        return replace(
            self._broker,
            client_id=f"{self._name}-{lane}",
            clean_start=False,
            session_expiry_s=limits.SESSION_EXPIRY_S,
            manual_ack=True,
            will=Will(topic=self._status_topic, payload=presence.LOST) if lane is Lane.CONTROL else None,
        )

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Connect both lanes; a broker that only is not there yet is awaited behind.

        Raises ClientIdTaken, or BusError when the broker refuses the daemon for good. At the end the arrivals end too.
        """
        with ExitStack() as locks:
            for lane in Lane:
                locks.enter_context(client_id_lock(self._state_folder, f"{self._name}-{lane}", self._broker.where))
            try:
                await self._start()
                yield
            finally:
                with anyio.move_on_after(_FAREWELL_S, shield=True):
                    await self._say_stopped()
                    await asyncio.gather(*(link.close() for link in self._links.values()))

    async def _start(self) -> None:
        outcomes = await asyncio.gather(*(link.start() for link in self._links.values()), return_exceptions=True)
        for outcome in outcomes:
            if outcome is not None:
                raise outcome

    async def _say_stopped(self) -> None:
        if self._status is not None and self._links[Lane.CONTROL].is_up:
            try:
                await self.set_status(presence.STOPPED)
            except BusError as error:
                _log.warning("no farewell", problem=error.problem)

    def arrivals(self, lane: Lane) -> AsyncIterator[list[Arrival]]:
        """See `ports.Bus`. Raises BusError when the lane is lost for good."""
        return self._links[lane].arrivals()

    def acknowledge(self, arrivals: Sequence[Arrival]) -> None:
        """See `ports.Bus`."""
        by_connection: dict[Connection, list[Arrival]] = {}
        for arrival in arrivals:
            delivery: Delivery | None = arrival.handle
            if delivery is not None:
                by_connection.setdefault(delivery.connection, []).append(arrival)
        for connection, delivered in by_connection.items():
            connection.acknowledge(delivered)

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        retain: bool = False,
        expiry_s: float | None = None,
        correlation: bytes | None = None,
    ) -> None:
        """See `ports.Bus`."""
        connection = self._links[Lane.CONTROL].connection
        if connection is None:
            raise BusUnavailable(f"no connection to the broker at {self._broker.where}.", "It is made again.")
        try:
            await connection.publish(topic, payload, retain=retain, expiry_s=expiry_s, correlation=correlation)
        except PublishRefused:
            self._measures.count("beforehand_publish_refused_total")
            raise

    async def connected(self) -> None:
        """See `ports.Bus`. Raises BusError when a lane is lost for good."""
        while not self.is_connected:
            for link in self._links.values():
                await link.ready()

    async def reconnected(self, seen: int) -> None:
        """See `ports.Bus`. Raises BusError when a lane is lost for good."""
        await self._links[Lane.CONTROL].made_after(seen)
        await self.connected()

    @property
    def is_connected(self) -> bool:
        """See `ports.Bus`."""
        return all(link.is_up for link in self._links.values())

    @property
    def connections(self) -> int:
        """See `ports.Bus`."""
        return self._links[Lane.CONTROL].connections

    async def set_status(self, payload: bytes) -> None:
        """See `ports.Bus`."""
        self._status = payload
        connection = self._links[Lane.CONTROL].connection
        if connection is not None:
            try:
                await self._tell(connection, payload)
            except BusUnavailable:
                _log.debug("status waits for the next connection")

    async def _greet(self, connection: Connection) -> None:
        if self._status is not None:
            await self._tell(connection, self._status)

    async def _tell(self, connection: Connection, status: bytes) -> None:
        """Without a status the daemon serves as well: a broker that refuses it is told of once, until it takes one."""
        try:
            await connection.publish(self._status_topic, status, retain=True)
        except PublishRefused as error:
            self._measures.count("beforehand_publish_refused_total")
            if not self._status_refused:
                _log.warning("the broker refuses the status", problem=error.problem, advice=error.advice)
            self._status_refused = True
        else:
            self._status_refused = False

    async def probe(self) -> float:
        """Median seconds of a QoS 1 round trip through the broker to ourselves, on a connection of its own.

        40 ms and more mean that a side waits for delayed TCP acknowledgements. Raises BusError.
        """
        own = f"{self._name}-probe-{secrets.token_hex(4)}"
        connection = Connection(replace(self._broker, client_id=own, clean_start=True, session_expiry_s=0, will=None))
        try:
            await connection.open()
            await connection.subscribe([self._probe_topic])
            return sorted([await self._round_trip(connection) for _ in range(_PROBES)])[_PROBES // 2]
        finally:
            await connection.close()

    async def _round_trip(self, connection: Connection) -> float:
        loop = asyncio.get_running_loop()
        mark = secrets.token_bytes(16)
        began = loop.time()
        await connection.publish(self._probe_topic, mark)
        try:
            async with asyncio.timeout(self._broker.timeout_s):
                while mark not in [arrival.payload for arrival in await connection.receive()]:
                    pass  # another daemon's probe
        except TimeoutError:
            raise BusUnavailable(
                f"a message to ourselves on {self._probe_topic} has not come back.",
                "Allow this user to read and to write there in the broker's access rules.",
            ) from None
        return loop.time() - began


async def _no_greeting(_connection: Connection) -> None:
    return
