"""The bus over MQTT: who may use a client id, what ends it, what it survives."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

import brokers
from beforehand import limits
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.mqtt.bus import MqttBus
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.lock import client_id_lock
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.errors import BusError, BusUnavailable, ClientIdTaken, PublishRefused
from beforehand.ports import Lane
from beforehand.settings import BrokerSettings
from scripted_broker import CONNACK_5, CONNECT, SUBSCRIBE, TAKEN_OVER, granted_5, scripted, suback_5

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    with brokers.running("mosquitto", tmp_path_factory.mktemp("broker")) as broker:
        yield broker


@pytest.fixture
def measures() -> RecordedMeasures:
    return RecordedMeasures()


@pytest.fixture
def make(tmp_path, measures) -> Callable[..., MqttBus]:
    """Makes buses that reconnect quickly."""

    def make(port: int, folder: str = "state", **settings) -> MqttBus:
        reached = BrokerSettings(host="127.0.0.1", port=port, **settings)
        return MqttBus(reached, measures, tmp_path / folder, chance=lambda: 0.0)

    return make


async def first(bus: MqttBus, lane: Lane = Lane.INGEST) -> bytes:
    async with asyncio.timeout(20):
        batch = await anext(bus.arrivals(lane))
    bus.acknowledge(batch)
    return batch[0].payload


async def test_two_daemons_of_one_name_cannot_run_on_one_machine(make, broker):
    async with make(broker.port).open():
        with pytest.raises(ClientIdTaken, match=r"process \d+ uses the client id 'main-ingest'.*another broker\.name"):
            async with make(broker.port).open():
                pass
        async with make(broker.port, name="other").open():
            pass
    async with make(broker.port).open():
        pass


def test_a_client_id_is_free_again_when_its_process_was_killed(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path)], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(ClientIdTaken, match=f"process {holder.pid} uses"),
            client_id_lock(tmp_path, "main", "broker"),
        ):
            pass
        with client_id_lock(tmp_path, "main", "another broker"):
            pass
        holder.kill()
        holder.wait()
        with client_id_lock(tmp_path, "main", "broker"):
            pass
    finally:
        holder.kill()
        holder.communicate()


_HOLD = """
import sys
from pathlib import Path
from beforehand.backends.mqtt.lock import client_id_lock
with client_id_lock(Path(sys.argv[1]), "main", "broker"):
    print("held", flush=True)
    sys.stdin.read()
