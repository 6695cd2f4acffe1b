"""Many events and many kills: nothing lost, nothing twice, and memory as a replay of the journal gives it."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
from drills.scene import NO_EFFECT, WITHIN_S, Outcome, Size, daemon, mosquitto
from drills.talk import Talk

WAVE = 2_500
"""Events of an agent before the next two agents take over."""
QUESTIONS = (
    {"query": "the order goes to box 13", "mode": "semantic"},
    {"query": "order", "mode": "timeline", "window": {"last": 20}},
    {"query": "the newest order", "mode": "auto"},
)


def soak(folder: Path, size: Size) -> Outcome:
    """Agents talk two by two, the daemon is killed (-9) at random moments; memory is compared with a replay."""
    chance = random.Random(size.seed)
    waves = max(1, size.events // WAVE)
    each = size.events // waves
    said: list[str] = []
    began = time.monotonic()
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one:
        for wave in range(waves):
            kills = size.kills * (wave + 1) // waves - size.kills * wave // waves
            with Talk(broker.port, events=each, name=f"wave{wave}") as talk:
                for moment in sorted(chance.sample(range(2 * each), kills)):
                    talk.wait_for(moment, WITHIN_S + each)
                    one.kill()
                    one.start()
                talk.wait(WITHIN_S + each)
            said += talk.said
        took_s = time.monotonic() - began
        rows = Counter(one.rows())
        lost, twice = len(set(said) - rows.keys()), sum(rows.values()) - len(rows)
        assert (lost, twice) == (0, 0), f"{lost} lost, {twice} twice"
        folded = _remembered(broker.port, waves)
        one.kill()
        one.start()
        replayed = _remembered(broker.port, waves)
        assert folded == replayed, "memory is not what the journal gives"
    figures = {"events": len(said), "kills": size.kills, "lost": lost, "twice": twice}
    return Outcome(NO_EFFECT, "", {**figures, "answers_compared": len(folded), "took_s": round(took_s)})


def _remembered(port: int, waves: int) -> list[Any]:
    """What the daemon answers about the agents of the first, a middle and the last wave."""
    answers = []
    for wave in sorted({0, waves // 2, waves - 1}):
        broker = BrokerSettings(host="127.0.0.1", port=port)
        with PlainAgent(tenant="drill", agent=f"wave{wave}-0", broker=broker, linger_s=0) as agent:
            assert agent.connected(10)
            for question in QUESTIONS:
                reply = agent.run("r1").recall(deadline_ms=60_000, k=20, **question)
                assert reply.items, reply
                answers.append([item.model_dump(exclude={"score"}) for item in reply.items])
    return answers
