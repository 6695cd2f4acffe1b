"""The way out when the broker goes away in the middle."""

from __future__ import annotations

import asyncio

from beforehand.backends.clocks import VirtualClock
from beforehand.backends.measures import RecordedMeasures
from beforehand.errors import BusUnavailable, PublishRefused
from beforehand.pipeline.publisher import Outgoing, Publisher


class Bus:
    """Loses its connection, notices that only when it gets the loop, and says that it is connected until then."""

    def __init__(self):
        self.connections = 1
        self.published = []
        self.tried = 0
        self.lost = True

    async def publish(self, topic, payload, **_):
        self.tried += 1
        assert self.tried < 1_000, "the loop was never given to anybody else"
        if self.lost:
            raise BusUnavailable("gone.", "")
        self.published.append((topic, payload))

    async def connected(self):
        """At once."""

    async def reconnected(self, seen):
        await asyncio.Event().wait()


def held(bus, *topics):
    """Publishing to these topics hangs until the event is set."""
    stuck, publish = asyncio.Event(), bus.publish

    async def hanging(topic, payload, **_):
        if topic in topics:
            await stuck.wait()
        await publish(topic, payload)

    bus.publish = hanging
    return stuck


def test_a_publisher_that_cannot_publish_lets_the_bus_notice():
    async def play():
        bus = Bus()
        publisher = Publisher(bus, VirtualClock(), RecordedMeasures())
        publisher.put(Outgoing("a", b"1", retain=True))
        publisher.put(Outgoing("b", b"2"))
        running = asyncio.create_task(publisher.run())
        for _ in range(5):
            await asyncio.sleep(0)
        assert bus.published == []
        bus.lost = False
        while len(bus.published) < 2:
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running])
        assert sorted(bus.published) == [("a", b"1"), ("b", b"2")]

    asyncio.run(play())


def test_what_was_on_its_way_when_the_publisher_ended_is_published_by_drain():
    async def play():
        bus = Bus()
        bus.lost = False
        stuck = held(bus, "a", "b")
        publisher = Publisher(bus, VirtualClock(), RecordedMeasures())
        publisher.put(Outgoing("a", b"1", retain=True))
        publisher.put(Outgoing("b", b"2"))
        running = asyncio.create_task(publisher.run())
        for _ in range(5):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait([running])
        stuck.set()
        await publisher.drain()
        assert sorted(bus.published) == [("a", b"1"), ("b", b"2")]

    asyncio.run(play())


def test_one_publish_that_hangs_holds_up_only_its_topic():
    async def play():
        bus = Bus()
        bus.lost = False
        stuck = held(bus, "a")
        publisher = Publisher(bus, VirtualClock(), RecordedMeasures())
        running = asyncio.create_task(publisher.run())
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # all workers wait now
        for topic, payload in (("a", b"1"), ("a", b"2"), ("b", b"3"), ("a", b"4"), ("b", b"5")):
            publisher.put(Outgoing(topic, payload, retain=True))
            for _ in range(3):
                await asyncio.sleep(0)
        assert bus.published == [("b", b"3"), ("b", b"5")]
        stuck.set()
        for _ in range(5):
            await asyncio.sleep(0)
        assert bus.published[2:] == [("a", b"1"), ("a", b"4")]
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(play())


def test_a_publish_that_is_refused_is_given_up_and_counted_by_the_bus_alone():
    async def play():
        bus, measures = Bus(), RecordedMeasures()
        bus.lost, publish = False, bus.publish

        async def refusing(topic, payload, **_):
            if topic == "secret":
                raise PublishRefused("not authorized.", "")
            await publish(topic, payload)

        bus.publish = refusing
        publisher = Publisher(bus, VirtualClock(), measures)
        for topic in ("secret", "open"):
            publisher.put(Outgoing(topic, b"1", retain=True))
        await publisher.drain()
        return bus.published, measures.value("beforehand_publish_refused_total")

    assert asyncio.run(play()) == ([("open", b"1")], 0)


def test_after_a_reconnection_a_packet_stands_for_the_time_it_had_left_and_none_that_has_expired():
    async def play():
        bus, clock, again = Bus(), VirtualClock(), asyncio.Event()
        bus.lost = False

        async def publish(topic, payload, *, expiry_s, **_):
            bus.published.append((topic, expiry_s))

        async def reconnected(seen):
            await (again if seen == 1 else asyncio.Event()).wait()

        bus.publish, bus.reconnected = publish, reconnected
        publisher = Publisher(bus, clock, RecordedMeasures())
        running = asyncio.create_task(publisher.run())
        for topic in ("old", "new"):
            publisher.put(Outgoing(topic, b"1", retain=True, expiry_s=10.0))
            await clock.advance(6)
        bus.published.clear()
        bus.connections = 2
        again.set()
        await clock.advance(0)
        running.cancel()
        await asyncio.wait([running])
        assert bus.published == [("new", 4.0)]

    asyncio.run(play())
