"""Health and metrics over HTTP, on the daemon's own event loop: when that stands still, so does `/healthz`."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass

import structlog
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from beforehand import __version__
from beforehand.errors import SettingsError
from beforehand.lifecycle.health import Health
from beforehand.settings import HttpSettings

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Pages:
    """Where they are served (`url` has no slash at its end), and what `/metrics` says."""

    listener: socket.socket
    url: str
    metrics: Callable[[], bytes]


@contextmanager
def listening(settings: HttpSettings, metrics: Callable[[], bytes]) -> Iterator[Pages | None]:
    """Hold the port for as long as this context; None without `port`. metrics: called on a thread of its own.

    Raises SettingsError when the port cannot be used.
    """
    if settings.port is None:
        yield None
        return
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise SettingsError(
            f"setting http.port: port {settings.port} of {settings.host} cannot be used ({error.strerror}).",
            "Choose another one, or 0 for any free one.",
        ) from None
    with listener:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        yield Pages(listener, f"http://{host}:{listener.getsockname()[1]}", metrics)


@asynccontextmanager
async def serving(pages: Pages | None, health: Health) -> AsyncIterator[None]:
    """Serve `/healthz`, `/readyz` and `/metrics` for as long as this context."""
    if pages is None:
        yield
        return
    config = uvicorn.Config(
        _application(pages, health),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    work = asyncio.create_task(server.serve([pages.listener]))
    _log.info("health and metrics are served", url=pages.url)
    try:
        yield
    finally:
        server.should_exit = True
        await work


class _Server(uvicorn.Server):
    """The daemon has its own handlers of signals, and ends in its own order."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _application(pages: Pages, health: Health) -> Starlette:
    async def healthz(_: Request) -> Response:
        return JSONResponse({"alive": True, "version": __version__})

    async def readyz(_: Request) -> Response:
        ready, said = _readiness(health)
        return JSONResponse(said, status_code=200 if ready else 503)

    def metrics(_: Request) -> Response:
        return Response(pages.metrics(), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])


def _readiness(health: Health) -> tuple[bool, dict[str, object]]:
    """Whether the daemon does its work, and what is at fault."""
    if not health.is_started:
        return False, {"state": "starting", "faults": []}
    faults = health.faults()
    journal = health.daemon.journal.state()
    return not any(fault.stops for fault in faults), {
        "state": "degraded" if faults else "online",
        "faults": [asdict(fault) for fault in faults],
        "uncommitted": health.daemon.uncommitted,
        "stored": journal.last_position,
        "limited": health.limited,
    }
