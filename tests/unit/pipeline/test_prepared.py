"""A step that begins while nothing has changed since it was prepared is not decided a second time."""

from __future__ import annotations

import pytest

from beforehand import limits
from beforehand.messages.topics import Scope
from beforehand.messages.values import rfc3339
from beforehand.pipeline.foresight import Foresight
from stage import RUN, staged

STEP = {"id": "s1", "goal": "refund", "tool": "refund_order", "needs": ["order_id"]}


@pytest.fixture
def decided(monkeypatch):
    """Step ids in the order in which decisions were made."""
    made, right = [], Foresight.foresee

    def counted(self, memory, session, step, *rest):
        made.append(step.id)
        return right(self, memory, session, step, *rest)

    monkeypatch.setattr(Foresight, "foresee", counted)
    return made


async def prepare(stage):
    await stage.event(kind="observation", tool="find", data={"order_id": "W77"}, role="tool")
    await stage.plan(STEP)
    return stage.packets[RUN, "s1"]


def test_the_final_packet_says_what_was_prepared_and_is_decided_once(decided):
    async def play(stage):
        before = await prepare(stage)
        final = await stage.begin("s1")
        assert decided == ["s1"]
        assert final.final
        assert final.rendered == before.rendered != ""
        assert final.watermark.position > before.watermark.position
        assert (await stage.replay.journal.packet(final.id)).decision["considered"]["passage"]

    staged(play)


@pytest.mark.parametrize("change", ["event", "announcement", "fact ends", "time", "nothing"])
def test_whatever_changed_meanwhile_is_taken_into_account(decided, change):
    async def play(stage):
        fact = {"subject": "a", "attribute": "b", "value": "c"}
        if change == "fact ends":
            fact["valid_to"] = rfc3339(stage.replay.clock.now_us() + 3_500_000)
        await stage.event("an order is W1", role="user", facts=[fact])
        await prepare(stage)
        if change == "time":
            await stage.replay.clock.advance(limits.PREPARED_HOLDS_S)
        if change == "event":
            await stage.event(kind="observation", tool="find", data={"order_id": "W78"}, role="tool")
        decided.clear()
        final = await stage.begin("s1", **({"needs": ["card"]} if change == "announcement" else {}))
        assert decided == ([] if change in {"event", "nothing"} else ["s1"])
        assert change != "event" or "W78" in final.rendered

    staged(play)


def test_a_decision_that_holds_no_longer_is_let_go_with_the_memory_that_it_was_made_from():
    async def play(stage):
        await prepare(stage)
        prepared = stage.replay.pipeline.prepared
        assert [scope for scope, _ in prepared._kept] == [RUN]
        await stage.replay.clock.advance(limits.PREPARED_HOLDS_S)
        other = Scope(RUN.tenant, "ben", "r1")
        await stage.plan(STEP, scope=other)
        assert [scope for scope, _ in prepared._kept] == [other]

    staged(play)
