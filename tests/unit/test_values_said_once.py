"""Equal values under different names are different things; an identifier is one thing under any name."""

from __future__ import annotations

from stage import staged


def test_equal_counts_under_three_names_are_all_said():
    async def play(stage):
        counts = {"passengers": 2, "bags": 2, "nights": 2}
        await stage.event(kind="observation", tool="read_form", role="tool", data=counts)
        packet = await stage.begin("s1", goal="book the trip", tool="book_trip", needs=list(counts))
        assert [name for name in counts if f"{name}: 2" not in packet.rendered] == []

    staged(play)


def test_the_same_name_and_value_in_two_events_is_said_once():
    async def play(stage):
        for tool in ("read_form", "read_form_again"):
            await stage.event(kind="observation", tool=tool, role="tool", data={"passengers": 2})
        packet = await stage.begin("s1", goal="book the trip", tool="book_trip", needs=["passengers"])
        assert packet.rendered.count("passengers: 2") == 1

    staged(play)


def test_an_identifier_is_said_once_though_it_stands_under_two_names():
    async def play(stage):
        await stage.event(kind="observation", tool="get", role="tool", data={"order_id": "W7712", "ref": "W7712"})
        packet = await stage.begin("s1", goal="refund", tool="refund_order", needs=["order_id", "ref"])
        assert sum("W7712" in item.text for item in packet.items) == 1

    staged(play)
