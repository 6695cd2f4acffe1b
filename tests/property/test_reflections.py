"""What a step taught is a matter of the agent's order: messages may come in any."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from beforehand.memory.agent import AgentMemory
from journal_samples import RUN, entry


def told(seq, channel, **fields):
    return entry(f"m{seq}", RUN, channel=channel, epoch="boot", seq=seq, **fields)


def call(seq, card):
    return told(seq, "event", kind="action", tool="pay", role="agent", args={"card": card})


def result(seq, *, ok, text):
    return told(seq, "event", kind="observation", tool="pay", role="tool", ok=ok, text=text)


STEPS = [{"id": "s1", "goal": "pay the rent", "tool": "pay"}, {"id": "s2", "goal": "pay the gas", "tool": "pay"}]
PLAN = told(11, "plan", steps=STEPS)
LIFE = [
    told(1, "step", step="s1", phase="begin"),
    call(2, "c1"),
    result(3, ok=False, text="card c1 expired"),
    call(4, "c2"),
    result(5, ok=True, text="paid"),
    told(6, "step", step="s1", phase="end", ok=True),
    told(7, "step", step="s2", phase="begin"),
    call(8, "c1"),
    result(9, ok=False, text="no such account"),
    told(10, "step", step="s2", phase="end", ok=False),
]
LESSONS = {
    "s1": "pay the rent; tried: pay (failed), pay; came back: card c1 expired; it ended well; "
    "otherwise: it worked with another card",
    "s2": "pay the gas; tried: pay (failed); came back: no such account; it ended badly",
}


@given(st.permutations(LIFE))
def test_whichever_message_comes_first_the_same_is_learned(arrival):
    memory = AgentMemory(RUN.tenant, RUN.agent)
    for one in [PLAN, *arrival]:
        memory.take(one)
    assert {lesson.step: str(lesson) for lesson in memory.reflections.all()} == LESSONS
