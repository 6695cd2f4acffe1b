"""Ten thousand random and mutated messages go through the whole pipeline, and the next good run gets its packet."""

from __future__ import annotations

from random import Random

import pytest

from beforehand.messages import topics
from beforehand.messages.topics import Scope
from simulation import mutations
from stage import staged

SEEDS = range(5)
MESSAGES = 2_000


@pytest.mark.parametrize("seed", SEEDS)
def test_no_message_stops_the_daemon(seed):
    random = Random(seed)

    async def play(stage):
        for _ in range(MESSAGES):
            topic, payload = mutations.arrival(random)
            asked = random.choice([None, None, None, "", f"{topics.ROOT}/shop/anna/mine", "elsewhere"])
            await stage.raw(topic, payload, retained=random.random() < 0.1, response_topic=asked, correlation=b"c")
            stage.heard.clear()
        accepted = sum(
            stage.measures.value("beforehand_messages_total", channel=channel) for channel in mutations.CHANNELS
        )
        refused = len(await stage.replay.journal.dead_letters(MESSAGES))
        assert accepted > MESSAGES / 10
        assert refused > MESSAGES / 10
        await _still_serves(stage, Scope("shop", "anna", "good"))
        await _still_serves(stage, Scope("good", "good", "good"))
        stage.replay.pipeline.memories._hot.clear()
        await _still_serves(stage, Scope("shop", "anna", "after a restart"))
        for part in ("memory", "foresight", "publisher", "packet records", "dead letters"):
            assert stage.measures.value("beforehand_failures_total", part=part) == 0

    staged(play, embedder={"kind": "none"})


async def _still_serves(stage, scope):
    step = {"id": "pay", "tool": "pay_order", "goal": "pay for the order", "needs": ["order_id"]}
    await stage.plan(step, goal="pay", scope=scope)
    await stage.event('{"order_id": "W5551212"}', kind="observation", tool="get_order", role="tool", scope=scope)
    assert "W5551212" in stage.packets[scope, "pay"].rendered
    assert (await stage.begin("pay", scope=scope)).final
