"""The client's connection: made again for ever, sending the outbox in order and handing on what arrives."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
from collections.abc import Callable, Iterable
from typing import Final

from beforehand import limits
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.client.promises import Bell
from beforehand.client.sending import Sending
from beforehand.errors import BusError, BusUnavailable
from beforehand.ports import Arrival

_log = logging.getLogger(__name__)
_NOT_YET: Final = "not connected to the broker yet"


class Link:
    """Keeps one connection, subscribed, and sends over it. `stir`, `listen` and `leave` suit any thread.

    hear: told of everything that arrives. trouble: why nothing can be sent now, or None. changed: rung when it changes.
    """

    def __init__(self, options: ConnectionOptions, sending: Sending, hear: Callable[[Arrival], None]) -> None:
        self._options = options
        self._sending = sending
        self._hear = hear
        self._filters: dict[str, None] = {}
        self._left: dict[str, None] = {}
        self._stirred = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self.trouble: str | None = _NOT_YET
        self.refusal: BusError | None = None
        """Set while the broker refuses this client in a way that only a person can mend."""
        self.changed = Bell()

    def stir(self) -> None:
        """There is something to send or to subscribe to."""
        if self._loop is None or self._stirred.is_set():
            return
        if threading.get_ident() == self._thread:
            self._stirred.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stirred.set)

    def listen(self, filters: Iterable[str]) -> None:
        """Subscribe to these, now and after every reconnection."""
        for name in filters:
            self._filters[name] = None
            self._left.pop(name, None)
        self.stir()

    def leave(self, filters: Iterable[str]) -> None:
        """Listen to these no more."""
        for name in filters:
            if self._filters.pop(name, name) is None:
                self._left[name] = None
        self.stir()

    def again(self, numbers: Iterable[int]) -> None:
        """Send these messages of the outbox once more."""
        self._sending.again(numbers)
        self.stir()

    async def run(self) -> None:
        """Until cancelled. `trouble` tells of the connection, the log once of an outage; nothing is raised."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        delay_s, told = limits.RECONNECT_FIRST_S, False
        while True:
            connection = Connection(self._options)
            try:
                await connection.open()
                delay_s, told = limits.RECONNECT_FIRST_S, False
                await self._serve(connection)
            except BusUnavailable as error:
                if not told:
                    _log.warning("%s It is tried until it answers.", error)
                told = True
                self._troubled(str(error))
            except BusError as error:
                _log.error("%s", error)
                self._troubled(str(error), refusal=error)
                delay_s = limits.RECONNECT_LAST_S
            except Exception as error:  # noqa: BLE001  a fault of ours must not end the agent
                _log.exception("the connection is made anew")
                self._troubled(f"{type(error).__name__}: {error}")
            finally:
                await asyncio.shield(connection.close())
            await asyncio.sleep(delay_s * random.uniform(0.5, 1.5))  # noqa: S311  jitter, not a secret
            delay_s = min(2 * delay_s, limits.RECONNECT_LAST_S)

    def _troubled(self, trouble: str | None, refusal: BusError | None = None) -> None:
        changed = (trouble, refusal) != (self.trouble, self.refusal)
        self.trouble, self.refusal = trouble, refusal
        if changed:
            self.changed.ring()

    async def _serve(self, connection: Connection) -> None:
        """Receive and send until the connection is lost, which is raised as BusUnavailable."""
        self._sending.start_over()
        reader = asyncio.create_task(self._read(connection))
        subscribed: set[str] = set()
        try:
            while not reader.done():
                self._stirred.clear()
                await self._subscribe(connection, subscribed)
                self._troubled(None)
                if not await self._sending.send_some(connection):
                    stirred = asyncio.ensure_future(self._stirred.wait())
                    await asyncio.wait({stirred, reader}, return_when=asyncio.FIRST_COMPLETED)
                    stirred.cancel()
            reader.result()
        finally:
            self._troubled(_NOT_YET)
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def _subscribe(self, connection: Connection, subscribed: set[str]) -> None:
        """Before anything of a run is sent, so that no receipt of it is missed."""
        new = [name for name in list(self._filters) if name not in subscribed]
        if new:
            await connection.subscribe(new)
            subscribed.update(new)
        left = [name for name in list(self._left) if name in subscribed]
        self._left.clear()
        if left:
            await connection.unsubscribe(left)
            subscribed.difference_update(left)

    async def _read(self, connection: Connection) -> None:
        while True:
            for arrival in await connection.receive():
                self._hear(arrival)
