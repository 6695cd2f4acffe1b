"""Cases F3, F4 and T6: what conflicts and what does not, who is believed, and when a fact that comes late held."""

from __future__ import annotations

from beforehand.messages.values import rfc3339
from stage import staged

BUDGET = {"subject": "user", "attribute": "budget"}
DAY_US = 86_400_000_000


async def answers(stage, query, **fields):
    reply = await stage.recall(query, mode="facts", **fields)
    return [item for item in reply["items"] if item["kind"] == "fact"]


def day(stage, number):
    """Midnight of a day, counted from one that lies a month back."""
    return rfc3339((stage.replay.clock.now_us() // DAY_US - 40 + number) * DAY_US)


def test_f3_different_attributes_never_conflict():
    async def play(stage):
        works = {"subject": "A", "attribute": "works at", "value": "X"}
        runs = {"subject": "A", "attribute": "administers", "value": "Y"}
        await stage.event("A works at X", role="user", facts=[works])
        await stage.event("A administers Y", role="user", facts=[runs])
        found = await answers(stage, "what does A do, where does A work")
        assert {item["text"] for item in found} == {"A works at: X", "A administers: Y"}
        assert all(item["conflicts_with"] == [] for item in found)

    staged(play)


def test_f3_the_same_attribute_in_another_space_is_another_matter():
    async def play(stage):
        for space, value in (("trip to Rome", "aisle"), ("trip to Oslo", "window")):
            seat = {"subject": "user", "attribute": "seat", "value": value}
            await stage.event(f"a {value} seat", role="user", space=space, facts=[seat])
        found = await answers(stage, "which seat does the user want")
        assert {item["text"] for item in found} == {"user seat: aisle", "user seat: window"}

    staged(play)


def test_f4_of_a_user_and_a_tool_the_user_is_believed_and_both_are_said():
    async def play(stage):
        await stage.event("The budget is 8000.", role="user", id="said", facts=[{**BUDGET, "value": 8000}])
        await stage.event(
            "the budget is 9000",
            kind="observation",
            tool="quote",
            role="tool",
            id="seen",
            facts=[{**BUDGET, "value": 9000}],
        )
        [found] = await answers(stage, "what is the budget of the user")
        assert found["text"].startswith("user budget: 8000 at ")
        assert "but 2 quote said 9000 at " in found["text"]
        assert found["conflicts_with"] == ["seen"]
        packet = await stage.begin("s1", goal="book within the budget", tool="book", needs=["budget"])
        [item] = [item for item in packet.items if "8000" in item.text]
        assert item.kind == "fact"
        assert "but 2 quote said 9000" in item.text
        assert len(item.conflicts_with) == 1
        assert packet.rendered.count("9000") == 1

    staged(play)


def test_f4_whichever_comes_first_a_tool_or_the_user():
    async def play(stage):
        await stage.event("the budget is 9000", role="tool", facts=[{**BUDGET, "value": 9000}])
        await stage.event("the budget is 8000", role="user", facts=[{**BUDGET, "value": 8000}])
        [found] = await answers(stage, "budget of the user")
        assert found["text"] == "user budget: 8000 (changed once)"
        assert found["conflicts_with"] == []

    staged(play)


def test_f4_what_its_own_sender_doubts_replaces_nothing_and_is_said_beside_it():
    async def play(stage):
        await stage.event("my budget is 8000", role="user", facts=[{**BUDGET, "value": 8000}])
        doubted = {**BUDGET, "value": 7000, "confidence": 0.3}
        await stage.event("maybe my budget is 7000", role="user", facts=[doubted])
        [found] = await answers(stage, "budget of the user")
        assert "8000" in found["text"]
        assert "user said 7000" in found["text"]

    staged(play)


def test_t6_an_older_fact_that_comes_late_is_closed_by_the_newer_one():
    async def play(stage):
        code = {"subject": "door", "attribute": "code"}
        newer = {**code, "value": "new", "valid_from": day(stage, 20)}
        older = {**code, "value": "old", "valid_from": day(stage, 10)}
        await stage.event("the door code is new", role="user", facts=[newer])
        await stage.event("the door code is old", role="user", facts=[older])
        for number, expected in ((40, "new"), (20, "new"), (15, "old"), (10, "old")):
            found = await answers(stage, "code of the door", as_of=day(stage, number))
            assert [item["text"] for item in found] == [f"door code: {expected}"]
        assert await answers(stage, "code of the door", as_of=day(stage, 9)) == []

    staged(play)


def test_what_was_known_at_a_time_is_answered_without_what_came_later():
    async def play(stage):
        code = {"subject": "door", "attribute": "code"}
        await stage.event(
            "the door code is 11", role="user", facts=[{**code, "value": "11", "valid_from": day(stage, 0)}]
        )
        known_at = rfc3339(stage.replay.clock.now_us())
        await stage.event(
            "it was 22 all the time", role="user", facts=[{**code, "value": "22", "valid_from": day(stage, 0)}]
        )
        [then] = await answers(stage, "code of the door", known_at=known_at)
        [now] = await answers(stage, "code of the door")
        assert then["text"] == "door code: 11"
        assert now["text"] == "door code: 22 (changed once)"
        everything = await stage.recall("door code", known_at=known_at)
        assert not any("22" in item["text"] for item in everything["items"])

    staged(play)


def test_what_is_withdrawn_stands_no_longer_and_what_is_claimed_after_it_does():
    async def play(stage):
        code = {"subject": "door", "attribute": "code"}
        await stage.event("the door code is 11", role="user", facts=[{**code, "value": "11"}])
        await stage.event("forget the code", role="user", facts=[{**code, "value": None, "withdrawn": True}])
        assert await answers(stage, "code of the door") == []
        packet = await stage.begin("s1", goal="open the door", tool="open", needs=["code"])
        assert "11" not in packet.rendered
        await stage.event("the door code is 33", role="tool", facts=[{**code, "value": "33"}])
        [found] = await answers(stage, "code of the door")
        assert "33" in found["text"]

    staged(play)


def test_a_withdrawal_that_names_a_value_takes_back_no_other():
    async def play(stage):
        code = {"subject": "door", "attribute": "code"}
        await stage.event("the door code is 11", role="user", facts=[{**code, "value": "11"}])
        await stage.event("not 22 any more", role="user", facts=[{**code, "value": "22", "withdrawn": True}])
        assert [item["text"] for item in await answers(stage, "code of the door")] == ["door code: 11"]
        await stage.event("not 11 any more", role="user", facts=[{**code, "value": "11", "withdrawn": True}])
        assert await answers(stage, "code of the door") == []

    staged(play)


def test_a_packet_says_how_often_a_fact_changed_and_when_it_was_confirmed():
    async def play(stage):
        for value in ("Python", "Go", "Rust", "Rust"):
            fact = {"subject": "user", "attribute": "language", "value": value}
            await stage.event(f"my language is {value}", role="user", facts=[fact])
        packet = await stage.begin("s1", goal="write in the language of the user", tool="write", needs=["language"])
        assert "my language is Rust (changed twice, confirmed today)" in packet.rendered
        assert "Python" not in packet.rendered
        [item] = [item for item in packet.items if item.kind == "fact"]
        assert item.valid[1] is None
        assert item.why[-1].trigger == "fact"
        assert item.why[-1].name == "user/language"

    staged(play)


def test_of_two_claims_of_one_instant_the_one_sent_last_stands_whichever_came_first():
    async def play(stage):
        at = "1970-01-01T00:00:00Z"
        for seq, city in ((2, "Beijing"), (1, "Shanghai")):
            claim = [{"subject": "anna", "attribute": "city", "value": city}]
            await stage.event(f"anna lives in {city}", role="user", facts=claim, at=at, epoch="e", seq=seq)
        rendered = (await stage.begin("s1", goal="where does anna live", needs=["city"])).rendered
        assert "Beijing" in rendered
        assert "Shanghai" not in rendered

    staged(play)


def test_a_claim_that_was_sent_before_its_withdrawal_at_one_instant_is_taken_back_whichever_came_first():
    async def play(stage):
        at = "1970-01-01T00:00:00Z"
        for seq, claim in ((2, {"value": None, "withdrawn": True}), (1, {"value": "Shanghai"})):
            facts = [{"subject": "anna", "attribute": "city", **claim}]
            await stage.event("a word of her city", role="user", facts=facts, at=at, epoch="e", seq=seq)
        reply = await stage.recall("city", mode="facts")
        assert [item["text"] for item in reply["items"]] == []

    staged(play)
