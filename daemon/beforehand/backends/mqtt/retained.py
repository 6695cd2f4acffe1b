"""What a broker retains of packets: to be looked at and cleared while no daemon is connected."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import from_settings
from beforehand.errors import BusUnavailable
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.settings import BrokerSettings

_WITHIN_S: Final = 10.0


class Retained:
    """Each look is a connection of its own, since a broker sends what it retains once for a subscription."""

    def __init__(self, broker: BrokerSettings) -> None:
        self._broker = broker

    async def packets(self, tenant: str | None, agent: str | None) -> dict[str, bytes]:
        """Topic to payload of every packet that is retained of the agent, of the tenant, or at all. Raises BusError.

        A packet of nobody's step marks the end: who may not read packets does not get it, and is not told that none is.
        """
        packets = topics.of_packets(tenant, agent, self._broker.root)
        mark = f"forget-{secrets.token_hex(8)}"
        end = topics.of_packet(Scope(tenant or mark, agent or mark, mark), "end", self._broker.root)
        found: dict[str, bytes] = {}
        async with self._connected() as connection:
            await connection.subscribe([packets])
            await connection.publish(end, b"end")
            try:
                async with asyncio.timeout(_WITHIN_S):
                    while True:
                        arrivals = await connection.receive()
                        connection.acknowledge(arrivals)
                        found |= {one.topic: one.payload for one in arrivals if one.topic != end and one.payload}
                        if any(one.topic == end for one in arrivals):
                            return found
            except TimeoutError:
                advice = "Allow this user to read packets in the broker's access rules, and try it again."
                raise BusUnavailable("the broker does not say what it retains.", advice) from None

    async def clear(self, cleared: list[str]) -> None:
        """Let nothing stand on these topics. Raises BusError, PublishRefused."""
        async with self._connected() as connection:
            for topic in cleared:
                await connection.publish(topic, b"", retain=True)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Connection]:
        connection = Connection(from_settings(self._broker, client_id=""))
        try:
            await connection.open()
            yield connection
            await connection.close()
        finally:
            connection.drop()
