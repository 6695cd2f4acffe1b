"""Two rankers in one packet: team draft, and credit by use.

As in Radlinski, Kurup, Joachims (CIKM 2008): in each round both rankers take their best item that is not taken yet, in
an order drawn for the round; the ranker whose items are used more is the better one. Every step compares both, so far
fewer runs tell them apart than where each run has one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def draft(
    rankings: tuple[Sequence[T], Sequence[T]], identity: Callable[[T], str], first: Callable[[int], bool]
) -> Iterator[tuple[T, int]]:
    """The drafted items in order, each with its team: 0 or 1, the ranker that took it.

    identity: equal for what both rankers mean by one item. first: whether ranker 1 chooses first in that round.
    """
    taken: set[str] = set()
    queues = tuple(iter(ranking) for ranking in rankings)
    rounds = 0
    while True:
        before = len(taken)
        for team in (1, 0) if first(rounds) else (0, 1):
            item = next((one for one in queues[team] if identity(one) not in taken), None)
            if item is not None:
                taken.add(identity(item))
                yield item, team
        if len(taken) == before:
            return
        rounds += 1
