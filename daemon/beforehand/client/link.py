"""The client's connection: made again for ever, sending the outbox in order and handing on what arrives."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Final

import structlog

from beforehand import limits
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.client.outbox import Outbox, Waiting
from beforehand.errors import BusUnavailable, PublishRefused
from beforehand.ports import Arrival

_log = structlog.get_logger()
_AT_ONCE: Final = 64


class Link:
    """Sends what the outbox holds, each message once per connection; everything again after a reconnection.

    trouble: why nothing can be sent now, or None. up: set while connected and subscribed.
    """

    def __init__(self, options: ConnectionOptions, outbox: Outbox, hear: Callable[[Arrival], None]) -> None:
        self._options = options
        self._outbox = outbox
        self._hear = hear
        self._filters: dict[str, None] = {}
        self._connection: Connection | None = None
        self._sent_to = 0
        self._again: list[Waiting] = []
        self._stirred = asyncio.Event()
        self.up = asyncio.Event()
        self.trouble: str | None = "not connected yet"

    def stir(self) -> None:
        """There is something to send or to subscribe to."""
        self._stirred.set()

    def listen(self, *filters: str) -> None:
        """Subscribe to these, now and after every reconnection."""
        new = [name for name in filters if name not in self._filters]
        if new:
            self._filters.update(dict.fromkeys(new))
            self.stir()

    def send_again(self, waiting: list[Waiting]) -> None:
        """Send these once more: the daemon misses them."""
        self._again += waiting
        self.stir()

    def send_all_again(self) -> None:
        """Send once more all that is not confirmed."""
        self._sent_to = 0
        self.stir()

    async def run(self) -> None:
        """Until cancelled. Raises BusError when only a person can help (credentials)."""
        delay_s = limits.RECONNECT_FIRST_S
        while True:
            connection = Connection(self._options)
            try:
                await connection.open()
                delay_s = limits.RECONNECT_FIRST_S
                await self._serve(connection)
            except BusUnavailable as error:
                self.trouble = str(error)
            finally:
                self.up.clear()
                self._connection = None
                connection.drop()
            await asyncio.sleep(delay_s * random.uniform(0.5, 1.5))  # noqa: S311  jitter, not a secret
            delay_s = min(2 * delay_s, limits.RECONNECT_LAST_S)

    async def _serve(self, connection: Connection) -> None:
        """Receive and send until the connection is lost, which is raised as BusUnavailable."""
        self._connection, self._sent_to = connection, 0
        subscribed: set[str] = set()
        async with asyncio.TaskGroup() as group:
            reader = group.create_task(self._read(connection))
            try:
                while not reader.done():
                    self._stirred.clear()
                    new = [name for name in self._filters if name not in subscribed]
                    if new:
                        await connection.subscribe(new)
                        subscribed.update(new)
                    self.trouble = None
                    self.up.set()
                    if not await self._send_some(connection):
                        waiting = asyncio.ensure_future(self._stirred.wait())
                        await asyncio.wait({waiting, reader}, return_when=asyncio.FIRST_COMPLETED)
                        waiting.cancel()
            finally:
                reader.cancel()

    async def _read(self, connection: Connection) -> None:
        while True:
            for arrival in await connection.receive():
                self._hear(arrival)

    async def _send_some(self, connection: Connection) -> bool:
        """Send the next few, in their order and on the way together. False when there was nothing to send."""
        again, self._again = self._again[:_AT_ONCE], self._again[_AT_ONCE:]
        batch = again or self._outbox.after(self._sent_to, _AT_ONCE)
        if not batch:
            return False
        results = await asyncio.gather(*(self._publish(connection, one) for one in batch), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        if not again:
            self._sent_to = batch[-1].number
        return True

    async def _publish(self, connection: Connection, one: Waiting) -> None:
        try:
            await connection.publish(one.topic, one.payload)
        except PublishRefused as error:
            self.trouble = str(error)
            _log.warning("the broker refuses a message", topic=one.topic, reason=str(error))
