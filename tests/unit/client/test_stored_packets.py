"""A packet that the broker had kept is no answer to a step that begins now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from beforehand.client.inbox import Inbox
from beforehand.messages.outbound import Packet, Watermark
from beforehand.messages.values import moment


def packet(version):
    return Packet(
        id=f"p{version}",
        tenant="shop",
        agent="anna",
        run="r1",
        step="s1",
        plan_revision=None,
        version=version,
        final=True,
        status="ready",
        created_at=moment(version),
        expires_at=datetime.now(UTC) + timedelta(days=1),
        watermark=Watermark(event=None, position=version),
        budget_tokens=9,
        searched=0,
        policy="p",
    )


def test_a_kept_final_packet_is_known_and_fulfils_no_promise():
    inbox = Inbox()
    expected = inbox.expect_final("r1", "s1")
    inbox.put_packet(packet(1), stored=True)
    assert inbox.newest("r1", "s1").version == 1
    assert not expected.final.done()
    inbox.put_packet(packet(2))
    assert expected.final.result().version == 2
