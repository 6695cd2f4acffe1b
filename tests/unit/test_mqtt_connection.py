"""One connection to a broker: what it refuses, what it notices, how it holds back."""

from __future__ import annotations

import asyncio
import dataclasses
import ssl
import subprocess
from pathlib import Path

import pytest

import brokers
from beforehand import limits
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions, Will, from_settings, tls_context
from beforehand.errors import BusError, BusUnavailable, PublishRefused, SettingsError
from beforehand.settings import BrokerSettings

pytestmark = pytest.mark.anyio

ACCESS = """
topic readwrite open/#
topic write status
topic read status
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("broker")
    (folder / "access").write_text(ACCESS)
    extra = f"acl_file {folder}/access\nlistener 0 {folder}/socket\nallow_anonymous true\n"
    with brokers.running("mosquitto", folder, extra=extra) as broker:
        yield broker


@pytest.fixture
async def connect(broker):
    """Makes open connections, and closes them."""
    made: list[Connection] = []

    async def connect(client_id: str, **options) -> Connection:
        options.setdefault("port", broker.port)
        connection = Connection(ConnectionOptions(client_id=client_id, **options))
        made.append(connection)
        await connection.open()
        return connection

    yield connect
    for connection in made:
        await connection.close()


async def take(connection: Connection, count: int) -> list:
    got: list = []
    async with asyncio.timeout(20):
        while len(got) < count:
            got += await connection.receive()
    return got


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
async def test_a_message_goes_through(connect, protocol):
    one = await connect("one", protocol=protocol)
    await one.subscribe(["open/#"])
    await one.publish("open/a", b"hello", expiry_s=60, response_topic="open/answer", correlation=b"42")
    [arrival] = await one.receive()
    assert (arrival.topic, arrival.payload, arrival.retained, arrival.handle) == ("open/a", b"hello", False, None)
    expected = ("open/answer", b"42") if protocol == "5" else (None, None)
    assert (arrival.response_topic, arrival.correlation) == expected


async def test_a_unix_socket_will_do(connect, broker):
    one = await connect("one", unix_socket=broker.folder / "socket")
    await one.subscribe(["open/#"])
    await one.publish("open/a", b"hello")
    [arrival] = await one.receive()
    assert arrival.payload == b"hello"


async def test_a_publish_that_access_rules_forbid_is_refused_with_advice(connect):
    one = await connect("one")
    with pytest.raises(PublishRefused, match=r"secret: not authorized\. Allow this user to write there"):
        await one.publish("secret", b"")
    await one.publish("open/a", b"the connection stands")


async def test_a_topic_with_a_wildcard_is_refused_here(connect):
    one = await connect("one")
    for topic in ("open/#", "open/+/a"):
        with pytest.raises(PublishRefused, match="without wildcards"):
            await one.publish(topic, b"")
    await one.publish("open/a", b"the connection stands")


async def test_a_message_larger_than_the_broker_takes_is_refused_here(connect):
    one = await connect("one")
    with pytest.raises(PublishRefused, match="too many"):
        await one.publish("open/a", b"x" * limits.BROKER_PACKET_BYTES)
    await one.publish("open/a", b"the connection stands")


async def test_a_broker_that_refuses_a_size_without_having_said_so_does_not_break_the_connection(tmp_path):
    """mosquitto answers with a reason code that a PUBACK must not have; paho took that for a broken connection."""
    with brokers.running("mosquitto", tmp_path, extra="message_size_limit 1000\n") as broker:
        one = Connection(ConnectionOptions(client_id="one", port=broker.port))
        await one.open()
        with pytest.raises(PublishRefused, match=r"packet too large\. Raise the broker's limit"):
            await one.publish("a", b"x" * 1001)
        await one.publish("a", b"the connection stands")
        await one.close()


async def test_publishes_that_nobody_awaits_leave_room_for_others(connect):
    one = await connect("one")
    abandoned = [asyncio.ensure_future(one.publish("open/a", b"")) for _ in range(3 * limits.PUBLISHES_IN_FLIGHT)]
    await asyncio.sleep(0)
    for task in abandoned:
        task.cancel()
    await asyncio.wait(abandoned)
    await asyncio.gather(*(one.publish("open/a", b"") for _ in range(3 * limits.PUBLISHES_IN_FLIGHT)))


async def test_no_more_publishes_are_under_way_than_the_broker_allows(tmp_path):
    with brokers.running("mosquitto", tmp_path, extra="max_inflight_messages 3\n") as broker:
        one = Connection(ConnectionOptions(client_id="one", port=broker.port))
        await one.open()
        most = 0
        publishing = [asyncio.ensure_future(one.publish("a", b"")) for _ in range(20)]
        while not all(task.done() for task in publishing):
            most = max(most, len(one._answers))
            await asyncio.sleep(0)
        await one.close()
    assert most == 3


async def test_the_session_is_found_again(connect):
    kept = {"clean_start": False, "session_expiry_s": 60, "manual_ack": True}
    one = await connect("kept", **kept)
    assert not one.session_present
    await one.close()
    assert (await connect("kept", **kept)).session_present
    assert not (await connect("kept", clean_start=True)).session_present


async def test_retained_messages_come_again_only_where_they_are_wanted(connect):
    one = await connect("one", clean_start=False, session_expiry_s=60)
    await one.publish("open/stored", b"old", retain=True)
    await one.subscribe(["open/stored"])
    await one.subscribe(["open/stored"], retained=False)
    await one.subscribe(["open/stored"], retained=True)
    await one.publish("open/stored", b"new")
    arrivals = await take(one, 3)
    assert [(arrival.payload, arrival.retained) for arrival in arrivals] == [
        (b"old", True),
        (b"old", True),
        (b"new", False),
    ]
    await one.publish("open/stored", b"", retain=True)


async def test_nothing_comes_after_unsubscribing(connect):
    one = await connect("one")
    await one.subscribe(["open/a", "open/b"])
    await one.unsubscribe(["open/a"])
    await one.publish("open/a", b"a")
    await one.publish("open/b", b"b")
    assert [arrival.payload for arrival in await one.receive()] == [b"b"]


async def test_the_will_is_published_when_the_connection_is_dropped_and_not_when_it_is_closed(connect):
    watcher = await connect("watcher")
    await watcher.subscribe(["status"])
    for client_id in ("dropped", "closed"):
        one = await connect(client_id, will=Will(topic="status", payload=client_id.encode(), retain=False))
        if client_id == "closed":
            await one.close()
        else:
            one.drop()
    await watcher.publish("status", b"end")
    heard = await take(watcher, 2)
    assert {arrival.payload for arrival in heard} == {b"dropped", b"end"}


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


async def test_a_full_reader_leaves_the_socket_alone_and_loses_nothing(connect):
    pauses: list[None] = []
    slow = await connect("slow", protocol="3.1.1", unread_high=50, unread_low=10)
    slow.on_pause = lambda: pauses.append(None)
    await slow.subscribe(["open/#"])
    writer = await connect("writer")
    await asyncio.gather(*(writer.publish("open/a", b"%d" % number) for number in range(500)))
    await brokers.until(lambda: pauses)
    assert 50 <= len(slow._inbox) < 50 + 16
    got: list[bytes] = []
    while len(got) < 500:
        got += [arrival.payload for arrival in await slow.receive(10)]
        await asyncio.sleep(0)
    assert got == [b"%d" % number for number in range(500)]
    assert len(pauses) > 1


async def test_large_messages_hold_the_reader_back_too(connect, monkeypatch):
    monkeypatch.setattr(limits, "ARRIVALS_BYTES_HIGH", 1_000_000)
    slow = await connect("slow")
    await slow.subscribe(["open/#"])
    writer = await connect("writer")
    await asyncio.gather(*(writer.publish("open/a", b"x" * 300_000) for _ in range(20)))
    await brokers.until(lambda: slow._wire._paused)
    assert len(slow._inbox) < 20
    assert len(await take(slow, 20)) == 20


async def test_an_answer_is_read_although_the_reader_is_full(connect):
    one = await connect("one", unread_high=5, unread_low=1)
    await one.subscribe(["open/#"])
    async with asyncio.timeout(20):
        for number in range(100):
            await one.publish("open/a", b"%d" % number)
        await one.subscribe(["status"])
    assert len(await take(one, 100)) == 100


async def test_a_paused_connection_outlives_its_keep_alive(connect):
    slow = await connect("slow", unread_high=5, unread_low=1, keepalive_s=1)
    await slow.subscribe(["open/#"])
    writer = await connect("writer")
    await asyncio.gather(*(writer.publish("open/a", b"") for _ in range(100)))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(3.2):
            await slow.lost()
    assert slow._wire._paused
    assert len(await take(slow, 100)) == 100


async def test_a_broker_that_died_is_noticed_although_the_reader_is_full(tmp_path):
    with brokers.running("mosquitto", tmp_path) as broker:
        slow = Connection(ConnectionOptions(client_id="slow", port=broker.port, unread_high=5, keepalive_s=1))
        await slow.open()
        await slow.subscribe(["a"])
        writer = Connection(ConnectionOptions(client_id="writer", port=broker.port))
        await writer.open()
        await asyncio.gather(*(writer.publish("a", b"") for _ in range(20)))
        await brokers.until(lambda: slow._wire._paused)
        broker.pause()
        async with asyncio.timeout(20):
            await slow.lost()
        assert len(await take(slow, len(slow._inbox))) >= 5
        broker.resume()
        await writer.close()


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
        large = [b"%d" % number * 40_000 for number in range(20)]
        await asyncio.gather(*(one.publish("a", payload) for payload in large))
        assert [arrival.payload for arrival in await take(one, 20)] == large
        await one.close()
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
