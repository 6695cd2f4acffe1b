"""One connection to a broker, for the daemon and for the client library. What it is made of stands in `wire`."""

from __future__ import annotations

import asyncio
import itertools
import ssl
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import aiomqtt

from beforehand import limits
from beforehand.backends.mqtt import reasons
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.backends.mqtt.publish_packets import Published
from beforehand.backends.mqtt.wire import Wire
from beforehand.errors import BusError, BusUnavailable, PublishRefused
from beforehand.ports import Arrival

_FAREWELL_S = 2.0
_PACKET_OVERHEAD = 64
"""Bytes of a PUBLISH beside its texts, at most."""


class Delivery(NamedTuple):
    """The handle of an arrival: acknowledges exactly one delivery on exactly one connection."""

    connection: Connection
    mid: int
    serial: int


class Connection:
    """One connection, from `open` to its loss. It never reconnects: make a new one.

    on_pause: called whenever the socket is left alone because `receive` is called too rarely.
    """

    def __init__(self, options: ConnectionOptions, on_pause: Callable[[], None] = lambda: None) -> None:
        self.options = options
        self.session_present = False
        """Whether the broker still had the session, so that its subscriptions stand."""
        self.lost_code: int | None = None
        """Reason code of the broker's DISCONNECT, when it sent one (MQTT 5)."""
        self.on_pause = on_pause
        self._open = False
        self._lost: str | None = None
        self._gone = asyncio.Event()
        self._inbox: deque[Arrival] = deque()
        self._inbox_bytes = 0
        self._arrived = asyncio.Event()
        self._unacknowledged: deque[Delivery] = deque()
        self._acknowledged: set[int] = set()
        self._serials = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Sequence[int] | None]] = {}
        self._window = asyncio.Semaphore(limits.PUBLISHES_IN_FLIGHT)
        self._maximum_packet: int | None = None
        self._wire = Wire(options, self)

    # --- life ---

    async def open(self) -> None:
        """Connect. Raises BusUnavailable when trying again can help, BusError when only a person can."""
        try:
            connack = await self._wire.connect()
        except (aiomqtt.MqttError, UnicodeError) as error:
            raise _unreachable(self.options.where, error) from None
        if connack is None:
            raise self._unavailable()
        if connack.code >= reasons.FAILURE:
            self.drop()
            raise reasons.connect_refused(self.options.where, connack.code, connack.reason)
        self.session_present = connack.session_present
        self._maximum_packet = connack.maximum_packet
        window = min(limits.PUBLISHES_IN_FLIGHT, connack.receive_maximum or limits.PUBLISHES_IN_FLIGHT)
        self._window = asyncio.Semaphore(window)
        self._open = self._lost is None

    async def close(self) -> None:
        """Say farewell (the broker drops the will) and close; what was acknowledged before is sent first."""
        if self.is_open:
            self._wire.farewell()
            try:
                async with asyncio.timeout(_FAREWELL_S):
                    await self._gone.wait()
            except TimeoutError:
                pass  # a broker that stands still gets none
        self.drop()

    def drop(self) -> None:
        """Close without farewell: the broker publishes the will."""
        self._wire.end("it was closed here")

    async def lost(self) -> BusUnavailable:
        """Return as soon as the connection has ended, with the reason."""
        await self._gone.wait()
        return self._unavailable()

    @property
    def is_open(self) -> bool:
        """Whether messages can be sent and received now."""
        return self._open and self._lost is None

    # --- messages in ---

    async def subscribe(self, filters: Sequence[str], *, retained: bool = True) -> None:
        """Subscribe at QoS 1; returns on SUBACK. Raises BusError naming the filter that the broker refuses.

        retained: False: stored messages are sent only for filters that the session did not have (MQTT 5).
        """
        answers = await self._answer(self._wire.subscribe(filters, retained=retained) if self.is_open else None)
        for name, answer in zip(filters, answers, strict=True):
            if answer >= reasons.FAILURE:
                raise reasons.subscribe_refused(self.options.where, name, answer)

    async def unsubscribe(self, filters: Sequence[str]) -> None:
        """Unsubscribe; returns on UNSUBACK."""
        await self._answer(self._wire.unsubscribe(filters) if self.is_open else None)

    async def receive(self, limit: int = limits.BATCH_MESSAGES) -> list[Arrival]:
        """The next messages in the order of delivery, at least one; waits for it.

        It may be cancelled without losing any. After the loss of the connection it gives what had arrived, then
        raises BusUnavailable.
        """
        while not self._inbox:
            if self._lost is not None:
                raise self._unavailable()
            self._arrived.clear()
            await self._arrived.wait()
        batch = [self._inbox.popleft() for _ in range(min(limit, len(self._inbox)))]
        self._inbox_bytes -= sum(len(arrival.payload) for arrival in batch)
        if len(self._inbox) <= self.options.unread_low and 2 * self._inbox_bytes <= limits.ARRIVALS_BYTES_HIGH:
            self._wire.resume()
        return batch

    def acknowledge(self, arrivals: Iterable[Arrival]) -> None:
        """Let the broker forget these. What another connection delivered is ignored, and so is a second time.

        PUBACKs leave in the order of delivery, as MQTT demands and some brokers enforce by disconnecting: one that is
        given too early waits for those before it.
        """
        if not self._unacknowledged:
            return
        oldest = self._unacknowledged[0].serial
        for arrival in arrivals:
            delivery: Delivery | None = arrival.handle
            if delivery is not None and delivery.connection is self and delivery.serial >= oldest:
                self._acknowledged.add(delivery.serial)
        mids = []
        while self._unacknowledged and self._unacknowledged[0].serial in self._acknowledged:
            delivery = self._unacknowledged.popleft()
            self._acknowledged.remove(delivery.serial)
            mids.append(delivery.mid)
        if self.is_open:
            self._wire.puback(mids)

    # --- messages out ---

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        retain: bool = False,
        expiry_s: float | None = None,
        response_topic: str | None = None,
        correlation: bytes | None = None,
    ) -> None:
        """QoS 1 publish; returns on PUBACK. Calls made at the same time are on the way together, in their order.

        expiry_s, response_topic and correlation need MQTT 5 and are left out on 3.1.1. Raises BusUnavailable when the
        message may not have arrived, PublishRefused when the broker does not take it.
        """
        size = len(topic.encode()) + len(payload) + len(response_topic or "") + len(correlation or b"")
        if self._maximum_packet is not None and size + _PACKET_OVERHEAD > self._maximum_packet:
            raise reasons.publish_refused(topic, reasons.PACKET_TOO_LARGE, f"{size} bytes are too many")
        await self._window.acquire()
        mid = None
        try:
            if self.is_open:
                mid = self._wire.publish(
                    topic,
                    payload,
                    retain=retain,
                    expiry_s=expiry_s,
                    response_topic=response_topic,
                    correlation=correlation,
                )
        except ValueError as error:
            self._window.release()
            raise PublishRefused(f"{topic!r} is no topic: {error}", "Publish to a topic without wildcards.") from None
        [answer] = await self._answer(mid, self._window.release)
        if answer >= reasons.FAILURE:
            raise reasons.publish_refused(topic, answer)

    async def _answer(self, mid: int | None, then: Callable[[], None] = lambda: None) -> Sequence[int]:
        """The broker's answer to the packet `mid`. `then` is called when it is there, whether still awaited or not."""
        if mid is None:
            then()
            raise self._unavailable()
        answer = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda _: then())
        self._answers[mid] = answer
        self._wire.resume()  # the answer comes behind what is unread
        try:
            async with asyncio.timeout(self.options.timeout_s):
                codes: Sequence[int] | None = await asyncio.shield(answer)
        except TimeoutError:
            raise BusUnavailable(
                f"the broker at {self.options.where} has not answered within {self.options.timeout_s:g} s.",
                "It is overloaded, or stands still.",
            ) from None
        if codes is None:
            raise self._unavailable()
        return codes

    def _unavailable(self) -> BusUnavailable:
        reason = self._lost or "it was never made"
        return BusUnavailable(f"no connection to the broker at {self.options.where}: {reason}.", "It is made again.")

    # --- what the wire tells ---

    def on_message(self, message: Published) -> None:
        """Keep it until `receive`."""
        handle = None
        if self.options.manual_ack and message.qos:
            handle = Delivery(self, message.mid, next(self._serials))
            self._unacknowledged.append(handle)
        self._inbox.append(
            Arrival(
                topic=message.topic,
                payload=message.payload,
                retained=message.retain,
                response_topic=message.response_topic,
                correlation=message.correlation,
                handle=handle,
            )
        )
        self._inbox_bytes += len(message.payload)
        self._arrived.set()

    def on_answer(self, mid: int, codes: Sequence[int]) -> None:
        """Wake who waits for it."""
        answer = self._answers.pop(mid, None)
        if answer is not None:
            answer.set_result(codes)

    def on_lost(self, reason: str, code: int | None) -> None:
        """Wake everybody."""
        self._lost = reason
        self.lost_code = code
        self._gone.set()
        self._arrived.set()
        for answer in self._answers.values():
            answer.set_result(None)
        self._answers.clear()

    def is_full(self) -> bool:
        """Whether enough is unread; never while an answer is awaited, which would stay unread too."""
        if self._answers:
            return False
        return len(self._inbox) >= self.options.unread_high or self._inbox_bytes >= limits.ARRIVALS_BYTES_HIGH


def _unreachable(where: str, error: aiomqtt.MqttError | UnicodeError) -> BusError:
    if isinstance(error, UnicodeError):
        return BusError(f"{where} cannot be the name of a broker: {error}.", "Correct broker.host.")
    if isinstance(error.__context__, ssl.SSLCertVerificationError):
        return BusError(
            f"the certificate of the broker at {where} does not verify: {error.__context__.verify_message}.",
            "Set broker.tls_ca to the certificate of the authority that signed it, and broker.host to its name.",
        )
    return BusUnavailable(
        f"no broker answers at {where}: {error}.", "Start it, or correct broker.host and broker.port."
    )
