"""A memory that is begun with what was cold before is the memory that the journal alone gives."""

from __future__ import annotations

import asyncio
import random
from functools import cache
from itertools import pairwise

import pytest

from beforehand.backends.embedders import embedder_for
from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.memory.journal import MemoryJournal
from beforehand.backends.segments import SegmentFolder
from beforehand.index.semantic import SemanticWindows
from beforehand.memory.differences import differences
from beforehand.memory.trees import Growth
from beforehand.memory.weights import Weights
from beforehand.pipeline import loading
from beforehand.pipeline.memories import Bounds, Memories
from recorded import recorded
from stage import RUN, staged

MOST = 16
GROWTH = Growth(Weights(), 64)
PORT = {"subject": "the port", "attribute": "number"}


@cache
def life():
    """What a journal holds of a recorded run: its plan and steps, facts that change, late counts, ratings."""
    told = []

    async def play(stage):
        runs = recorded("tau_retail")[:2]
        await stage.say("plan", **runs[0].plan(None).message)
        said = [one for run in runs for one in run.messages(None)]
        for number, one in enumerate(said):
            await stage.say(one.channel, **{**one.message, "id": f"m{number}"})
            if number % 5 == 0:
                seq = (number * 7) % 45 + 1
                note = {"kind": "note", "role": "user", "text": f"port {seq}", "epoch": "b", "seq": seq, "tags": ["t"]}
                await stage.say("event", **note, facts=[{**PORT, "value": seq}])
            if number % 7 == 0 and stage.packets:
                packet = list(stage.packets.values())[-1]
                await stage.say("feedback", packet=packet.id, used=[item.id for item in packet.items[:1]])
        await stage.say("feedback", outcome="success")
        journal = stage.replay.pipeline.memories.keeping.loading.journal
        await stage.replay.pipeline.record()
        told.append([row.entry async for page in journal.read(tenant=RUN.tenant) for row in page])
        told.append(await journal.packets(RUN))

    staged(play, embedder={"kind": "hashing"})
    return told


async def lived(folder, cuts):
    """A memory trimmed after each cut, each time by another process, and the one that the journal alone gives."""
    entries, packets = life()
    journal, kept = MemoryJournal(), SegmentFolder(folder, RecordedMeasures(), 10**9)
    bounds = Bounds(agent_events=MOST)
    async with journal.open():
        await journal.record(packets)
        for start, stop in pairwise([0, *cuts, len(entries)]):
            memories = Memories(journal, embedder_for("hashing"), SemanticWindows, RecordedMeasures(), bounds, kept)
            loading = memories.keeping.loading
            await journal.append(entries[start:stop])
            trimmed, _ = await loading.trimmed(RUN.tenant, RUN.agent)
        whole, _ = await loading.anew(RUN.tenant, RUN.agent)
    return trimmed, whole


@pytest.mark.parametrize("seed", range(6))
def test_what_is_trimmed_bit_by_bit_is_the_same_as_what_is_folded_at_once(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(loading, "_COLD_AT_ONCE", 8 if seed % 2 else 10_000)
    chance = random.Random(seed)
    cuts = sorted(chance.sample(range(len(life()[0]) // 3, len(life()[0])), 3))
    trimmed, whole = asyncio.run(lived(tmp_path, cuts))
    assert trimmed.cold == whole.cold > MOST
    assert trimmed.useful.ratings > 2
    assert differences(trimmed, whole, GROWTH) == []
