"""What tells the records of a list apart: an id alone says nothing of which one is meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from beforehand.index import keys
from beforehand.index.passages import Passage

_LEAVES: Final = 6
"""Told of one record, the first."""
_LEAF_CHARS: Final = 60


def is_of_list(name: Passage) -> bool:
    """Whether a leaf that names a record is the id of one of a list: an index or an id stands above it in its path."""
    return keys.tells(name.key) == 1 and any(map(str.isdigit, name.path.rpartition(".")[0]))


def distinguishing(passages: Sequence[Passage]) -> Mapping[str, list[str]]:
    """For each record of a list that an id names, what it says and not all others like it.

    passages: of one event. Returned by the leaf that names the record (`item_id: 17`, `Passage.about`); a name would
    say itself what is meant. Records are alike when the key of their id is the same. What they say is without the name
    behind it (`size: M`), in its order in the record.
    """
    alike: dict[str, dict[str, None]] = defaultdict(dict)
    for passage in passages:
        if passage.about and passage.text == passage.about and is_of_list(passage):
            alike[passage.key][passage.about] = None
    told: dict[str, list[str]] = {about: [] for records in alike.values() if len(records) > 1 for about in records}
    behind = {about: f" ({about})" for about in told}
    for passage in passages if told else ():
        name = behind.get(passage.about)
        if name is not None and passage.kind == "leaf" and passage.text.endswith(name):
            told[passage.about].append(passage.text[: -len(name)])
    for records in alike.values():
        shared = set.intersection(*(set(told.get(about, ())) for about in records))
        for about in records:
            if about in told:
                told[about] = _differing(told[about], shared)
    return told


def _differing(leaves: Sequence[str], shared: set[str]) -> list[str]:
    kept = dict.fromkeys(leaf for leaf in leaves if leaf not in shared and len(leaf) <= _LEAF_CHARS)
    return list(kept)[:_LEAVES]
