"""The inside of aiomqtt 2 and paho-mqtt 2: the only module that reaches behind their public doors.

What those doors do not give, and is done here instead:

- aiomqtt reads one packet at each wake of the loop into a queue whose iterator loses messages when it is cancelled:
  here one reader that nobody cancels takes packets in runs and hands each straight on.
- It cannot stop reading. Here the socket is left alone while paused, so that TCP pushes back. A paused connection still
  reads a little twice within each keep-alive, because an unread PINGRESP would look like a dead broker.
- It drops the CONNACK's session flag and properties, and the PUBACK's reason code: both are handed on. paho breaks the
  connection when a PUBACK has a reason code that is not in its list (mosquitto: 0x95, too large).
- paho makes half a dozen objects for each PUBLISH and PUBACK: those two are read and written by `publish_packets`.
- paho registers a writer and makes a system call for each acknowledgement: here they leave together.
- A broker without TCP_NODELAY waits for our delayed TCP acknowledgement (40 ms): on Linux it is sent at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from paho.mqtt.client import ConnectFlags, DisconnectFlags
from paho.mqtt.enums import MessageType, MQTTErrorCode
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from beforehand import limits
from beforehand.backends.mqtt import making, publish_packets
from beforehand.backends.mqtt.listener import Connack, Listener
from beforehand.backends.mqtt.options import ConnectionOptions

_PACKETS_PER_WAKE = 16
"""About half a millisecond of decoding, then others get the loop."""
_QUICKACK: int | None = getattr(socket, "TCP_QUICKACK", None)
_UNSPECIFIED = 0x80
_QOS_2 = 2


class Wire:
    """One aiomqtt client for one connection."""

    def __init__(self, options: ConnectionOptions, listener: Listener) -> None:
        self._options = options
        self._v5 = options.protocol == "5"
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._connack: Connack | None = None
        self._ended = asyncio.Event()
        self._paused = False
        self._breath: asyncio.TimerHandle | None = None
        self._client = making.client(options)
        self._paho = self._client._client
        self._wrapped_on_connect: Callable[..., Any] = self._client._on_connect
        self._paho._create_socket = lambda: making.connect(options)  # type: ignore[method-assign]
        self._paho.on_connect = self._on_connect
        self._paho.on_disconnect = self._on_disconnect
        self._paho._handle_publish = self._on_publish  # type: ignore[method-assign]
        self._paho._handle_pubackcomp = self._on_puback  # type: ignore[method-assign, assignment]
        self._paho.on_subscribe = self._paho.on_unsubscribe = self._on_answers
        self._paho.on_socket_open = self._on_socket_open
        self._paho.on_socket_register_write = self._on_want_write

    # --- life ---

    async def connect(self) -> Connack | None:
        """The broker's answer; None when the connection was lost without one. Raises aiomqtt.MqttError."""
        connecting = asyncio.ensure_future(self._client.__aenter__())
        connecting.add_done_callback(lambda done: done.cancelled() or done.exception())
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({connecting, ended}, return_when=asyncio.FIRST_COMPLETED)
            if self._connack is None and not self._ended.is_set():
                connecting.result()
        except BaseException:
            self.end("it was never made")
            raise
        finally:
            ended.cancel()
            connecting.cancel()  # its thread may still open a socket, which `_start` closes
        return self._connack

    def farewell(self) -> None:
        """Send DISCONNECT behind all that is on its way; the end of the connection is told to the listener."""
        self._paho.disconnect()

    def end(self, reason: str) -> None:
        """Close the socket, for whatever reason; later calls do nothing."""
        self._ending(reason, None)
        self._paho._sock_close()

    def _ending(self, reason: str, code: int | None) -> None:
        if self._breath is not None:
            self._breath.cancel()
        if not self._ended.is_set():
            self._ended.set()
            self._listener.on_lost(reason, code)

    def _on_connect(
        self, client: Any, data: Any, flags: ConnectFlags, reason: ReasonCode, properties: Properties | None
    ) -> None:
        self._connack = Connack(
            code=reason.value,
            reason=str(reason),
            session_present=bool(flags.session_present),
            receive_maximum=getattr(properties, "ReceiveMaximum", None),
            maximum_packet=getattr(properties, "MaximumPacketSize", None),
        )
        self._wrapped_on_connect(client, data, flags, reason, properties)

    def _on_disconnect(
        self, _client: Any, _data: Any, flags: DisconnectFlags, reason: ReasonCode, _properties: Any
    ) -> None:
        """The socket is closed by paho itself; to do it here, within its callback, would wait for its lock forever."""
        if flags.is_disconnect_packet_from_server:
            self._ending(f"the broker closed it: {reason}", reason.value)
        else:
            why = "" if reason.value == _UNSPECIFIED else f" ({str(reason).lower()})"
            self._ending(f"it broke off{why}", None)

    # --- out ---

    def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        retain: bool,
        expiry_s: float | None,
        response_topic: str | None,
        correlation: bytes | None,
    ) -> int:
        """Send a PUBLISH at QoS 1; its packet id. Raises ValueError for what no broker can take."""
        mid = self._paho._mid_generate()
        packet = publish_packets.encode_publish(
            topic,
            payload,
            mid,
            retain=retain,
            v5=self._v5,
            expiry_s=expiry_s,
            response_topic=response_topic,
            correlation=correlation,
        )
        self._paho._packet_queue(MessageType.PUBLISH, packet, mid, 1)
        return mid

    def subscribe(self, filters: Sequence[str], *, retained: bool) -> int | None:
        """Send SUBSCRIBE at QoS 1; its packet id. retained: False: stored messages only for new subscriptions."""
        if self._options.protocol == "5":
            handling = (
                SubscribeOptions.RETAIN_SEND_ON_SUBSCRIBE if retained else SubscribeOptions.RETAIN_SEND_IF_NEW_SUB
            )
            wanted: Any = [(name, SubscribeOptions(1, retainHandling=handling)) for name in filters]
        else:
            wanted = [(name, 1) for name in filters]
        return self._paho.subscribe(wanted)[1]

    def unsubscribe(self, filters: Sequence[str]) -> int | None:
        """Send UNSUBSCRIBE; its packet id."""
        return self._paho.unsubscribe(list(filters))[1]

    def puback(self, mids: Sequence[int]) -> None:
        """Send PUBACKs, in one write."""
        self._paho._packet_queue(MessageType.PUBACK, publish_packets.encode_pubacks(mids), 0, 1)

    def _on_answers(self, _client: Any, _data: Any, mid: int, codes: list[ReasonCode], _properties: Any) -> None:
        self._listener.on_answer(mid, [code.value for code in codes])

    def _on_want_write(self, *_: Any) -> None:
        if self._connack is None:  # still on the thread that connects
            self._loop.call_soon_threadsafe(self._write)
        else:
            self._loop.call_soon(self._write)

    def _write(self) -> None:
        with self._ending_on_error():
            self._paho.loop_write()
        sock = self._paho.socket()
        if sock is not None and self._paho.want_write():
            self._loop.add_writer(sock.fileno(), self._write)

    # --- in ---

    def _on_socket_open(self, _client: Any, _data: Any, sock: Any) -> None:
        """On the thread that connects; by the time the loop hears of it the socket may be closed again."""
        self._loop.call_soon_threadsafe(self._start, sock)

    def _start(self, sock: Any) -> None:
        current = self._paho.socket()
        if current is None or current is not sock:
            return
        if self._ended.is_set():
            self._paho._sock_close()
            return
        self._loop.add_reader(current.fileno(), self._read)
        self._client._misc_task = self._loop.create_task(self._client._misc_loop())

    def _on_publish(self) -> MQTTErrorCode:
        packet = self._paho._in_packet
        try:
            message = publish_packets.decode_publish(packet["command"], packet["packet"], v5=self._v5)
        except ValueError:
            return MQTTErrorCode.MQTT_ERR_PROTOCOL
        if message.qos == _QOS_2:  # never asked for
            return MQTTErrorCode.MQTT_ERR_PROTOCOL
        self._listener.on_message(message)
        if message.qos and not self._options.manual_ack:
            self.puback([message.mid])
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def _on_puback(self, _name: str) -> MQTTErrorCode:
        try:
            mid, code = publish_packets.decode_puback(self._paho._in_packet["packet"])
        except ValueError:
            return MQTTErrorCode.MQTT_ERR_PROTOCOL
        self._listener.on_answer(mid, [code])
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def pause(self) -> None:
        """Leave the socket alone; TCP pushes back."""
        sock = self._paho.socket()
        if sock is not None and not self._paused:
            self._paused = True
            self._loop.remove_reader(sock.fileno())
            self._listener.on_pause()
            self._breath = self._loop.call_later(self._breath_s, self._breathe)

    def resume(self) -> None:
        """Read again, when reading was paused."""
        sock = self._paho.socket()
        if sock is not None and self._paused:
            self._paused = False
            if self._breath is not None:
                self._breath.cancel()
            self._loop.add_reader(sock.fileno(), self._read)
            self._loop.call_soon(self._read)  # what TLS has decrypted meanwhile does not wake the loop

    @property
    def _breath_s(self) -> float:
        return (self._paho.keepalive or limits.KEEPALIVE_S) / 2

    def _read(self) -> None:
        self._read_packets()
        if self._listener.is_full():
            self.pause()

    def _breathe(self) -> None:
        """Read a little although paused; whatever arrives proves that the broker lives."""
        before = self._paho._last_bytes_received
        self._read_packets()
        if self._paho._last_bytes_received > before:
            self._paho._ping_t = 0.0
        if not self._ended.is_set():
            self._breath = self._loop.call_later(self._breath_s, self._breathe)

    def _read_packets(self) -> None:
        with self._ending_on_error():
            for _ in range(_PACKETS_PER_WAKE):
                code = self._paho._packet_read()
                if code > 0:
                    self._paho._loop_rc_handle(code)
                if code != MQTTErrorCode.MQTT_ERR_SUCCESS or self._paho.socket() is None:
                    break
            sock = self._paho.socket()
            if isinstance(sock, ssl.SSLSocket) and sock.pending() and not self._paused:
                self._loop.call_soon(self._read)  # decrypted bytes do not wake the loop
            if isinstance(sock, socket.socket) and _QUICKACK is not None and sock.family != socket.AF_UNIX:
                sock.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)

    @contextlib.contextmanager
    def _ending_on_error(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001  whatever breaks in there, the connection is unusable
            self.end(f"{type(error).__name__}: {error}")
