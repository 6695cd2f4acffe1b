"""What is known of facts makes rules fire: the core pack's own, and one of a user."""

from __future__ import annotations

import pytest

from stage import staged

ADDRESS = {"subject": "ana", "attribute": "address"}
SHIP = {"goal": "ship the order", "tool": "ship_order", "needs": ["address"]}
RULE = "core/doubtful-facts-before-change"


async def said(stage, value, text="for you to know", **fields):
    await stage.event(text, **{"role": "user", "facts": [{**ADDRESS, "value": value}]} | fields)


def warnings(packet):
    return [item.text for item in packet.items if any(why.name == RULE for why in item.why) and item.kind == "warning"]


def test_a_step_is_warned_of_a_fact_that_it_needs_and_that_changed_a_moment_ago():
    async def play(stage):
        await said(stage, "Oak Lane 9")
        assert warnings(await stage.begin("s1", **SHIP)) == []
        await said(stage, "Elm Road 5")
        packet = await stage.begin("s2", **SHIP)
        [warning] = warnings(packet)
        assert warning.startswith("Look again at ana address: ")
        assert "Elm Road 5" in packet.rendered
        assert warnings(await stage.begin("s3", goal="look up the order", tool="get_order", needs=["address"])) == []
        assert warnings(await stage.begin("s4", goal="pay the order", tool="pay_order", needs=["card"])) == []

    staged(play)


def test_and_no_more_when_the_change_is_hours_old_and_again_when_a_season_went_by():
    async def play(stage):
        await said(stage, "Oak Lane 9")
        await said(stage, "Elm Road 5")
        await stage.replay.clock.advance(3_601)
        assert warnings(await stage.begin("s1", **SHIP)) == []
        await stage.replay.clock.advance(91 * 86_400)
        assert len(warnings(await stage.begin("s2", **SHIP))) == 1
        await said(stage, "Elm Road 5")
        assert warnings(await stage.begin("s3", **SHIP)) == []

    staged(play)


def test_a_step_is_warned_of_what_a_tool_contradicts_and_not_of_what_nobody_vouches_for():
    async def play(stage):
        await said(stage, "Oak Lane 9")
        await said(stage, "Elm Road 5", role=None)
        assert warnings(await stage.begin("s1", **SHIP)) == []
        await said(stage, "Elm Road 5", role="tool", tool="crm", kind="observation")
        assert len(warnings(await stage.begin("s2", **SHIP))) == 1

    staged(play)


def test_a_fact_of_another_space_does_not_bear_on_a_step():
    async def play(stage):
        for value in ("Oak Lane 9", "Elm Road 5"):
            await said(stage, value, space="the gift")
        assert warnings(await stage.begin("s1", **SHIP, space="the invoice")) == []
        assert len(warnings(await stage.begin("s2", **SHIP, space="the gift"))) == 1

    staged(play)


@pytest.mark.parametrize(("authority", "fires"), [("user", True), ("tool", False)])
def test_a_pack_of_ones_own_reads_them_too(tmp_path, authority, fires):
    pack = tmp_path / "mine.yaml"
    pack.write_text(
        "name: mine\nversion: 1\ndescription: x\nrules:\n  - name: known\n    description: x\n"
        f"    when: facts.exists(fact, fact.authority == '{authority}' && fact.value == 'Oak Lane 9')\n"
        "    message: It goes to {fact_names}.\n"
    )

    async def play(stage):
        await said(stage, "Oak Lane 9")
        packet = await stage.begin("s1", **SHIP)
        assert ("It goes to ana address." in [item.text for item in packet.items]) is fires

    staged(play, policy={"packs": [str(pack)]})
