"""What the daemon has sent to this agent: the newest packet of each step, and answers that are waited for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime

from beforehand import limits
from beforehand.client.promises import keep, promise
from beforehand.messages.outbound import Packet, Reply

Key = tuple[str, str]
"""Run and step."""


@dataclass(slots=True, eq=False)
class Expected:
    """The final packet of a step that is about to begin. `known`: the packet that was there before."""

    key: Key
    known: Packet | None
    final: Future[Packet] = field(default_factory=promise)


class Inbox:
    """Packets by run and step, at most limits.INBOX_PACKETS; promises of what is expected. Any thread may call.

    A packet whose `expires_at` is past is not told, since on MQTT 3.1.1 no broker takes it away. The clock is this
    client's own, without any tolerance: a packet lives for a day (limits.PACKET_EXPIRY_S), so a clock that is wrong by
    minutes misjudges only what is about to expire, and one that is a day ahead has no prepared packets. A final packet
    that is waited for is the daemon's answer to a begin of now, and is told whatever the clock says.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._packets: OrderedDict[Key, Packet] = OrderedDict()
        self._finals: dict[Key, list[Expected]] = {}
        self._replies: dict[str, Future[Reply]] = {}

    def newest(self, run: str, step: str) -> Packet | None:
        """The newest packet of a step, prepared or final; None when there is none, or it has expired."""
        packet = self._packets.get((run, step))
        return packet if packet is not None and datetime.now(UTC) < packet.expires_at else None

    def expect_final(self, run: str, step: str) -> Expected:
        """A final packet newer than any that came until now."""
        key = (run, step)
        with self._lock:
            expected = Expected(key, self._packets.get(key))
            self._finals.setdefault(key, []).append(expected)
        return expected

    def forget_final(self, expected: Expected) -> None:
        """Nobody waits for it any more."""
        with self._lock:
            waiting = self._finals[expected.key]
            waiting.remove(expected)
            if not waiting:
                del self._finals[expected.key]

    def expect_reply(self, question: str) -> Future[Reply]:
        """The reply to the recall with this id."""
        return self._replies.setdefault(question, promise())

    def forget_reply(self, question: str) -> None:
        """Nobody waits for it any more."""
        self._replies.pop(question, None)

    def put_packet(self, packet: Packet, *, stored: bool = False) -> None:
        """A packet came. An older version never replaces a newer one.

        stored: the broker had kept it, so it was made before this client subscribed: it fulfils no promise, since the
        final packet that stands there may be of an earlier begin.
        """
        key = (packet.run, packet.step)
        with self._lock:
            if _newer(packet, self._packets.get(key)):
                self._packets[key] = packet
                self._packets.move_to_end(key)
                if len(self._packets) > limits.INBOX_PACKETS:
                    self._packets.popitem(last=False)
            fulfilled = [
                one for one in self._finals.get(key, ()) if packet.final and not stored and _newer(packet, one.known)
            ]
        for one in fulfilled:
            keep(one.final, packet)

    def clear_packet(self, run: str, step: str) -> None:
        """The step is over: its topic was cleared."""
        with self._lock:
            self._packets.pop((run, step), None)

    def forget_run(self, run: str) -> None:
        """Nothing of this run is needed any more."""
        with self._lock:
            for key in [key for key in self._packets if key[0] == run]:
                del self._packets[key]

    def put_reply(self, reply: Reply) -> None:
        """A reply came."""
        waiting = self._replies.get(reply.id)
        if waiting is not None:
            keep(waiting, reply)


def _newer(packet: Packet, known: Packet | None) -> bool:
    """By version; by time when a daemon that lost its journal counts from one again."""
    return known is None or packet.version > known.version or packet.created_at > known.created_at
