"""What bears on a step, from the weighted tree of its run."""

from __future__ import annotations

from beforehand.index.columns import NONE
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Found
from beforehand.memory.session import Session
from beforehand.memory.trees import Growth, Trees
from beforehand.memory.weights import Weights
from beforehand.pipeline.questions import Inquiry
from beforehand.ports import Measures
from beforehand.sections import MemorySettings


def growth_of(settings: MemorySettings) -> Growth:
    """How the weighted trees of runs grow."""
    importance, recency, confidence, use = settings.tree_weights
    return Growth(Weights(importance, recency, confidence, use), settings.tree_live_nodes)


def bearing(
    trees: Trees, memory: AgentMemory, session: Session, inquiry: Inquiry, measures: Measures, now_us: int
) -> list[Found]:
    """Events of the tree's context, in its order, without what is superseded at `now_us` or was not known at the time
    that the question names.
    """
    question, known = inquiry.question, memory.heard_by(inquiry.known_us)
    tree = trees.of(memory, session)
    measures.gauge("beforehand_tree_nodes", tree.live, state="live")
    measures.gauge("beforehand_tree_nodes", len(tree.nodes) - tree.live, state="archived")
    measures.observe("beforehand_tree_depth", tree.depth)
    stale = memory.facts.stale(now_us, inquiry.known_us)
    context = tree.context(tree.at(question.step or session.itinerary.current), question.k, trees.growth.weights)
    rows = (max((row for row in node.rows if row < known), default=NONE) for node, _ in context)
    weighed = zip(rows, (weight for _, weight in context), strict=True)
    found = [Found(row, None, "tree", rank, weight) for rank, (row, weight) in enumerate(weighed) if row != NONE]
    return [find for find in found if stale is None or stale.clean(memory.events[find.row]) is None]
