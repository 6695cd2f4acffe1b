"""Health and metrics over HTTP: what probes and Prometheus are told, and when."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import urllib.request
from contextlib import asynccontextmanager
from urllib.error import HTTPError, URLError

import pytest

import brokers
from beforehand import assembly, limits
from beforehand.backends.broker.embedded import free_port
from beforehand.backends.measures import PrometheusMeasures
from beforehand.errors import JournalError, SettingsError
from beforehand.lifecycle.health import Health
from beforehand.lifecycle.pages import listening, serving
from beforehand.lifecycle.serve import running, serve
from beforehand.settings import HttpSettings, Settings
from memory_daemon import World

pytestmark = pytest.mark.anyio


def _get(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=20) as page:
            return page.status, page.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


async def get(url: str) -> tuple[int, bytes]:
    return await asyncio.to_thread(_get, url)


async def readiness(url: str) -> tuple[int, dict]:
    code, body = await get(f"{url}/readyz")
    return code, json.loads(body)


@asynccontextmanager
async def served(world, folder=None):
    """The world's daemon, not running yet, with its pages; gives their address."""
    measures = PrometheusMeasures()
    world.daemon.measures = measures
    with listening(HttpSettings(port=0), measures.page) as pages:
        async with serving(pages, Health(world.daemon, folder)):
            yield pages.url


async def test_a_daemon_is_ready_once_it_serves():
    world = World()
    async with served(world) as url:
        assert await readiness(url) == (503, {"state": "starting", "faults": []})
        async with running(world.daemon):
            code, said = await readiness(url)
            assert (code, said["state"], said["faults"]) == (200, "online", [])


async def test_a_journal_that_cannot_be_written_makes_it_unready_and_is_named():
    async def full():
        raise JournalError("the journal j.sqlite3 cannot be used: database or disk is full.", "Make room.")

    world = World()
    async with served(world) as url, running(world.daemon):
        world.journal._before_commit = full
        world.say("event", kind="note", text="x", id="e1")
        await brokers.until(lambda: not world.journal.state().healthy)
        code, said = await readiness(url)
        assert (code, said["state"], said["uncommitted"], said["stored"]) == (503, "degraded", 1, 0)
        [fault] = said["faults"]
        assert (fault["part"], fault["stops"]) == ("journal", True)
        assert "disk is full" in fault["reason"]
        assert (await get(f"{url}/healthz"))[0] == 200
        world.journal._before_commit = None
        await brokers.until(lambda: world.journal.state().last_position == 1)
        assert (await readiness(url))[0] == 200


async def test_a_daemon_without_its_broker_is_unready_until_it_is_back():
    world = World()
    async with served(world) as url, running(world.daemon):
        world.bus.drop()
        code, said = await readiness(url)
        assert (code, [fault["part"] for fault in said["faults"]]) == (503, ["broker"])
        world.bus.restore()
        assert (await readiness(url))[0] == 200


async def test_what_packets_do_without_is_named_and_does_not_make_it_unready():
    world = World()
    world.pipeline.foresight.missing = ("trigger model",)
    async with served(world) as url, running(world.daemon):
        code, said = await readiness(url)
        assert (code, said["state"], said["faults"][0]["part"]) == (200, "degraded", "trigger model")


async def test_a_disk_that_fills_up_is_named_before_it_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "DISK_LOW_BYTES", 2**62)
    world = World()
    async with served(world, tmp_path) as url, running(world.daemon):
        code, said = await readiness(url)
        assert (code, said["faults"][0]["part"]) == (200, "disk")
        assert str(tmp_path) in said["faults"][0]["reason"]


async def test_faults_are_in_the_status_and_in_the_metrics():
    world = World()
    world.pipeline.foresight.missing = ("trigger model",)
    async with served(world) as url, running(world.daemon):
        status = world.bus._broker.retained.get
        await brokers.until(lambda: status("beforehand/v1/$daemon/main/status"))
        told = json.loads(status("beforehand/v1/$daemon/main/status").payload)
        assert told["state"] == "degraded"
        assert told["reason"].startswith("trigger model: ")
        code, page = await get(f"{url}/metrics")
        assert code == 200
        assert b'beforehand_degraded{part="trigger model"} 1.0' in page
        assert b'beforehand_degraded{part="journal"} 0.0' in page


async def test_the_metrics_say_what_memory_takes_as_it_grows():
    world = World()

    def taken():
        return world.measures.value("beforehand_memory_bytes")

    async with served(world), running(world.daemon):
        world.say("event", kind="note", id="e1", text="parcel P1 is here")
        await brokers.until(taken)
        first = taken()
        world.say("event", kind="note", id="e2", text="parcel P2 is here")
        await brokers.until(lambda: taken() > first)


async def test_c9_pages_are_served_before_the_broker_is_there_and_no_longer_than_the_daemon(tmp_path):
    settings = Settings.model_validate(
        {
            "broker": {"host": "127.0.0.1", "port": free_port()},
            "journal": {"path": tmp_path / "journal.sqlite3"},
            "embedder": {"kind": "hashing"},
        }
    )
    measures = PrometheusMeasures()
    with listening(HttpSettings(port=0), measures.page) as pages:
        work = asyncio.create_task(serve(assembly.daemon, settings, tmp_path / "state", measures, pages))
        await brokers.until(lambda: measures.registry.get_sample_value("beforehand_degraded", {"part": "broker"}))
        code, said = await readiness(pages.url)
        assert (code, [fault["part"] for fault in said["faults"]]) == (503, ["broker"])
        os.kill(os.getpid(), signal.SIGTERM)
        await work
    with pytest.raises(URLError):
        await get(f"{pages.url}/healthz")


def test_c9_without_a_port_nothing_listens():
    with listening(HttpSettings(), bytes) as pages:
        assert pages is None


def test_c9_a_port_in_use_is_named():
    with listening(HttpSettings(port=0), bytes) as pages:
        port = pages.listener.getsockname()[1]
        with (
            pytest.raises(SettingsError, match=rf"http\.port: port {port} of 127\.0\.0\.1"),
            listening(HttpSettings(port=port), bytes),
        ):
            pass
