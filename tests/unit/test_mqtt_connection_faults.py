"""How a connection fails to come about, ends, and is secured."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import ssl
import subprocess
from pathlib import Path

import pytest

import brokers
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions, from_settings, tls_context
from beforehand.errors import BusError, BusUnavailable, SettingsError
from beforehand.settings import BrokerSettings

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with brokers.running("mosquitto", tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
async def connect(broker):
    """Makes open connections, and closes them."""
    async with contextlib.AsyncExitStack() as ends:
        yield lambda client_id, **options: ends.enter_async_context(
            brokers.connected(broker.port, client_id, **options)
        )


@pytest.mark.parametrize("busy", ["publishing", "receiving", "subscribing"])
async def test_the_end_of_the_broker_is_noticed_whatever_is_awaited(tmp_path, busy):
    with brokers.running("mosquitto", tmp_path) as broker:
        one = Connection(ConnectionOptions(client_id="one", port=broker.port))
        await one.open()
        broker.pause()
        awaited = {
            "publishing": lambda: one.publish("a", b""),
            "receiving": one.receive,
            "subscribing": lambda: one.subscribe(["a"]),
        }[busy]
        waiting = asyncio.ensure_future(awaited())
        await asyncio.sleep(0)
        broker.stop(9)
        with pytest.raises(BusUnavailable, match="broke off"):
            await waiting
        assert "broke off" in (await one.lost()).problem
        for refused in (one.publish("a", b""), one.receive(), one.subscribe(["a"]), one.unsubscribe(["a"])):
            with pytest.raises(BusUnavailable):
                await refused
        one.acknowledge([])
        await one.close()


async def test_a_broker_that_stands_still_is_not_waited_for_forever(tmp_path):
    with brokers.running("mosquitto", tmp_path) as broker:
        one = Connection(ConnectionOptions(client_id="one", port=broker.port))
        await one.open()
        broker.pause()
        one.options = dataclasses.replace(one.options, timeout_s=0.05)
        with pytest.raises(BusUnavailable, match=r"not answered within 0\.05 s"):
            await one.publish("a", b"")
        two = Connection(ConnectionOptions(client_id="two", port=broker.port, timeout_s=0.05))
        with pytest.raises(BusUnavailable):
            await two.open()
        broker.resume()
        one.options = dataclasses.replace(one.options, timeout_s=20)
        await one.publish("a", b"it answers again")
        await one.close()


async def test_opening_may_be_cancelled(broker, connect):
    for turns in range(12):
        one = Connection(ConnectionOptions(client_id="one", port=broker.port))
        opening = asyncio.ensure_future(one.open())
        for _ in range(turns):
            await asyncio.sleep(0)
        opening.cancel()
        await asyncio.wait({opening})
        await one.close()
        assert not one.is_open
    await connect("one")


async def test_where_no_broker_is_that_is_said():
    one = Connection(ConnectionOptions(client_id="one", port=brokers.free_port()))
    with pytest.raises(
        BusUnavailable, match=r"no broker answers at 127\.0\.0\.1:\d+: .*refused.* Start it, or correct"
    ):
        await one.open()
    with pytest.raises(BusUnavailable, match="no broker answers at /nowhere/socket"):
        await Connection(ConnectionOptions(client_id="one", unix_socket=Path("/nowhere/socket"))).open()


async def test_wrong_credentials_are_refused_for_good(tmp_path):
    with brokers.running("mosquitto", tmp_path, extra="allow_anonymous false\n") as broker:
        for protocol in ("5", "3.1.1"):
            one = Connection(ConnectionOptions(client_id="one", port=broker.port, protocol=protocol))
            with pytest.raises(BusError, match="not authorized") as caught:
                await one.open()
            assert not isinstance(caught.value, BusUnavailable)


def certificates(folder: Path) -> None:
    """An authority that signs itself, good for 127.0.0.1."""
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1"
    subprocess.run([*command.split(), "-keyout", "key.pem", "-out", "cert.pem"], cwd=folder, check=True, timeout=60)


async def test_tls_verifies_the_broker(tmp_path, capfd):
    certificates(tmp_path)
    port = brokers.free_port()
    extra = (
        f"listener {port} 127.0.0.1\nallow_anonymous true\ncertfile {tmp_path}/cert.pem\nkeyfile {tmp_path}/key.pem\n"
    )
    with brokers.running("mosquitto", tmp_path, extra=extra):
        settings = BrokerSettings(host="127.0.0.1", port=port, tls=True, tls_ca=tmp_path / "cert.pem")
        one = Connection(from_settings(settings, "one"))
        await one.open()
        await one.subscribe(["a"])
        slow = Connection(dataclasses.replace(from_settings(settings, "slow"), unread_high=2, unread_low=1))
        await slow.open()
        await slow.subscribe(["a"])
        payloads = [b"%d" % number * size for number in range(20) for size in (40_000, 1)]
        await asyncio.gather(*(one.publish("a", payload) for payload in payloads))
        for reader in (one, slow):
            assert [arrival.payload for arrival in await brokers.take(reader, 40)] == payloads
            await reader.close()
        stranger = Connection(ConnectionOptions(client_id="two", port=port, tls=ssl.create_default_context()))
        with pytest.raises(BusError, match=r"does not verify.*Set broker\.tls_ca") as caught:
            await stranger.open()
        assert not isinstance(caught.value, BusUnavailable)


def test_tls_files_are_checked_when_they_are_read(tmp_path):
    with pytest.raises(SettingsError, match="no TLS file"):
        tls_context(ca=tmp_path / "absent.pem")
    (tmp_path / "bad.pem").write_text("not a certificate")
    with pytest.raises(SettingsError, match="cannot use the TLS files"):
        tls_context(ca=tmp_path / "bad.pem")


def test_settings_become_options():
    settings = BrokerSettings(host="mqtt", username="u", password="secret", protocol="3.1.1")
    options = from_settings(settings, "one")
    assert (options.where, options.username, options.password, options.protocol) == (
        "mqtt:1883",
        "u",
        "secret",
        "3.1.1",
    )
    assert "secret" not in repr(options)
    assert from_settings(BrokerSettings(socket=Path("/run/mqtt")), "one").where == "/run/mqtt"
