"""The records of packets: nothing on a step's way waits for them, and none is lost on the way to the disk."""

from __future__ import annotations

import asyncio

import orjson

from beforehand import assembly, limits
from beforehand.backends.measures import RecordedMeasures
from beforehand.errors import Unstorable
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.ports import Arrival
from beforehand.settings import Settings

RUN = Scope("shop", "anna", "r1")


class Desk:
    """A pipeline that answers steps without storing anything; `disk` lets commits through while it is set."""

    def __init__(self, kind):
        self.measures = RecordedMeasures()
        self.replay = assembly.replay(Settings.model_validate({"embedder": {"kind": kind}}), self.measures)
        self.packets, self.journal = self.replay.pipeline.packets, self.replay.journal
        self.disk = asyncio.Event()
        self.disk.set()
        self.journal._before_commit = self.disk.wait

    async def begin(self, step):
        """The version of the packet that answers it."""
        message = {"step": step, "phase": "begin", "goal": "go on"}
        entries, _ = self.replay.door.read([Arrival(topics.of_run(RUN, "step"), orjson.dumps(message))])
        await self.replay.pipeline.respond(await self.replay.pipeline.take(entries))
        return self.packets.book(RUN).newest[step].version

    async def recorded(self):
        return sorted(record.packet.step for record in await self.journal.packets(RUN))


def playing(play, kind="none"):
    async def run():
        desk = Desk(kind)
        async with asyncio.timeout(30), desk.replay.open():
            await play(desk)
            desk.disk.set()

    asyncio.run(run())


def test_a_book_is_opened_from_disk_and_from_what_is_not_there_yet():
    async def play(desk):
        await desk.begin("s1")
        await desk.packets.record()
        await desk.begin("s2")
        desk.disk.clear()
        recording = asyncio.create_task(desk.packets.record())
        await asyncio.sleep(0)
        await desk.begin("s3")
        desk.packets._books.clear()
        assert await desk.begin("s2") == 2
        assert desk.packets.book(RUN).versions == {"s1": 1, "s2": 2, "s3": 1}
        assert desk.packets.book(RUN).finals == 4
        desk.disk.set()
        await recording
        await desk.packets.record()
        assert await desk.recorded() == ["s1", "s2", "s2", "s3"]

    playing(play)


def test_a_cancelled_recording_loses_no_record_and_stores_none_twice():
    async def play(desk):
        await desk.begin("s1")
        await desk.begin("s2")
        desk.disk.clear()
        recording = asyncio.create_task(desk.packets.record())
        await asyncio.sleep(0)
        recording.cancel()
        await asyncio.wait([recording])
        desk.disk.set()
        await desk.packets.record()
        assert await desk.recorded() == ["s1", "s2"]
        assert desk.packets.records.waiting == {}

    playing(play)


def test_a_record_that_can_never_be_stored_does_not_hold_up_the_others():
    async def play(desk):
        for step in ("s1", "s2", "s3"):
            await desk.begin(step)
        record = desk.journal.record

        async def fussy(records):
            bad = tuple(index for index, one in enumerate(records) if one.packet.step == "s2")
            if bad:
                raise Unstorable("cannot store it.", "", entries=bad)
            await record(records)

        desk.journal.record = fussy
        await desk.packets.record()
        assert await desk.recorded() == ["s1", "s3"]
        assert desk.measures.value("beforehand_failures_total", part="packet records") == 1

    playing(play)


def test_records_that_wait_for_the_disk_are_bounded_and_what_goes_is_counted(monkeypatch):
    monkeypatch.setattr(limits, "UNRECORDED_PACKETS", 3)

    async def play(desk):
        for number in range(5):
            await desk.begin(f"s{number}")
        assert desk.measures.value("beforehand_failures_total", part="packet records") == 2
        await desk.packets.record()
        assert await desk.recorded() == ["s2", "s3", "s4"]

    playing(play)


def test_every_packet_that_was_sent_is_recorded_prepared_ones_too():
    async def play(desk):
        async def say(channel, **message):
            entries, _ = desk.replay.door.read([Arrival(topics.of_run(RUN, channel), orjson.dumps(message))])
            await desk.replay.pipeline.respond(await desk.replay.pipeline.take(entries))
            await desk.replay.pipeline.refresh()

        async def versions():
            return [(one.packet.version, one.packet.final) for one in await desk.journal.packets(RUN)]

        await say("plan", steps=[{"id": "s1", "goal": "look up the order", "needs": ["order_id"]}])
        await say("event", kind="observation", tool="find", data={"order_id": "W1"})
        await say("event", kind="observation", tool="find", data={"order_id": "W2"})
        await desk.packets.record()
        assert await versions() == [(1, False), (2, False), (3, False)]
        await desk.begin("s1")
        desk.packets._books.clear()
        await desk.packets.open(RUN)
        assert desk.packets.book(RUN).versions == {"s1": 4}
        await desk.packets.record()
        assert await versions() == [(1, False), (2, False), (3, False), (4, True)]

    playing(play)


def test_whoever_waits_for_records_does_not_wait_for_packets_that_are_sent_meanwhile():
    async def play(desk):
        steps = iter(f"s{number}" for number in range(1, 50))

        async def another_step():
            if step := next(steps, None):
                await desk.begin(step)

        await desk.begin("s0")
        desk.journal._before_commit = another_step
        await desk.packets.record()
        assert await desk.recorded() == ["s0"]
        assert len(desk.packets.records.waiting) == 1

    playing(play)


def test_nor_does_whoever_waits_for_vectors_wait_for_those_that_come_meanwhile():
    async def play(desk):
        vectors = desk.replay.pipeline.memories.vectors
        positions = iter(range(2, 50))
        keep, stored = desk.journal.keep, []

        async def noted(records):
            stored.extend(record.position for record in records)
            if position := next(positions, None):
                vectors.keep(position, b"later")
            await keep(records)

        desk.journal.keep = noted
        vectors.keep(1, b"first")
        await vectors.store()
        assert stored == [1]
        await vectors.store()
        assert stored == [1, 2]

    playing(play, kind="hashing")
