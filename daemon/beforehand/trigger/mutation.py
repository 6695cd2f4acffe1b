"""Whether a tool changes something in the world, from what its plan says or else from the verb in its name."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from typing import Final

from beforehand.trigger.words import split

READS: Final = frozenset(
    split(
        "are browse calculate check compare compute convert count describe detect diff display download echo "
        "estimate explain export fetch filter find get grep has head inspect is list locate login look lookup "
        "measure preview print query quote read recall recommend render retrieve scan search see select show "
        "simulate sort stat suggest summarize summarise tail think translate validate verify view wc whoami"
    )
)
"""Verbs that only look."""

CHANGES: Final = frozenset(
    split(
        "accept activate add allocate append apply approve archive assign authorize ban block book buy cancel "
        "capture change checkout clear close commit configure confirm contact copy cp create deactivate delete "
        "deploy deposit destroy disable discard dispatch donate drop edit email enable enroll erase exchange fill "
        "finalize forward fund generate grant hire import increment initiate insert install invite issue kill "
        "launch lock make merge mkdir modify move mv notify open overwrite patch pay place post press publish "
        "purchase push put rebook redeem refund register reject remove rename rent renew replace reply repost "
        "reschedule reserve reset resolve restart restore resubmit retweet return revoke rm rmdir save schedule "
        "sell send set sign start stop store submit subscribe swap terminate touch transfer tweet undo uninstall "
        "unlock unsubscribe update upgrade upload upsert withdraw write"
    )
)
"""Verbs that change something."""

NOUNS_TOO: Final = frozenset(
    split(
        "book booking charge comment execute file mention message order record reserve return run schedule stock "
        "store ticket trade transfer watch"
    )
)
"""Words that change something as a verb (`order_food`) and name a thing beside a verb that looks (`order_search`)."""

_JOINED: Final = frozenset({"and", "or", "then"})
_NAMESPACE: Final = re.compile(r"[./:]|__")


def mutates(tool: str, goal: str = "", *, explicit: bool | None = None) -> bool:
    """Whether the step changes something.

    `explicit` (the plan's own `mutates`) wins. Else the first verb in the tool's name that stands in the lists
    above decides (`get_order_details` looks, `cancel_order` and `find_and_delete` change). The name may be camelCase
    or snake_case and carry a namespace (`Banks_2.TransferMoney`, `mcp__mail__send`). Without a tool the first word of
    the goal decides. A name without a known verb counts as looking: a false alarm costs more than a miss.
    """
    if explicit is not None:
        return explicit
    if tool:
        return tool_mutates(tool)
    first = split(goal)[:1]
    return bool(first) and first[0] in CHANGES


@lru_cache(maxsize=1_024)
def tool_mutates(tool: str) -> bool:
    """The same by the name of a tool; kept, since it is asked several times for every decision."""
    own_name = [part for part in _NAMESPACE.split(tool) if part]
    return _changes(split(own_name[-1])) if own_name else False


def forget_tools() -> None:
    """Drop the names remembered to save work, so that nothing erased stays in them."""
    tool_mutates.cache_clear()


def _changes(words: list[str]) -> bool:
    for at, word in enumerate(words):
        rest = words[at + 1 :]
        if word in NOUNS_TOO:
            return READS.isdisjoint(rest)
        if word in CHANGES:
            return True
        if word in READS:
            return any(joint in _JOINED and verb in CHANGES for joint, verb in itertools.pairwise(rest))
    return False
