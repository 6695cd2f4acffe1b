"""Packets come when the contract says: on plan, on change, on begin, and they go on end."""

from __future__ import annotations

from beforehand.messages.topics import Scope
from stage import RUN, staged

TWO = (
    {"id": "s1", "tool": "get_order", "goal": "get order", "needs": ["order_id"]},
    {"id": "s2", "tool": "refund_order", "goal": "refund order", "needs": ["order_id", "card"]},
)


def test_a_plan_brings_a_packet_for_each_step_within_the_horizon():
    async def play(stage):
        await stage.plan(*TWO, {"id": "s3", "goal": "say goodbye"})
        assert sorted(step for _, step in stage.packets) == ["s1", "s2"]
        assert all(not packet.final and packet.version == 1 for packet in stage.packets.values())

    staged(play)


def test_a_new_event_brings_a_new_version_only_where_it_changes_the_content():
    async def play(stage):
        await stage.plan(*TWO)
        await stage.event('{"order_id": "W77"}', kind="observation", tool="find", role="tool")
        assert stage.packets[RUN, "s1"].version == 2
        assert "W77" in stage.packets[RUN, "s1"].rendered
        heard = await stage.event("ok", role="user")
        assert [one for one in heard if one.packet] == []

    staged(play)


def test_the_final_packet_has_a_watermark_at_or_past_the_begin_message():
    async def play(stage):
        await stage.plan(*TWO)
        await stage.event("W77", role="user", id="e1")
        packet = await stage.begin("s1")
        assert packet.final
        assert packet.watermark.position >= 3
        assert packet.watermark.event == "e1"
        assert packet.plan_revision == 0

    staged(play)


def test_a_step_that_ended_leaves_nothing_on_its_topic():
    async def play(stage):
        await stage.plan(*TWO)
        await stage.begin("s1")
        await stage.say("step", step="s1", phase="end", ok=True)
        assert stage.cleared == ["beforehand/v1/shop/anna/r1/packet/s1"]

    staged(play)


def test_a_later_plan_clears_the_packets_of_steps_that_it_drops():
    async def play(stage):
        await stage.plan(*TWO, revision=1)
        await stage.plan({"id": "s9", "goal": "something else"}, revision=2)
        assert [topic.rpartition("/")[2] for topic in stage.cleared] == ["s1", "s2"]
        assert stage.packets[RUN, "s9"].plan_revision == 2
        await stage.plan(*TWO, revision=1)
        assert stage.packets[RUN, "s9"].plan_revision == 2

    staged(play)


def test_a_step_that_no_plan_announced_gets_its_packet_at_once():
    async def play(stage):
        await stage.event('{"order_id": "W77"}', kind="observation", tool="find", role="tool")
        packet = await stage.begin("x", goal="refund", tool="refund_order", needs=["order_id"])
        assert packet.final
        assert packet.plan_revision is None
        assert "W77" in packet.rendered

    staged(play)


def test_a_plan_that_comes_behind_its_step_brings_the_packet_again_and_calls_it_late():
    async def play(stage):
        await stage.begin("s1")
        await stage.event('{"order_id": "W77"}', kind="observation", tool="find", role="tool")
        await stage.plan(*TWO)
        packet = stage.packets[RUN, "s1"]
        assert packet.final
        assert packet.status == "late" or "had begun" in packet.reason
        assert "W77" in packet.rendered

    staged(play)


def test_r6_an_old_retained_plan_fires_nothing_until_its_run_lives_again():
    async def play(stage):
        plan = b'{"goal": "g", "steps": [{"id": "s1", "goal": "get order"}]}'
        heard = await stage.raw("beforehand/v1/shop/anna/r1/plan", plan, retained=True)
        assert heard == []
        await stage.raw("beforehand/v1/shop/anna/r1/plan", plan, retained=True)
        assert stage.packets == {}
        await stage.event("hello there, are you back", role="user")
        assert (RUN, "s1") in stage.packets

    staged(play)


def test_d3_a_message_that_comes_twice_is_taken_once():
    async def play(stage):
        for _ in range(3):
            await stage.event("pay with card_9", role="user", id="e1", receipt=True)
        reply = await stage.recall("card_9", mode="exact")
        assert reply["searched"] == 1
        rows = [row async for page in stage.replay.journal.read() for row in page]
        assert sum(row.entry.channel == "event" for row in rows) == 1

    staged(play)


def test_two_plain_messages_with_the_same_words_are_two():
    async def play(stage):
        for _ in range(2):
            await stage.event("yes please do that", role="user")
        assert (await stage.recall("yes please"))["searched"] == 2

    staged(play)


