"""From settings to a daemon that serves: broker, daemon, status, and an orderly end."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import structlog

from beforehand import __version__, limits
from beforehand.backends.broker import EmbeddedBroker
from beforehand.lifecycle.daemon import Daemon
from beforehand.lifecycle.health import PARTS, Health
from beforehand.lifecycle.pages import Pages, serving
from beforehand.messages import codec
from beforehand.messages.outbound import Status
from beforehand.messages.values import moment
from beforehand.ports import Measures
from beforehand.settings import BrokerSettings, Settings

_log = structlog.get_logger()
_LOOK_EVERY_S = 0.25
_YOUNG = 50_000
_TURN_S = 0.0005


@asynccontextmanager
async def broker_for(settings: Settings, state_folder: Path) -> AsyncIterator[Settings]:
    """The settings with a broker in them: the one they name, or one that runs as long as this context."""
    named = settings.broker
    if named.host is not None or named.socket is not None:
        yield settings
        return
    async with EmbeddedBroker(
        named.embedded, named.started_port, state_folder, protocol=named.protocol, root=named.root
    ) as broker:
        _log.info("no broker configured: started one", kind=broker.kind, host=broker.host, port=broker.port)
        reached = BrokerSettings.model_validate({**named.model_dump(), "host": broker.host, "port": broker.port})
        yield settings.model_copy(update={"broker": reached})


@asynccontextmanager
async def running(daemon: Daemon, health: Health | None = None) -> AsyncIterator[Daemon]:
    """The daemon in the background, ready; at the end it is stopped in order. An error that ends it is raised here.

    health: what its status says; left out, the disk is not looked at.
    """
    async with asyncio.TaskGroup() as group:
        work = group.create_task(daemon.run())
        teller = group.create_task(_tell_status(health or Health(daemon)))
        ready = group.create_task(daemon.ready.wait())
        await asyncio.wait({work, ready}, return_when=asyncio.FIRST_COMPLETED)
        try:
            if not work.done():
                yield daemon
        finally:
            ready.cancel()
            teller.cancel()
            daemon.stop()
            await asyncio.wait({work}, timeout=2 * limits.DRAIN_S)
            work.cancel()


async def serve(
    build: Callable[[Settings, Path, Measures], Daemon],
    settings: Settings,
    state_folder: Path,
    measures: Measures,
    pages: Pages | None = None,
) -> None:
    """Until SIGINT or SIGTERM. Raises BusError, JournalError, BrokerFailed when the daemon cannot start."""
    stop = asyncio.Event()
    for signum in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signum, stop.set)
    async with AsyncExitStack() as open_parts:
        reachable = await open_parts.enter_async_context(broker_for(settings, state_folder))
        daemon = build(reachable, state_folder, measures)
        health = Health(daemon, _folder(settings))
        await open_parts.enter_async_context(serving(pages, health))
        await open_parts.enter_async_context(running(daemon, health))
        greeting = asyncio.create_task(_say_ready(daemon, reachable, measures))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({greeting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if greeting.done():
                greeting.result()
                await stop.wait()
            _log.info("stopping")
        finally:
            greeting.cancel()
            stopping.cancel()


async def _say_ready(daemon: Daemon, reachable: Settings, measures: Measures) -> None:
    """Once the broker is there: how fast it is. Raises BusError when it is lost for good."""
    await daemon.bus.connected()
    round_trip_s = await daemon.bus.probe()
    measures.gauge("beforehand_probe_seconds", round_trip_s)
    round_trip_ms = round(round_trip_s * 1000, 2)
    if round_trip_s > limits.PROBE_WARN_S:
        _log.warning(
            "the broker is slow: packets come late",
            round_trip_ms=round_trip_ms,
            advice="Set TCP_NODELAY on the broker (mosquitto: `set_tcp_nodelay true`), or move it nearer.",
        )
    _log.info(
        "ready",
        version=__version__,
        broker=str(reachable.broker.socket or reachable.broker.host),
        port=reachable.broker.port,
        round_trip_ms=round_trip_ms,
    )
    _spare_collections()
    _share_turns()


def _spare_collections() -> None:
    """Let the collector of cycles look at young objects only, and seldom: memories are large, and have no cycles.

    A full collection reads all of them; while an agent waits for its packet that is too long. So is one that looks for
    what the start left: 0.05 s and more for a few dozen objects, while the first agents wait.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG, 50, 1_000)


def _share_turns() -> None:
    """Threads take turns sooner than Python's 5 ms: else the loop waits that long whenever the journal is writing."""
    sys.setswitchinterval(_TURN_S)


async def _tell_status(health: Health) -> None:
    """Keep the retained status and the metric true: online, or degraded and why. A changed embedder is told too."""
    daemon = health.daemon
    await daemon.ready.wait()
    told: str | None = "never"
    while True:
        faults = health.faults()
        for part in PARTS:
            daemon.measures.gauge("beforehand_degraded", any(fault.part == part for fault in faults), part=part)
        daemon.measures.gauge("beforehand_lagging_messages", daemon.pipeline.memories.lagging.messages)
        daemon.pipeline.memories.tell()
        notice = daemon.pipeline.memories.vectors.notice
        noticed = [f"embedder: {notice}"] if notice else []
        reason = "; ".join([*(f"{fault.part}: {fault.reason}" for fault in faults), *noticed]) or None
        if reason != told:
            told = reason
            _log.log(
                logging.WARNING if faults else logging.INFO, "degraded" if faults else "all is well", reason=reason
            )
            since = moment(daemon.pipeline.clock.now_us())
            state = Status(state="degraded" if faults else "online", since=since, version=__version__, reason=reason)
            await daemon.bus.set_status(codec.write(state))
        await asyncio.sleep(_LOOK_EVERY_S)


def _folder(settings: Settings) -> Path | None:
    """Where the journal's file is; None when it is in memory."""
    path = settings.journal.path
    return None if str(path) == ":memory:" else path.absolute().parent
