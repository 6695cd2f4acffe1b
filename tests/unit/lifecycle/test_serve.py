"""From settings to a daemon that serves: it can be stopped before its broker is there, and tells of a slow one."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from structlog.testing import capture_logs

import brokers
from beforehand import assembly, limits
from beforehand.backends.broker.embedded import free_port
from beforehand.backends.measures import RecordedMeasures
from beforehand.lifecycle.serve import broker_for, serve
from beforehand.settings import Settings

pytestmark = pytest.mark.anyio


def settings_for(tmp_path, port):
    return Settings.model_validate(
        {
            "broker": {"host": "127.0.0.1", "port": port},
            "journal": {"path": tmp_path / "journal.sqlite3"},
            "embedder": {"kind": "hashing"},
        }
    )


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
async def test_b8_a_daemon_without_its_broker_can_be_stopped(tmp_path, signum):
    building = asyncio.Event()

    def build(*parts):
        building.set()
        return assembly.daemon(*parts)

    settings = settings_for(tmp_path, free_port())
    work = asyncio.create_task(serve(build, settings, tmp_path / "state", RecordedMeasures()))
    await building.wait()
    os.kill(os.getpid(), signum)
    await work


async def test_a_slow_broker_is_told_of_with_advice_and_measured(tmp_path):
    measures = RecordedMeasures()

    def build(*parts):
        daemon = assembly.daemon(*parts)

        async def slow():
            return 4 * limits.PROBE_WARN_S

        daemon.bus.probe = slow
        return daemon

    with brokers.running("mosquitto", tmp_path) as broker, capture_logs() as logs:
        work = asyncio.create_task(serve(build, settings_for(tmp_path, broker.port), tmp_path / "state", measures))
        await brokers.until(lambda: [line for line in logs if line["event"] == "ready"])
        os.kill(os.getpid(), signal.SIGTERM)
        await work
    [warning] = [line for line in logs if line["log_level"] == "warning"]
    assert "TCP_NODELAY" in warning["advice"]
    assert measures.value("beforehand_probe_seconds") == 4 * limits.PROBE_WARN_S


async def test_a_broker_that_refuses_the_status_ends_nothing(tmp_path):
    measures = RecordedMeasures()
    rules = tmp_path / "access"
    rules.write_text("topic readwrite beforehand/#\ntopic deny beforehand/v1/$daemon/main/status\n")
    with brokers.running("mosquitto", tmp_path, extra=f"acl_file {rules}\n") as broker, capture_logs() as logs:
        settings = settings_for(tmp_path, broker.port)
        work = asyncio.create_task(serve(assembly.daemon, settings, tmp_path / "state", measures))
        await brokers.until(lambda: [line for line in logs if line["event"] == "ready"])
        await brokers.until(lambda: measures.value("beforehand_publish_refused_total"))
        await asyncio.sleep(0.5)
        assert not work.done()
        os.kill(os.getpid(), signal.SIGTERM)
        await work
    assert [line["event"] for line in logs].count("the broker refuses the status") == 1


async def test_a_port_without_a_host_is_that_of_the_broker_that_is_started(tmp_path):
    port = free_port()
    settings = Settings.model_validate({"broker": {"port": port, "embedded": "iotcore"}})
    async with broker_for(settings, tmp_path) as reached:
        assert (reached.broker.host, reached.broker.port) == ("127.0.0.1", port)
