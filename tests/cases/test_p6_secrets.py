"""P6: a secret is taken out before an event is indexed or embedded, whichever part of the event holds it."""

from __future__ import annotations

import pytest

from beforehand.index.segmentation import query_terms
from stage import RUN, staged

ARMS = ("auto", "exact", "semantic", "timeline", "tree", "facts", "summary", "reflection")
SECRETS = {
    "sk-proj-abc123def456ghi789jkl012": "abc123def456ghi789jkl012",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N": "eyJhbGciOiJIUzI1NiJ9",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----": "MIIEvQIBADANBgkqhk",
    "export TOKEN=abc123def": "abc123def",
}


@pytest.mark.parametrize(("secret", "canary"), SECRETS.items())
def test_p6_a_secret_is_in_no_index_no_arm_and_no_packet(secret, canary):
    async def play(stage):
        await stage.event(f"The deploy line is {secret}", role="user")
        await stage.event(kind="observation", tool="env", role="tool", ok=False, data={"log": f"deploy with {secret}"})
        await stage.event(kind="action", tool="deploy", role="agent", args={"command": f"deploy {secret}"})
        await stage.event("noted", role="user", facts=[{"subject": "deploy", "attribute": "line", "value": secret}])
        memory = await stage.replay.pipeline.memories.of(RUN)
        assert len(memory.events) == 4
        for event in memory.events:
            assert canary not in "\n".join([event.text, *(passage.text for passage in event.passages)])
        assert len(memory.words.search_terms(query_terms(canary), 5)[0]) == 0
        assert len(memory.words.search_terms(query_terms("deploy"), 5)[0]) == 3
        for mode in ARMS:
            reply = await stage.recall(f"deploy line {canary}", mode=mode, k=20)
            assert not any(canary in item["text"] for item in reply["items"]), mode
        packet = await stage.begin("s1", goal="deploy with the line", tool="deploy", needs=["line", "command"])
        assert "deploy" in packet.rendered
        assert canary not in packet.rendered

    staged(play)
