"""Ids of a list with what tells them apart, for where a packet has room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from beforehand.context.choice import Choice
from beforehand.index.variants import distinguishing, is_of_list
from beforehand.memory.stale import Stale
from beforehand.trigger.candidates import Candidates


def told_apart(
    choices: Sequence[Choice], candidates: Candidates, said: Sequence[int], stale: Stale | None
) -> Iterator[Choice]:
    """The choices, with what is `beside` those that name one record of a list.

    said: the candidate that each says. stale: what is true no longer, and is not said beside anything either.
    """
    differing: dict[int, Mapping[str, list[str]]] = {}
    for choice, index in zip(choices, said, strict=True):
        if not choice.about or choice.text != choice.about or not is_of_list(candidates.passage(index)):
            yield choice
            continue
        event = candidates.events[index]
        if event.row not in differing:
            true = [one for one in event.passages if stale is None or not stale.says(event, one)]
            differing[event.row] = distinguishing(true)
        beside = differing[event.row].get(choice.about)
        yield choice._replace(beside=tuple(beside)) if beside else choice
