"""R5: the broker restarts in the middle. Subscriptions and session return, nothing is lost, the gap is counted."""

from __future__ import annotations

import asyncio
import signal

import pytest

import brokers
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.mqtt.bus import MqttBus
from beforehand.backends.mqtt.connection import Connection
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.errors import BusUnavailable
from beforehand.ports import Lane
from beforehand.settings import BrokerSettings

pytestmark = pytest.mark.anyio
MESSAGES = 1_500
TOPIC = "beforehand/v1/t/a/r/event"


async def send(port: int, waiting: list[bytes]) -> None:
    """An agent with an outbox: what the broker has not confirmed is sent again on the next connection."""
    while waiting:
        agent = Connection(ConnectionOptions(client_id="agent", port=port))
        try:
            await agent.open()
            sent, later = waiting[:100], waiting[100:]
            outcomes = await asyncio.gather(
                *(agent.publish(TOPIC, payload) for payload in sent), return_exceptions=True
            )
            waiting = [one for one, outcome in zip(sent, outcomes, strict=True) if outcome is not None] + later
        except BusUnavailable:
            await asyncio.sleep(0.01)
        finally:
            await agent.close()


@pytest.mark.parametrize(
    ("kind", "protocol", "how"),
    [
        ("mosquitto", "5", signal.SIGTERM),
        ("mosquitto", "3.1.1", signal.SIGTERM),
        ("mosquitto", "5", signal.SIGKILL),
        ("iotcore", "5", signal.SIGKILL),
    ],
)
async def test_r5_nothing_is_lost_when_the_broker_restarts(tmp_path, kind, protocol, how):
    """An orderly restart keeps what is queued. A hard one does not: there the agent sends again what is missing."""
    wanted = [b"%d" % number for number in range(MESSAGES)]
    measures = RecordedMeasures()
    with brokers.running(kind, tmp_path, protocol=protocol) as broker:
        port = broker.port
        settings = BrokerSettings(host="127.0.0.1", port=port, protocol=protocol)
        bus = MqttBus(settings, measures, tmp_path / "state", chance=lambda: 0.0)
        got: list[bytes] = []

        async def read() -> None:
            async for batch in bus.arrivals(Lane.INGEST):
                got.extend(arrival.payload for arrival in batch)
                await asyncio.sleep(0)
                bus.acknowledge(batch)

        async with bus.open():
            await bus.connected()
            await bus.set_status(b"online")
            reading = asyncio.create_task(read())
            sending = asyncio.create_task(send(port, wanted))
            for part in (1, 2):
                await brokers.until(lambda part=part: sending.done() or len(got) >= part * MESSAGES // 3)
                seen = bus.connections
                broker.stop(how)
                broker.start()
                await bus.reconnected(seen)
            await sending
            if how == signal.SIGKILL:
                await send(port, [payload for payload in wanted if payload not in got])
            await brokers.until(lambda: set(got) == set(wanted))
            reading.cancel()
            watcher = Connection(ConnectionOptions(client_id="watcher", port=port))
            await watcher.open()
            await watcher.subscribe(["beforehand/v1/$daemon/main/status"])
            [status] = await watcher.receive()
            assert (status.payload, status.retained) == (b"online", True)
            await watcher.close()
        for lane in Lane:
            assert measures.value("beforehand_reconnections_total", lane=lane) >= 2
            assert measures.value("beforehand_disconnected_seconds_total", lane=lane) > 0


async def test_r5_what_was_received_before_a_hard_restart_is_not_forgotten(tmp_path):
    """The broker lost the session, so nobody will send again what we hold unread: it must still be given out."""
    with brokers.running("iotcore", tmp_path) as broker:
        settings = BrokerSettings(host="127.0.0.1", port=broker.port)
        bus = MqttBus(settings, RecordedMeasures(), tmp_path / "state", chance=lambda: 0.0)
        async with bus.open():
            await bus.connected()
            agent = Connection(ConnectionOptions(client_id="agent", port=broker.port))
            await agent.open()
            await asyncio.gather(*(agent.publish(TOPIC, b"%d" % number) for number in range(50)))
            feed = bus._links[Lane.INGEST].connection
            await brokers.until(lambda: len(feed._inbox) == 50)
            await agent.close()
            broker.stop(signal.SIGKILL)
            broker.start()
            await bus.reconnected(1)
            again = Connection(ConnectionOptions(client_id="agent", port=broker.port))
            await again.open()
            await again.publish(TOPIC, b"50")
            got: list[bytes] = []
            async with asyncio.timeout(20):
                async for batch in bus.arrivals(Lane.INGEST):
                    got += [arrival.payload for arrival in batch]
                    bus.acknowledge(batch)
                    if len(got) == 51:
                        break
            assert got == [b"%d" % number for number in range(51)]
            await again.close()
