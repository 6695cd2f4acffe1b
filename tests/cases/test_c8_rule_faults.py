"""Case C8: a rule whose condition fails at run time is told of, and stops no other."""

from __future__ import annotations

from structlog.testing import capture_logs

from stage import staged

PACK = """\
name: mine
version: 1
description: x
rules:
  - {name: broken, description: x, when: "size(recent) == 1 && recent[5].ok == true", message: "never"}
  - {name: whole, description: x, when: "true", message: "mind it"}
"""


def test_c8_a_failing_condition_is_in_the_decision_counted_and_logged_once(tmp_path):
    pack = tmp_path / "mine.yaml"
    pack.write_text(PACK)

    async def play(stage):
        await stage.event("the parcel W77 waits", role="user")
        for step in ("s1", "s2"):
            packet = await stage.begin(step, goal="book")
            assert "mind it" in packet.rendered
            record = await stage.replay.journal.packet(packet.id)
            [fault] = record.decision["faults"]
            assert fault["name"] == "mine/broken"
            assert fault["problem"]
        assert stage.measures.value("beforehand_failures_total", part="rules") >= 2

    with capture_logs() as logs:
        staged(play, policy={"packs": [str(pack)], "model": "none"})
    assert [line["rule"] for line in logs if "rule" in line] == ["mine/broken"]
