"""How something is done here, and what went wrong: the workflows that a question is about, and which questions are."""

from __future__ import annotations

import re
from typing import Final

from beforehand.index.segmentation import terms
from beforehand.memory.flows import Flows
from beforehand.memory.workflows import Workflow

_HOW: Final = re.compile(
    r"\bhow (?:do|does|did|to|should|can|could|would|is|are|was)\b|\b(?:procedures?|workflows?|playbooks?)\b"
    r"|\bsteps? (?:to|for|of)\b|\busual (?:way|steps|order)\b"
    r"|怎么|怎麼|怎样|怎樣|如何|流程|步骤|步驟|手順|やり方|어떻게|절차",
    re.IGNORECASE,
)
_LESSONS: Final = re.compile(
    r"\bwhat (?:went|goes|has gone|had gone) wrong\b|\bwhat (?:failed|has failed|did (?:i|we|you) learn)\b"
    r"|\bwhy (?:did|does|has|have)\b.*\bfail(?:ed)?\b|\blessons?\b|\bmistakes?\b|\bdo (?:otherwise|differently)\b"
    r"|教训|教訓|学到|出了什么问题|哪里出错|为什么.*失败|為什麼.*失敗|なぜ.*失敗|反省|교훈|왜.*실패",
    re.IGNORECASE,
)
_OWN_TASK: Final = 0.5
"""What it counts beside the words of the question that a workflow belongs to the run's own sort of task."""


def asks_how(query: str) -> bool:
    """Whether a question is about the way to do something."""
    return _HOW.search(query) is not None


def asks_lessons(query: str) -> bool:
    """Whether a question is about what went wrong, or what was learned from it (English, Chinese, Japanese, Korean)."""
    return _LESSONS.search(query) is not None


def consult(flows: Flows, query: str, task_type: str, k: int) -> list[tuple[Workflow, float]]:
    """The k workflows that share most words with the question, with the share of its words that each has.

    Between equals those of `task_type` come first, then the better supported. Without any shared word, and for an
    empty question, those of `task_type` answer, with 0.
    """
    wanted = frozenset(terms(query))
    scored = []
    for place, workflow in enumerate(flows.workflows()):
        shared = len(wanted & frozenset(terms(f"{workflow.name} {' '.join(workflow.steps)}")))
        own = workflow.task_type == task_type
        if shared or own:
            order = (-(shared + _OWN_TASK * own), -workflow.support, place)
            scored.append((order, workflow, shared / max(1, len(wanted))))
    scored.sort(key=lambda one: one[0])
    return [(workflow, share) for _, workflow, share in scored[:k]]
