"""A broker that answers what a test tells it to: for refusals that no real broker can be made to give."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

CONNECT, SUBSCRIBE, PINGREQ = 1, 8, 12
CONNACK_5 = b"\x20\x03\x00\x00\x00"
TAKEN_OVER = b"\xe0\x01\x8e"


def suback_5(packet: bytes, code: int) -> bytes:
    """The answer to a SUBSCRIBE of MQTT 5 without properties: the same code for each filter."""
    at = 2 if packet[1] < 128 else 3
    mid, filters = packet[at : at + 2], packet[at + 3 :]
    count = 0
    while filters:
        filters = filters[2 + int.from_bytes(filters[:2]) + 1 :]
        count += 1
    return bytes((0x90, 3 + count)) + mid + b"\0" + bytes([code] * count)


def granted_5(packet: bytes) -> bytes:
    return suback_5(packet, 1)


class ScriptedBroker:
    """`answers` maps a packet type to the bytes sent back, or to a function of the packet that gives them."""

    def __init__(self, answers: dict[int, bytes | Callable[[bytes], bytes]]) -> None:
        self.answers = {PINGREQ: b"\xd0\x00", **answers}
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()

    def hang_up(self, last_words: bytes) -> None:
        """End all connections."""
        for writer in self._writers:
            writer.write(last_words)
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                packet = await _packet(reader)
                answer = self.answers.get(packet[0] >> 4, b"")
                writer.write(answer(packet) if callable(answer) else answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()


async def _packet(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(2)
    length = head[1] & 127
    if head[1] & 128:
        more = await reader.readexactly(1)
        length += more[0] << 7
        head += more
    return head + await reader.readexactly(length)


@asynccontextmanager
async def scripted(answers: dict[int, bytes | Callable[[bytes], bytes]]) -> AsyncIterator[ScriptedBroker]:
    broker = ScriptedBroker(answers)
    server = await asyncio.start_server(broker.serve, "127.0.0.1", 0)
    broker.port = server.sockets[0].getsockname()[1]
    try:
        yield broker
    finally:
        server.close()
        broker.hang_up(b"")
