"""A TCP proxy that a drill can cut, slow down or let hang: a network that fails, without rights on the machine."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator


class Proxy:
    """Passes bytes between whoever connects to `port` and the server at `to`, later by `delay_s` each way."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._pumps: set[asyncio.Task[None]] = set()
        self._flows = threading.Event()
        self._flows.set()
        self.port = 0
        self.delay_s = 0.0
        self.is_cut = False

    def cut(self) -> None:
        """End every connection, and each new one at once."""
        self.is_cut = True
        self._loop.call_soon_threadsafe(self._end_all)

    def hang(self) -> None:
        """Keep every connection, and pass nothing: what a dead router does."""
        self._flows.clear()

    def mend(self) -> None:
        """Pass everything again."""
        self.is_cut = False
        self._flows.set()

    def _end_all(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _end(self) -> None:
        """Nothing is left that would close itself on a loop that is closed."""
        self._end_all()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)

    async def _serve(self, ready: threading.Event) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        async with server:
            await server.serve_forever()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, far_writer}
        for source, target in ((reader, far_writer), (far_reader, writer)):
            pump = asyncio.create_task(self._pump(source, target))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65_536):
                while not self._flows.is_set():
                    await asyncio.sleep(0.01)
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                target.write(data)
                await target.drain()
        target.close()


@contextlib.contextmanager
def proxy(to: int) -> Iterator[Proxy]:
    """A running proxy to a port of this machine."""
    made, ready = Proxy(to), threading.Event()

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            made._loop.run_until_complete(serving)
        made._loop.run_until_complete(made._end())
        made._loop.close()

    serving = made._loop.create_task(made._serve(ready))
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield made
    finally:
        made._loop.call_soon_threadsafe(serving.cancel)
        thread.join(10)