def test_d1_trivial_events_are_kept_and_take_no_place():
    async def play(stage):
        await stage.event('{"order_id": "W77"}', kind="observation", tool="find", role="tool")
        for number in range(200):
            await stage.event(("ok", "heartbeat", "", "...")[number % 4], role="agent")
        packet = await stage.begin("s1", goal="refund", tool="refund_order", needs=["order_id"])
        assert [item.text for item in packet.items if "W77" not in item.text] == []
        memory = await stage.replay.pipeline.memories.of(RUN)
        assert len(memory.events) == 201
        assert len(memory.words) == 1

    staged(play)


def test_t5_the_last_five_are_those_of_the_run_order_whatever_their_times_and_ids():
    async def play(stage):
        for number in range(100):
            await stage.event(
                f"note number {number}",
                id=f"{(number * 37) % 100:02d}",
                at=f"2026-03-01T00:{(number * 7) % 60:02d}:00Z",
            )
        reply = await stage.recall("", window={"last": 5}, k=5)
        assert sorted(item["text"] for item in reply["items"]) == [f"note number {number}" for number in range(95, 100)]

    staged(play)


def test_t5_late_messages_of_an_agent_that_counts_stand_where_they_were_said():
    async def play(stage):
        for seq in (1, 2, 5, 3, 4):
            await stage.event(f"note number {seq}", seq=seq, epoch="e")
        reply = await stage.recall("", window={"last": 2}, k=2)
        assert sorted(item["text"] for item in reply["items"]) == ["note number 4", "note number 5"]

    staged(play)


def test_e3_what_one_tenant_said_is_never_told_to_another():
    async def play(stage):
        other = Scope("bank", "anna", "r1")
        await stage.event("the vault code is Z9911", role="user")
        await stage.event("the garden is green today", scope=other, role="user")
        for mode in ("auto", "exact", "semantic", "tree", "timeline", "facts"):
            reply = await stage.recall("vault code Z9911", scope=other, mode=mode)
            assert "Z9911" not in str(reply["items"])
        packet = await stage.begin("s1", scope=other, goal="open the vault with code Z9911", needs=["code"])
        assert "vault code is" not in packet.rendered

    staged(play)


def test_a_refused_message_gets_its_receipt_and_is_set_aside():
    async def play(stage):
        await stage.say("event", kind="mesage", id="bad1")
        [receipt] = stage.receipts()
        assert receipt["accepted"] is False
        assert receipt["id"] == "bad1"
        assert receipt["error"] == "kind"
        assert "message" in receipt["hint"]
        [letter] = await stage.replay.journal.dead_letters()
        assert letter.field == "kind"

    staged(play)


def test_an_answer_goes_only_below_the_agents_own_topics():
    async def play(stage):
        question = b'{"query": "x"}'
        topic = "beforehand/v1/shop/anna/r1/recall"
        heard = await stage.raw(topic, question, response_topic="beforehand/v1/bank/bob/r1/inbox")
        assert [one.topic for one in heard] == ["beforehand/v1/shop/anna/r1/receipt"]
        heard = await stage.raw(topic, question, response_topic="beforehand/v1/shop/anna/mine", correlation=b"7")
        assert [one.topic for one in heard] == ["beforehand/v1/shop/anna/mine"]

    staged(play)


def test_a_decision_that_fails_is_an_error_packet_and_the_next_step_is_served(monkeypatch):
    async def play(stage):
        foresight = stage.replay.pipeline.foresight
        right = foresight.foresee

        def broken(memory, session, step, *rest):
            if step.id == "bad":
                raise RuntimeError("no such thing")
            return right(memory, session, step, *rest)

        monkeypatch.setattr(foresight, "foresee", broken)
        packet = await stage.begin("bad", goal="refund")
        assert packet.status == "error"
        assert "failed" in packet.reason
        assert stage.measures.value("beforehand_failures_total", part="foresight") == 1
        assert (await stage.begin("good", goal="refund")).status == "silent"

    staged(play)


def test_an_id_used_again_for_another_step_begins_nothing_and_stops_nothing():
    async def play(stage):
        await stage.begin("s1", goal="go", id="same")
        assert await stage.say("step", step="s2", phase="begin", goal="go", id="same") == []
        assert (await stage.begin("s2", goal="go", id="other")).final

    staged(play)


def test_a_replay_does_not_wait_for_numbers_that_never_come():
    async def play(stage):
        assert (await stage.begin("s1", goal="go", epoch="e", seq=7)).final

    staged(play)


def test_feedback_is_counted_by_verdict_and_once():
    async def play(stage):
        said = {"id": "f1", "packet": "p1", "used": ["m1", "m2"], "harmful": ["m3"], "missing": "the card"}
        for _ in range(2):
            await stage.say("feedback", **said)
        await stage.say("feedback", outcome="success")
        counted = {
            verdict: stage.measures.value("beforehand_feedback_total", verdict=verdict)
            for verdict in ("used", "harmful", "missing")
        }
        assert counted == {"used": 2, "harmful": 1, "missing": 1}

    staged(play)