"""


async def test_two_daemons_of_one_name_on_two_machines_end_with_advice(make, broker):
    one, other = make(broker.port, "here"), make(broker.port, "there")
    async with one.open(), other.open():
        reading = [asyncio.ensure_future(anext(bus.arrivals(lane))) for bus in (one, other) for lane in Lane]
        done, waiting = await asyncio.wait(reading, return_when=asyncio.FIRST_COMPLETED, timeout=30)
        for task in waiting:
            task.cancel()
        with pytest.raises(ClientIdTaken, match=r"another client uses this id.*another broker\.name"):
            done.pop().result()


async def test_a_session_that_is_taken_over_counts_however_long_it_lasted(make, monkeypatch):
    monkeypatch.setattr(limits, "TAKEOVERS", 1)
    async with scripted({CONNECT: CONNACK_5, SUBSCRIBE: granted_5}) as them:
        bus = make(them.port)
        async with bus.open():
            await bus.connected()
            them.hang_up(TAKEN_OVER)
            with pytest.raises(ClientIdTaken):
                await anext(bus.arrivals(Lane.CONTROL))
            with pytest.raises(ClientIdTaken):
                await bus.connected()


async def test_a_refused_subscription_ends_the_start(make):
    async with scripted({CONNECT: CONNACK_5, SUBSCRIBE: lambda packet: suback_5(packet, 0x87)}) as refusing:
        with pytest.raises(BusError, match=r"refuses the subscription to .*: not authorized\. Allow this user to read"):
            async with make(refusing.port).open():
                pass


async def test_a_broker_without_mqtt_5_is_told_apart(make):
    async with scripted({CONNECT: b"\x20\x02\x00\x01"}) as old:
        with pytest.raises(BusError, match=r'unsupported protocol version\. Set broker\.protocol = "3\.1\.1"'):
            async with make(old.port).open():
                pass


async def test_wrong_credentials_end_the_start(make, tmp_path):
    with (
        brokers.running("mosquitto", tmp_path, extra="allow_anonymous false\n") as broker,
        pytest.raises(BusError, match=r"not authorized\. Allow this user"),
    ):
        async with make(broker.port, username="me", password="wrong").open():
            pass


async def test_a_refusal_later_on_is_told_and_tried_again(make, tmp_path):
    with brokers.running("mosquitto", tmp_path) as broker, capture_logs() as logs:
        bus = make(broker.port)
        async with bus.open():
            await bus.connected()
            broker.stop()
            broker.extra = "allow_anonymous false\n"
            broker.start()
            await brokers.until(lambda: [log for log in logs if log["event"] == "broker refuses"])
            broker.stop()
            broker.extra = ""
            broker.start()
            await bus.reconnected(1)


async def test_a_broker_that_is_not_there_yet_is_awaited(make, tmp_path):
    broker = brokers.Broker("mosquitto", tmp_path)
    bus = make(broker.port)
    async with bus.open():
        with pytest.raises(BusUnavailable):
            await bus.publish("a", b"")
        with pytest.raises(BusUnavailable):
            await bus.probe()
        assert bus.connections == 0
        broker.start()
        try:
            await bus.connected()
            assert bus.connections == 1
        finally:
            broker.stop(signal.SIGKILL)


async def test_whoever_waits_for_a_connection_hears_that_the_bus_is_closed(make):
    bus = make(brokers.free_port())
    async with bus.open():
        waiting = [asyncio.ensure_future(wait) for wait in (bus.connected(), bus.reconnected(0))]
        await asyncio.sleep(0)
    for task in waiting:
        with pytest.raises(BusUnavailable, match="closed"):
            await task


async def test_a_new_root_is_heard_although_the_session_knew_the_old_one(make, broker):
    async with make(broker.port, name="moved", root="old/v1").open():
        pass
    agent = Connection(ConnectionOptions(client_id="agent", port=broker.port))
    await agent.open()
    bus = make(broker.port, name="moved", root="new/v1")
    async with bus.open():
        await bus.connected()
        hearing = asyncio.ensure_future(first(bus))
        while not hearing.done():
            await agent.publish("new/v1/t/a/r/event", b"moved")
        assert await hearing == b"moved"
    await agent.close()


async def test_a_recall_names_where_its_answer_goes(make, broker):
    agent = Connection(ConnectionOptions(client_id="agent", port=broker.port))
    await agent.open()
    bus = make(broker.port, name="recalling")
    async with bus.open():
        await bus.connected()
        await agent.publish("beforehand/v1/t/a/r/recall", b"?", response_topic="beforehand/v1/t/a/me", correlation=b"7")
        [arrival] = await anext(bus.arrivals(Lane.CONTROL))
        assert (arrival.response_topic, arrival.correlation) == ("beforehand/v1/t/a/me", b"7")
        bus.acknowledge([arrival])
    await agent.close()


async def test_refused_publishes_are_counted_and_a_refused_status_ends_nothing(make, tmp_path, measures):
    (tmp_path / "access").write_text("topic readwrite open/#\ntopic read beforehand/#\n")
    with brokers.running("mosquitto", tmp_path, extra=f"acl_file {tmp_path}/access\n") as broker:
        bus = make(broker.port)
        async with bus.open():
            await bus.connected()
            with pytest.raises(PublishRefused):
                await bus.publish("secret", b"")
            assert measures.value("beforehand_publish_refused_total") == 1
            with capture_logs() as logs:
                await bus.set_status(b"online")
                await bus.set_status(b"degraded")
                bus._links[Lane.CONTROL].connection.drop()
                await bus.reconnected(1)
            await bus.publish("open/a", b"")
            assert measures.value("beforehand_publish_refused_total") == 4
    assert [line["event"] for line in logs].count("the broker refuses the status") == 1


async def test_pauses_and_reconnections_are_counted_by_lane(make, broker, measures, monkeypatch):
    monkeypatch.setattr(limits, "ARRIVALS_BYTES_HIGH", 1_000)
    agent = Connection(ConnectionOptions(client_id="agent", port=broker.port))
    await agent.open()
    bus = make(broker.port, name="counting")
    async with bus.open():
        await bus.connected()
        await asyncio.gather(*(agent.publish("beforehand/v1/t/a/r/event", b"x" * 500) for _ in range(40)))
        await brokers.until(lambda: measures.value("beforehand_pauses_total", lane="ingest"))
        bus._links[Lane.INGEST].connection.drop()
        await brokers.until(lambda: measures.value("beforehand_reconnections_total", lane="ingest"))
        await bus.connected()
        assert measures.value("beforehand_reconnections_total", lane="control") == 0
        assert measures.value("beforehand_disconnected_seconds_total", lane="ingest") > 0
    await agent.close()


async def test_a_fault_of_our_own_ends_the_lane_with_a_word(make, broker):
    bus = make(broker.port, name="faulty")
    bus._links[Lane.CONTROL]._greet = _break
    with pytest.raises(BusError, match="control lane has ended: ZeroDivisionError"):
        async with bus.open():
            pass


async def _break(_: Connection) -> None:
    raise ZeroDivisionError
