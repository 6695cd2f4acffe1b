"""Questions about how much: a stretch of a run is counted and summed up, whatever its words are."""

from __future__ import annotations

import pytest

from stage import staged


async def tell(stage):
    """Ten calls in steps of their own, one a minute: the third and the eighth fail, the sixth matters most."""
    for number in range(1, 11):
        await stage.event(
            f"call {number}",
            kind="action" if number % 2 else "observation",
            tool="search" if number < 8 else "pay",
            ok=number not in (3, 8),
            step=str(number),
            importance=0.9 if number == 6 else 0.3,
            at=f"2026-03-01T09:{number:02}:00Z",
            id=f"e{number}",
        )


def asked(question, check):
    async def play(stage):
        await tell(stage)
        check(await stage.recall(question.pop("query", ""), mode="aggregate", **question))

    staged(play)


def test_a_run_is_summed_up_and_its_failures_and_what_mattered_follow():
    def check(reply):
        assert reply["status"] == "ready"
        whole, *events = reply["items"]
        assert (whole["kind"], whole["channel"], whole["event_ids"]) == ("summary", "aggregate", ["e1", "e10"])
        assert whole["text"] == (
            "10 events from 2026-03-01 09:01:00 to 2026-03-01 09:10:00 UTC; 5 actions, "
            "2 failures (first e3 and last e8); tools: search 7, pay 3; importance 0.36 on average, at most 0.90"
        )
        assert [item["event_ids"] for item in events] == [["e3"], ["e8"], ["e6"]]
        assert "2 failures" in reply["rendered"]

    asked({}, check)


@pytest.mark.parametrize(
    ("question", "begins", "others"),
    [
        ({"window": {"from": "4", "to": "9"}}, "6 events from 2026-03-01 09:04:00", ["e8", "e6"]),
        ({"window": {"after": "e3"}}, "7 events", ["e8", "e6"]),
        ({"query": "how much failed in step 3?"}, "1 event from", ["e3"]),
        ({"tools": ["pay"]}, "3 events from 2026-03-01 09:08:00", ["e8"]),
        ({"kinds": ["action"]}, "5 events from 2026-03-01 09:01:00", ["e3"]),
        ({"tools": ["pay"], "k": 1}, "3 events", []),
        ({"window": {"from": "9"}}, "2 events from 2026-03-01 09:09:00", []),
    ],
)
def test_a_stretch_and_a_filter_narrow_the_sum(question, begins, others):
    def check(reply):
        whole, *events = reply["items"]
        assert whole["text"].startswith(begins)
        assert [item["event_ids"][0] for item in events] == others

    asked(question, check)


def test_a_stretch_without_events_is_empty():
    def check(reply):
        assert (reply["status"], reply["items"]) == ("empty", [])

    asked({"tools": ["unheard"]}, check)


def test_an_event_that_no_longer_holds_counts_and_is_not_quoted():
    async def play(stage):
        await stage.event(
            "the port is 22",
            ok=False,
            id="old",
            facts=[{"subject": "server", "attribute": "port", "value": 22}],
        )
        await stage.event("moved", facts=[{"subject": "server", "attribute": "port", "value": 49222}])
        reply = await stage.recall("", mode="aggregate")
        assert "1 failure (first old)" in reply["items"][0]["text"]
        assert all("22" not in item["text"].replace("49222", "") for item in reply["items"][1:])

    staged(play)
