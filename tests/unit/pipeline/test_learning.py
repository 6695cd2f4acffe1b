"""Feedback is folded into what memories are worth: live, from the journal, and for no one else."""

from __future__ import annotations

import pytest

from beforehand.backends.measures import RecordedMeasures
from beforehand.backends.segments import SegmentFolder
from beforehand.index.segmentation import words as in_words
from beforehand.messages.topics import Scope
from beforehand.ports import Extent
from beforehand.ports.segments import Segment
from stage import RUN, staged

REFUND = {"goal": "refund", "tool": "refund_order", "needs": ["order_id", "card"]}


async def refund(stage, step="s1", scope=RUN):
    """An order was looked up; a step needs its number and card."""
    if (scope, "order") not in stage.packets:
        stage.packets[scope, "order"] = None
        await stage.event(
            kind="observation", tool="get_order", role="tool", data={"order_id": "W77", "card": "c_9"}, scope=scope
        )
    return await stage.begin(step, scope, **REFUND)


def item_of(packet, text):
    [item] = [item for item in packet.items if item.text.startswith(text)]
    return item.id


async def lift(stage, key, scope=RUN, tool="refund_order"):
    """Of the newest passage with that key."""
    memory = await stage.replay.pipeline.memories.of(scope)
    code = next(code for code, words in enumerate(memory.shelf.keys) if words == frozenset(in_words(key)))
    lifts = memory.useful.lifts(tool, [-1], [code])
    return 1.0 if lifts is None else lifts[0]


def test_what_is_used_rises_and_what_is_shown_in_vain_falls():
    async def play(stage):
        for number in range(12):
            packet = await refund(stage, f"s{number}")
            await stage.say("feedback", packet=packet.id, used=[item_of(packet, "order_id")])
        assert await lift(stage, "order id") > 1
        assert await lift(stage, "card") < 0.7

    staged(play)


def test_an_agent_that_names_only_what_misled_it_says_nothing_of_the_rest():
    async def play(stage):
        packet = await refund(stage)
        await stage.say("feedback", packet=packet.id, harmful=[item_of(packet, "card")])
        assert await lift(stage, "card") < 1
        assert await lift(stage, "order id") == 1

    staged(play)


def test_nothing_used_is_said_with_an_empty_list():
    async def play(stage):
        packet = await refund(stage)
        await stage.say("feedback", packet=packet.id, used=[])
        assert await lift(stage, "card") < 1
        assert await lift(stage, "order id") < 1

    staged(play)


def test_what_was_missing_raises_the_key_that_it_names():
    async def play(stage):
        await stage.event(kind="observation", tool="get_user", role="tool", data={"loyalty_number": "L5"})
        packet = await refund(stage)
        await stage.say("feedback", packet=packet.id, missing="the loyalty number of the customer")
        assert await lift(stage, "loyalty number") > 2

    staged(play)


def test_the_same_feedback_twice_teaches_once():
    async def play(stage):
        packet = await refund(stage)
        for _ in range(3):
            await stage.say("feedback", packet=packet.id, used=[], id="f1")
        memory = await stage.replay.pipeline.memories.of(RUN)
        assert memory.useful.ratings == 1

    staged(play)


def test_feedback_on_the_packet_of_another_agent_or_of_none_teaches_nothing():
    async def play(stage):
        other = Scope("shop", "ben", "r1")
        packet = await refund(stage)
        await refund(stage, scope=other)
        await stage.say("feedback", other, packet=packet.id, used=[])
        await stage.say("feedback", other, packet="p_nobody", used=[])
        await stage.say("feedback", other, outcome="success")
        for scope in (RUN, other):
            assert (await stage.replay.pipeline.memories.of(scope)).useful.ratings == 0

    staged(play)


def test_a_rebuilt_agent_knows_the_same_as_one_that_was_never_forgotten():
    async def play(stage):
        for number in range(6):
            packet = await refund(stage, f"s{number}")
            await stage.say("feedback", packet=packet.id, used=[item_of(packet, "order_id")], missing="the card")
        memories = stage.replay.pipeline.memories
        old = await memories.of(RUN)
        kept = old.useful
        memories._hot.clear()
        stage.replay.pipeline.packets.records.recent.clear()
        new = await memories.of(RUN)
        rebuilt = new.useful
        assert importances(new) == importances(old) == [pytest.approx(1 - 0.5**7)]
        assert rebuilt is not kept
        assert kept.ratings == 6
        for known, same in (
            (kept.passages, rebuilt.passages),
            (kept.slots["refund_order"], rebuilt.slots["refund_order"]),
            (kept.rules, rebuilt.rules),
        ):
            assert dict(known.items()) == dict(same.items()) != {}

    staged(play)


