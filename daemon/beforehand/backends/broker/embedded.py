"""A broker as a supervised child process on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import random
import shutil
import socket
import sys
from pathlib import Path
from typing import Literal, Self

import anyio
import structlog

from beforehand import limits
from beforehand.backends.broker import configuration, guard
from beforehand.backends.broker.ownership import give_to_broker
from beforehand.errors import BrokerFailed
from beforehand.messages import topics

_log = structlog.get_logger(__name__)
HOST = "127.0.0.1"
_START_S = 15.0
_STOP_S = 8.0
_POLL_S = 0.02
_LOOK_EVERY_S = 2.0
_TRIES = 3
_PORTS = range(20_000, 30_000)
"""Below what systems give to outgoing connections (Linux: from 32768), above what services claim."""
_STEADY_S = 10.0
_LAST_LINES = 12
_USUAL_PLACES = ("/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin")
"""Where mosquitto is, and not on everybody's PATH."""

Kind = Literal["mosquitto", "iotcore"]
Protocol = Literal["5", "3.1.1"]


class EmbeddedBroker:
    """A broker that runs for as long as its context, and ends with this process however that ends.

    kind: `auto` takes mosquitto when it is installed, else iotcore.
    port: 0 takes a free one.
    state_folder: its folder `broker` gets configuration, log, and what the broker keeps between starts.
    protocol: the MQTT version that is spoken. mosquitto speaks the other one too, iotcore does not.
    root: the daemon's topic root (iotcore reserves room for its filters).

    Raises BrokerFailed when no such broker is installed.
    """

    def __init__(
        self,
        kind: Literal["auto", "mosquitto", "iotcore"],
        port: int,
        state_folder: Path,
        *,
        protocol: Protocol = "5",
        root: str = topics.ROOT,
    ) -> None:
        self._folder = state_folder / "broker"
        self._root = root
        self._mosquitto = find_mosquitto()
        self.kind: Kind = choose(kind, installed=self._mosquitto is not None)
        self.host = HOST
        self.port = port or free_port()
        self._may_move = not port
        self._protocol = protocol
        self.restarts = 0
        self._process: asyncio.subprocess.Process | None = None
        self._lifeline: int | None = None
        self._supervision: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Start it and wait until it accepts connections; it is started again whenever it ends. Raises BrokerFailed."""
        try:
            process = await self._first_launch()
        except BaseException:
            await self._stop()
            raise
        self._supervision = asyncio.create_task(self._supervise(process), name="broker supervision")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop it in order: it writes down what it keeps."""
        with anyio.CancelScope(shield=True):
            if self._supervision is not None:
                self._supervision.cancel()
                await asyncio.wait([self._supervision])
            await self._stop()

    async def _first_launch(self) -> asyncio.subprocess.Process:
        """Another process may take a free port before the broker does: then another one is found."""
        for _ in range(_TRIES - 1 if self._may_move else 0):
            try:
                return await self._launch()
            except BrokerFailed as error:
                _log.warning("broker does not start, trying another port", problem=error.problem)
                await self._stop()
                self.port = free_port()
        return await self._launch()

    # --- one run ---

    async def _launch(self) -> asyncio.subprocess.Process:
        require_free(self.port)
        command = self._prepare()
        heard, self._lifeline = os.pipe()
        try:
            with self._log_file.open("wb") as log:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-P",
                    guard.__file__,
                    *command,
                    stdin=heard,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # the terminal's Ctrl-C is for the daemon, which still needs its broker
                )
        finally:
            os.close(heard)
        await self._until_accepting(self._process)
        _log.info("broker started", kind=self.kind, protocol=self._protocol, port=self.port, folder=str(self._folder))
        return self._process

    def _prepare(self) -> list[str]:
        """Write the configuration; the guard's arguments."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._mosquitto is not None and self.kind == "mosquitto":
            file = self._folder / "mosquitto.conf"
            user = give_to_broker(self._folder)
            file.write_text(
                configuration.mosquitto(self.port, self._folder.resolve(), "root" if user is None else user)
            )
            return ["run", user or "-", self._mosquitto, "-c", str(file)]
        file = self._folder / "iotcore.toml"
        file.write_text(configuration.iotcore(self.port, self._protocol, self._root))
        return ["iotcore", str(file)]

    async def _until_accepting(self, process: asyncio.subprocess.Process) -> None:
        try:
            async with asyncio.timeout(_START_S):
                while not await _accepts(self.port):
                    if process.returncode is not None:
                        raise self._failed(f"ended with code {process.returncode}")
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise self._failed(f"does not listen after {_START_S:g} s") from None

    async def _stop(self) -> None:
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None
        if self._process is None:
            return
        try:
            async with asyncio.timeout(_STOP_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    # --- all runs ---

    async def _supervise(self, process: asyncio.subprocess.Process) -> None:
        loop = asyncio.get_running_loop()
        delay = limits.RECONNECT_FIRST_S
        while True:
            began = loop.time()
            await self._until_useless(process)
            _log.error("broker ended", kind=self.kind, code=process.returncode, log=self._last_lines())
            if loop.time() - began > _STEADY_S:
                delay = limits.RECONNECT_FIRST_S
            while (again := await self._relaunch(delay)) is None:
                delay = min(2 * delay, limits.RECONNECT_LAST_S)
            process = again

    async def _until_useless(self, process: asyncio.subprocess.Process) -> None:
        """Return when it has ended, or takes no connections: the process of rumqttd outlives a panic of its parts."""
        while process.returncode is None:
            try:
                async with asyncio.timeout(_LOOK_EVERY_S):
                    await process.wait()
            except TimeoutError:
                if not await _accepts(self.port):
                    return

    async def _relaunch(self, delay: float) -> asyncio.subprocess.Process | None:
        await asyncio.sleep(delay)
        await self._stop()
        try:
            process = await self._launch()
        except BrokerFailed as error:
            _log.error("broker does not start", problem=error.problem, advice=error.advice)
            return None
        self.restarts += 1
        return process

    @property
    def _log_file(self) -> Path:
        return self._folder / "broker.log"

    def _last_lines(self) -> str:
        return "\n".join(self._log_file.read_text(errors="replace").splitlines()[-_LAST_LINES:])

    def _failed(self, how: str) -> BrokerFailed:
        return BrokerFailed(
            f"the embedded broker ({self.kind}, port {self.port}) {how}. Its last words:\n{self._last_lines()}\n",
            "Mend that, choose another broker.embedded, or name a broker of your own with broker.host.",
        )


def find_mosquitto() -> str | None:
    """Its path; sbin folders are looked at too."""
    return shutil.which("mosquitto", path=os.pathsep.join((os.environ.get("PATH", os.defpath), *_USUAL_PLACES)))


def choose(kind: Literal["auto", "mosquitto", "iotcore"], *, installed: bool) -> Kind:
    """The broker that is started for `kind`; installed: mosquitto is. Raises BrokerFailed when there is none."""
    if installed and kind != "iotcore":
        return "mosquitto"
    if kind == "mosquitto":
        raise BrokerFailed("mosquitto is not installed.", 'Install it, or set broker.embedded = "auto".')
    if importlib.util.find_spec("iotcore") is None:
        raise BrokerFailed(
            "neither mosquitto nor iotcore is installed.",
            "Install one of them, or name a broker of your own with broker.host.",
        )
    return "iotcore"


def free_port() -> int:
    """A port of loopback that is free now, and that the system gives to no outgoing connection meanwhile."""
    for port in random.sample(_PORTS, len(_PORTS)):
        with contextlib.suppress(BrokerFailed):
            require_free(port)
            return port
    raise BrokerFailed("no port of loopback is free.", "Name one with broker.embedded_port.")


def require_free(port: int) -> None:
    """Raises BrokerFailed when a broker could not listen on this port of loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise BrokerFailed(
                f"port {port} of {HOST} cannot be used: {error.strerror}.",
                f'If a broker runs there, use it: broker.host = "{HOST}". Else set broker.embedded_port, 0 for any.',
            ) from None


async def _accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    writer.close()
    return True
