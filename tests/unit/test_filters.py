"""What a filter lets through, and that kept answers are those of a search from scratch."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from beforehand.index.semantic import SemanticWindows
from beforehand.memory.nearest import Nearest
from beforehand.memory.recall import Recall
from beforehand.memory.remembered import Remembered
from beforehand.memory.traits import Traits
from happenings import happened

KINDS = ("message", "action", "observation")
TOOLS = (None, "search", "book")
ROLES = (None, "user", "agent")
TAGS = ("budget", "date")


def event(row: int, draw: random.Random) -> Remembered:
    return happened(
        row,
        run=f"r{draw.randrange(3)}",
        kind=draw.choice(KINDS),
        role=draw.choice(ROLES),
        tool=draw.choice(TOOLS),
        ok=draw.choice((None, True, False)),
        authority=draw.choice(("user", "tool", "unknown")),
        space=draw.choice((None, "kitchen", "hall")),
        tags=frozenset(tag for tag in TAGS if draw.random() < 0.3),
        worthy=draw.random() < 0.9,
    )


def question(draw: random.Random) -> Recall:
    def some(values: tuple[str | None, ...]) -> frozenset[str]:
        return frozenset(value for value in values if value is not None and draw.random() < 0.4)

    return Recall(
        "timeline",
        kinds=some(KINDS),
        tools=some((*TOOLS, "unheard")),
        tags=some(TAGS),
        roles=some(ROLES),
        authorities=some(("user", "tool")),
        ok=draw.choice((None, None, True, False)),
        run=draw.choice((None, None, "r1", "r9")),
        space=draw.choice((None, None, "hall", "unheard")),
    )


def passes(event: Remembered, asked: Recall) -> bool:
    """The filter, spelled out."""
    return (
        event.worthy
        and (not asked.kinds or event.kind in asked.kinds)
        and (not asked.tools or (event.tool or "") in asked.tools)
        and (not asked.tags or bool(asked.tags & event.tags))
        and (not asked.roles or event.role in asked.roles)
        and (not asked.authorities or event.authority in asked.authorities)
        and (asked.ok is None or event.ok is asked.ok)
        and (asked.run is None or event.run == asked.run)
        and (asked.space is None or event.space == asked.space)
    )


@pytest.mark.parametrize("cold", [0, 40])
def test_filters_over_columns_let_through_what_they_say_at_every_moment(cold):
    draw = random.Random(11)
    traits, events = Traits(), []
    asked = [question(draw) for _ in range(40)]
    for row in range(150):
        drawn = event(row, draw)
        events.append(replace(drawn, worthy=drawn.worthy and row >= cold))
        traits.add(events[-1])
        for one in draw.sample(asked, 5):
            expected = [each.row for each in events if passes(each, one)]
            assert traits.matching(one).tolist() == expected
            some = np.array(draw.sample(range(row + 1), row // 2 + 1))
            assert traits.matching(one, some).tolist() == [at for at in some.tolist() if at in set(expected)]


def test_answers_kept_up_are_those_of_a_search_from_scratch():
    draw = np.random.default_rng(5)
    vectors, nearest = SemanticWindows(8), Nearest()
    queries = draw.normal(size=(4, 8)).astype(np.float32)
    for row in range(120):
        if row % 7:  # every seventh event says nothing and has no vector
            new = draw.integers(-1, 2, size=(1, 8)).astype(np.float32)  # few values: many ties
            vectors.put([row], new)
            nearest.changed(row)
        if row == 60:
            vectors.put([3], queries[:1])
            nearest.changed(3)
        for number, query in enumerate(queries):
            for allowed in (None, np.arange(number, row + 1, 3)):
                kept = nearest.search(vectors, (number, allowed is None), query, 5, allowed)
                fresh = vectors.search(query, 5, rows=allowed)
                assert [part.tolist() for part in kept] == [part.tolist() for part in fresh]