def importances(memory):
    return memory.timeline.columns.importance[: len(memory.timeline)].tolist()


def test_an_event_whose_item_was_used_matters_more_and_one_that_misled_less():
    async def play(stage):
        await stage.event("the weather is fine", id="weather")
        packet = await refund(stage)
        order, card = item_of(packet, "order_id"), item_of(packet, "card")
        memory = await stage.replay.pipeline.memories.of(RUN)
        for said, expected in (
            ({"used": []}, 0.5),
            ({"used": [order]}, 0.75),
            ({"used": [order, card]}, 0.875),
            ({"used": [order], "harmful": [card]}, 0.4375),
        ):
            await stage.say("feedback", packet=packet.id, **said)
            assert importances(memory) == [0.5, expected], said
        whole, *leading = (await stage.recall("", mode="aggregate"))["items"]
        assert "importance 0.47 on average, at most 0.50" in whole["text"]
        assert [item["event_ids"] for item in leading] == [["weather"]]

    staged(play)


def test_what_feedback_has_shown_comes_back_from_a_segment(tmp_path):
    async def play(stage):
        packet = await refund(stage)
        await stage.say("feedback", packet=packet.id, used=[item_of(packet, "order_id")])
        memory = await stage.replay.pipeline.memories.of(RUN)
        folder = SegmentFolder(tmp_path, RecordedMeasures(), 10**9)
        assert folder.save(Segment(memory, 1, Extent(1, 1, "e1")), b"k" * 32, None, lambda: True)
        back = folder.load(RUN.tenant, RUN.agent, b"k" * 32, None).memory.useful
        assert back.lifts("refund_order", [0, 1], [0, 1]).tolist() == (
            memory.useful.lifts("refund_order", [0, 1], [0, 1]).tolist()
        )
        assert back.ratings == 1

    staged(play, embedder={"kind": "none"})


def test_feedback_that_comes_long_after_its_packet_is_read_from_the_journal():
    async def play(stage):
        packet = await refund(stage)
        await stage.say("step", step="s1", phase="end", ok=True)
        stage.replay.pipeline.packets.records.recent.clear()
        await stage.say("feedback", packet=packet.id, used=[])
        assert await lift(stage, "card") < 1

    staged(play)


def probability(packet, text):
    [item] = [item for item in packet.items if item.text.startswith(text)]
    return item.probability


def test_what_was_shown_in_vain_is_found_less_likely_and_what_was_used_more():
    async def play(stage):
        first = await refund(stage, "first")
        for number in range(20):
            packet = await refund(stage, f"s{number}")
            await stage.say("feedback", packet=packet.id, used=[item_of(packet, "order_id")])
        last = await refund(stage, "last")
        assert probability(last, "card") < 0.7 * probability(first, "card")
        assert probability(last, "order_id") >= probability(first, "order_id")

    staged(play)


def test_what_was_missing_is_said_the_next_time_and_explained_by_past_use():
    async def play(stage):
        await stage.event(kind="observation", tool="get_user", role="tool", data={"tier": "gold", "points": 1200})
        ask = {"goal": "greet", "tool": "greet", "needs": ["salutation"]}
        first = await stage.begin("s1", **ask)
        for number in range(3):
            await stage.say("feedback", packet=first.id, missing="the tier", id=f"f{number}")
        last = await stage.begin("s2", **ask)
        await stage.replay.pipeline.record()
        assert not any(item.text.startswith("tier") for item in first.items) or (
            probability(last, "tier") > probability(first, "tier")
        )
        [tier] = [item for item in last.items if item.text.startswith("tier")]
        assert "utility" in {why.trigger for why in tier.why}
        record = await stage.replay.journal.packet(last.id)
        told = record.decision["considered"]
        [place] = [place for place, passage in enumerate(told["passage"]) if passage.startswith("tier")]
        assert told["lift"][place] > 1
        assert told["probability"][place] > told["model"][place]

    staged(play)


def test_feedback_of_one_agent_changes_nothing_for_another():
    async def play(stage):
        other = Scope("shop", "ben", "r1")
        before = await refund(stage, "s0", other)
        for number in range(10):
            packet = await refund(stage, f"s{number}")
            await stage.say("feedback", packet=packet.id, used=[])
        after = await refund(stage, "s1", other)
        assert [item.probability for item in after.items] == [item.probability for item in before.items]

    staged(play)


def test_rating_a_prepared_step_decides_it_anew():
    async def play(stage):
        packet = await refund(stage)
        await stage.plan({"id": "s2", **REFUND})
        prepared = stage.packets[RUN, "s2"]
        await stage.say("feedback", packet=packet.id, harmful=[item_of(packet, "card")])
        final = await stage.begin("s2")
        assert probability(final, "card") < probability(prepared, "card")

    staged(play)
