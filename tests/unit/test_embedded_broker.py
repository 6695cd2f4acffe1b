"""The broker that the daemon brings along."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import tempfile
from pathlib import Path

import pytest

import brokers
from beforehand.backends.broker import EmbeddedBroker, configuration, embedded
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.errors import BrokerFailed
from programs import needed

pytestmark = pytest.mark.anyio
SPOKEN = {"mosquitto": ["5", "3.1.1"], "iotcore": None}
only_mosquitto = pytest.mark.usefixtures("mosquitto")


@pytest.fixture
def mosquitto() -> str:
    return needed("mosquitto", "mosquitto")


async def connected(port: int, protocol: str = "5") -> Connection:
    connection = Connection(ConnectionOptions(client_id="one", port=port, protocol=protocol))
    await connection.open()
    return connection


@pytest.mark.parametrize(
    ("kind", "protocol", "spoken"),
    [(kind, protocol, SPOKEN[kind] or [protocol]) for kind in brokers.KINDS for protocol in ("5", "3.1.1")],
)
async def test_it_serves_while_it_is_open_and_leaves_nothing_running(tmp_path, kind, protocol, spoken):
    async with EmbeddedBroker(kind, 0, tmp_path, protocol=protocol) as broker:
        for version in spoken:
            one = await connected(broker.port, version)
            await one.subscribe([version])
            await one.publish(version, b"hello")
            [arrival] = await one.receive()
            assert arrival.payload == b"hello"
            await one.close()
        started = [broker._process.pid, *brokers.children_of(broker._process.pid)]
        assert len(started) == (2 if kind == "mosquitto" else 1)
    assert not any(brokers.is_alive(pid) for pid in started)
    with socket.socket() as probe:
        assert probe.connect_ex((broker.host, broker.port)) != 0


@only_mosquitto
async def test_the_port_that_is_asked_for_is_the_one(tmp_path):
    port = brokers.free_port()
    async with EmbeddedBroker("mosquitto", port, tmp_path) as broker:
        assert broker.port == port
        await (await connected(port)).close()


@only_mosquitto
async def test_it_is_started_again_when_it_lives_and_accepts_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "_LOOK_EVERY_S", 0.05)
    accepts, answers = embedded._accepts, []

    async def deaf_once(port: int) -> bool:
        answers.append(len(answers) != 2 and await accepts(port))
        return answers[-1]

    async with EmbeddedBroker("mosquitto", 0, tmp_path) as broker:
        first = broker._process.pid
        monkeypatch.setattr(embedded, "_accepts", deaf_once)
        await brokers.until(lambda: broker.restarts == 1)
        assert not brokers.is_alive(first)
        await (await connected(broker.port)).close()


@pytest.mark.parametrize("kind", brokers.KINDS)
async def test_it_is_started_again_on_its_port_when_it_dies(tmp_path, kind):
    async with EmbeddedBroker(kind, 0, tmp_path) as broker:
        for restarts in (1, 2):
            one = await connected(broker.port)
            guarded = brokers.children_of(broker._process.pid) or [broker._process.pid]
            os.kill(guarded[0], signal.SIGKILL)
            await one.lost()
            await brokers.until(lambda restarts=restarts: broker.restarts == restarts)
        await (await connected(broker.port)).close()


@only_mosquitto
async def test_it_is_started_again_once_what_kept_it_from_starting_is_gone(tmp_path, monkeypatch):
    async with EmbeddedBroker("mosquitto", 0, tmp_path) as broker:
        tried = []
        write = configuration.mosquitto

        def break_twice(*arguments: object) -> str:
            tried.append(arguments)
            return "nonsense\n" if len(tried) < 3 else write(*arguments)

        monkeypatch.setattr(configuration, "mosquitto", break_twice)
        os.kill(brokers.children_of(broker._process.pid)[0], signal.SIGKILL)
        await brokers.until(lambda: broker.restarts)
        assert len(tried) == 3
        await (await connected(broker.port)).close()


@only_mosquitto
async def test_an_orderly_end_keeps_what_was_retained(tmp_path):
    port = brokers.free_port()
    async with EmbeddedBroker("mosquitto", port, tmp_path):
        one = await connected(port)
        await one.publish("a", b"kept", retain=True)
        await one.close()
    async with EmbeddedBroker("mosquitto", port, tmp_path):
        one = await connected(port)
        await one.subscribe(["a"])
        assert [(arrival.payload, arrival.retained) for arrival in await one.receive()] == [(b"kept", True)]
        await one.close()


@only_mosquitto
async def test_a_free_port_that_is_taken_meanwhile_is_not_insisted_on(tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = iter([taken.getsockname()[1], brokers.free_port()])
        monkeypatch.setattr(embedded, "free_port", lambda: next(ports))
        async with EmbeddedBroker("mosquitto", 0, tmp_path) as broker:
            assert broker.port != taken.getsockname()[1]
            await (await connected(broker.port)).close()


@only_mosquitto
async def test_a_broker_that_does_not_start_shows_its_last_words(tmp_path, monkeypatch):
    monkeypatch.setattr(configuration, "mosquitto", lambda *_: "nonsense\n")
    with pytest.raises(BrokerFailed, match=r"(?s)mosquitto.*ended with code.*last words:.*nonsense.*broker\.host"):
        async with EmbeddedBroker("mosquitto", 0, tmp_path):
            pass


async def test_a_port_in_use_is_named_with_the_way_out(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BrokerFailed, match=rf"port {port} .*in use.*embedded_port, 0 for any"):
            async with EmbeddedBroker("auto", port, tmp_path):
                pass


@only_mosquitto
async def test_a_start_may_be_cancelled(tmp_path):
    broker = EmbeddedBroker("mosquitto", 0, tmp_path)
    starting = asyncio.ensure_future(broker.__aenter__())
    await brokers.until(lambda: broker._process is not None)
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    assert broker._process.returncode is not None


@only_mosquitto
def test_mosquitto_is_preferred_and_iotcore_is_the_other_one(tmp_path, monkeypatch):
    assert EmbeddedBroker("auto", 0, tmp_path).kind == "mosquitto"
    assert EmbeddedBroker("iotcore", 0, tmp_path).kind == "iotcore"
    monkeypatch.setattr(embedded, "find_mosquitto", lambda: None)
    assert EmbeddedBroker("auto", 0, tmp_path).kind == "iotcore"
    with pytest.raises(BrokerFailed, match="mosquitto is not installed"):
        EmbeddedBroker("mosquitto", 0, tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(BrokerFailed, match="neither mosquitto nor iotcore"):
        EmbeddedBroker("auto", 0, tmp_path)


def test_mosquitto_is_found_where_only_root_looks(tmp_path, monkeypatch):
    program = tmp_path / "mosquitto"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(embedded, "_USUAL_PLACES", (str(tmp_path),))
    assert embedded.find_mosquitto() == str(program)


@only_mosquitto
async def test_started_by_root_it_runs_as_its_own_user_where_that_can_reach_its_folder():
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        async with EmbeddedBroker("mosquitto", 0, folder) as broker:
            [pid] = brokers.children_of(broker._process.pid)
            owner = pwd.getpwuid(Path(f"/proc/{pid}").stat().st_uid).pw_name
        users = {user.pw_name for user in pwd.getpwall()}
        root_with_choice = os.geteuid() == 0 and "mosquitto" in users
        assert owner == ("mosquitto" if root_with_choice else pwd.getpwuid(os.geteuid()).pw_name)
        assert (folder / "broker" / "mosquitto.db").is_file()
    finally:
        shutil.rmtree(folder)


def test_rumqttd_gets_room_for_a_backlog_on_the_filters_of_the_daemon_alone():
    text = configuration.iotcore(1, "5", "here/v1")
    assert "[router.custom_segment.'here/v1/+/+/+/event']" in text
    assert text.count("custom_segment") == 5
