"""What is true now, what was true then, and what is looked up exactly: a daemon process and a real broker."""

from __future__ import annotations

import asyncio
import random

import pytest

import brokers
from beforehand.client import PlainAgent, connect
from beforehand.settings import BrokerSettings
from processes import up

WITHIN_S = 60.0
DEADLINE = {"deadline_ms": WITHIN_S * 1000}
LOOK_ALIKES = 10_000
ASKED = 40


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("facts")
    (folder / "broker").mkdir()
    with (
        pytest.MonkeyPatch.context() as patch,
        brokers.running("mosquitto", folder / "broker") as running,
    ):
        patch.setenv("BEFOREHAND_POLICY__GAP_WAIT_S", "1")  # a busy machine may be slow to bring what a step needs
        with up(folder, port=running.port):
            yield BrokerSettings(host="127.0.0.1", port=running.port)


def facts_of(reply):
    return [item.text for item in reply.items if item.kind == "fact"]


def test_a_preference_that_changed_from_python_to_rust_is_told_as_it_is_now(broker):
    language = {"subject": "anna", "attribute": "programming language"}
    with PlainAgent(tenant="shop", agent="coder", broker=broker) as agent:
        first = agent.run("monday")
        first.event(
            kind="message", role="user", text="Write my scripts in Python.", facts=[{**language, "value": "Python"}]
        )
        first.event(kind="message", role="agent", text="Noted: Anna's programming language is Python.")
        second = agent.run("friday")
        second.event(kind="message", role="user", text="From now on use Rust.", facts=[{**language, "value": "Rust"}])
        second.plan(
            "a tool", [{"id": "s1", "tool": "write_code", "goal": "write a script in Anna's programming language"}]
        )
        told = second.before_step("s1", **DEADLINE)
        assert "Rust" in told.text
        assert "Python" not in told.text
        reply = second.recall("which programming language does Anna want, Python or Rust?", **DEADLINE)
        assert "anna programming language: Rust (changed once)" in facts_of(reply)
        assert not any("Python" in item.text for item in reply.items)


def test_a_preference_that_is_only_said_changes_in_the_same_way(broker):
    with PlainAgent(tenant="shop", agent="speaker", broker=broker) as agent:
        run = agent.run("monday")
        run.event(kind="message", role="user", text="I prefer Python for everything.", subject_ids=["anna"])
        later = agent.run("friday")
        later.event(kind="message", role="user", text="I switched from Python to Rust.", subject_ids=["anna"])
        later.plan(
            "a tool", [{"id": "s1", "tool": "write_code", "goal": "write in the preferred programming language"}]
        )
        told = later.before_step("s1", **DEADLINE)
        assert "I switched from Python to Rust. (changed once)" in told.text
        assert "I prefer Python" not in told.text
        reply = later.recall("preferred programming language of anna", mode="facts", **DEADLINE)
        assert facts_of(reply) == ["anna preferred programming language: Rust (changed once)"]


def test_where_somebody_lives_and_lived_is_told_by_valid_time_and_not_by_when_it_was_said(broker):
    """She moved in March 2025. It was said in April that she lives in Beijing, and only in May that it was Shanghai."""
    city = {"subject": "李雷", "attribute": "城市"}
    beijing = {**city, "value": "北京", "valid_from": "2025-03-01T00:00:00Z"}
    shanghai = {**city, "value": "上海", "valid_from": "2021-06-01T00:00:00Z"}
    with PlainAgent(tenant="shop", agent="mover", broker=broker) as agent:
        run = agent.run("r1")
        run.event(kind="message", role="user", text="我现在住在北京", at="2025-04-02T08:00:00Z", facts=[beijing])
        run.event(kind="message", role="user", text="以前住在上海", at="2025-05-06T08:00:00Z", facts=[shanghai])
        assert agent.confirmed(WITHIN_S)
        query = "李雷住在哪个城市?"
        now = run.recall(query, **DEADLINE)
        assert facts_of(now) == ["李雷 城市: 北京"]
        assert not any("上海" in item.text for item in now.items)
        for words in ("李雷 2023年住在哪个城市", "in which 城市 did 李雷 live in 2023?"):
            assert facts_of(run.recall(words, **DEADLINE)) == ["李雷 城市: 上海"]
        for as_of, expected in (
            ("2025-02-28T23:59:59Z", ["李雷 城市: 上海"]),
            ("2025-03-01T00:00:00Z", ["李雷 城市: 北京"]),
            ("2020-01-01T00:00:00Z", []),
        ):
            assert facts_of(run.recall(query, mode="facts", as_of=as_of, **DEADLINE)) == expected
        item = next(item for item in now.items if item.kind == "fact")
        assert item.valid[0].isoformat() == "2025-03-01T00:00:00+00:00"


def test_order_numbers_and_phones_are_answered_exactly_among_ten_thousand_look_alikes(broker):
    draw = random.Random(5)
    orders = draw.sample(range(10**7, 10**8), LOOK_ALIKES)
    phones = draw.sample(range(10**7, 10**8), LOOK_ALIKES)
    records = [
        {
            "order_id": f"W{order}",
            "phone": f"+86 138 {str(phone)[:4]} {str(phone)[4:]}",
            "status": draw.choice(["paid", "sent", "open"]),
        }
        for order, phone in zip(orders, phones, strict=True)
    ]
    with PlainAgent(tenant="shop", agent="clerk", broker=broker) as agent:
        run = agent.run("r1")
        for start in range(0, LOOK_ALIKES, 100):
            run.event(kind="observation", tool="list_orders", role="tool", data=records[start : start + 100])
        assert agent.confirmed(WITHIN_S)
        for record in draw.sample(records, ASKED):
            for asked in (record["order_id"], record["phone"]):
                reply = run.recall(f"what is known of {asked}?", mode="exact", k=5, **DEADLINE)
                assert reply.items
                assert all(asked in item.text for item in reply.items)
        absent = run.recall("what is known of W00000000?", mode="exact", **DEADLINE)
        assert absent.items == []


def test_f5_of_eight_writers_at_once_one_value_stands_and_every_message_is_kept(broker):
    async def write(number):
        async with connect(tenant="shop", agent="door", broker=broker) as agent, asyncio.timeout(WITHIN_S):
            run = agent.run(f"writer {number}")
            for turn in range(10):
                fact = {"subject": "door", "attribute": "code", "value": f"{number}-{turn}"}
                run.event(kind="message", role="user", text="a new code for the door", facts=[fact])
            await agent.confirmed()

    async def write_all():
        await asyncio.gather(*map(write, range(8)))

    asyncio.run(write_all())
    with PlainAgent(tenant="shop", agent="door", broker=broker) as agent:
        reply = agent.run("reader").recall("code of the door", mode="facts", k=50, **DEADLINE)
        assert len(facts_of(reply)) == 1
        assert reply.searched == 80
