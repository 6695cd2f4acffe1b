"""Facts: what was claimed, what stands of it, and what is known of how it came about. Nothing claimed is dropped."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final, NamedTuple

from beforehand.index.segmentation import terms
from beforehand.memory.claims import Claim, Key, Leaf, Statement, folded, leaves_of, plain
from beforehand.memory.fact_names import FactNames
from beforehand.memory.record import FOREVER, Record, Standing
from beforehand.memory.scenes import apart
from beforehand.memory.stale import Stale, Trace, Traces
from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Authority

_WIDER: Final = 4
"""How many times as many records are looked at as are wanted: words of old values find a record, too."""
_ENOUGH: Final = 2_000
"""Records that share a word with a question, after which its more common words are not asked for more."""
_MOMENTS: Final = 8
"""Times for which it is remembered which passages are stale."""


class Near(NamedTuple):
    """A fact that stands, and how many words it shares with a question."""

    shared: int
    standing: Standing


class Meant(NamedTuple):
    """A fact that a step speaks of, and all that was claimed of it."""

    standing: Standing
    record: Record


@dataclass(slots=True)
class _Filed:
    """A record with what finds it."""

    record: Record = field(default_factory=Record)
    traces: dict[Leaf, Trace] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)


class FactBook:
    """All claims of one agent. A claim costs a few binary searches, a lookup one per level of authority."""

    def __init__(self) -> None:
        self._filed: dict[Key, _Filed] = {}
        """The one claimed last stands last."""
        self._traces = Traces()
        self._of_row: dict[int, list[Claim]] = {}
        self._by_word: dict[str, list[Key]] = {}
        self._names = FactNames()
        self._bounds: list[int] = []
        self._settled = True
        self._count = 0
        self._moments: dict[tuple[int, int], Stale] = {}

    def __bool__(self) -> bool:
        """Whether anything was ever claimed."""
        return bool(self._filed)

    def take(self, entry: Entry, statements: Sequence[Statement], row: int, authority: Authority) -> None:
        """Fold in what one event claims."""
        for said in statements:
            value = plain(said.value)
            if said.withdrawn and said.value is not None and not self._stands(said, entry.received_us):
                continue
            claim = Claim(
                key=(said.subject, said.attribute, said.space),
                value=value,
                authority=authority,
                confidence=said.confidence,
                from_us=entry.at_us if said.from_us is None else said.from_us,
                to_us=said.to_us,
                recorded_us=entry.received_us,
                number=self._count,
                row=row,
                event_id=entry.id,
                origin=said.origin,
                withdrawn=said.withdrawn,
                run=said.run,
                sent=None if entry.counted is None else (entry.scope.run, *entry.counted),
                words=tuple(sorted(set(terms(f"{said.subject} {said.attribute}: {value}")))),
                leaves=() if said.withdrawn else leaves_of(said.value, said.subject, said.attribute),
            )
            self._count += 1
            self._add(claim)

    def record(self, subject: str, attribute: str, space: str = "") -> Record | None:
        """All that was claimed of one key."""
        filed = self._filed.get(folded(subject, attribute, space))
        return None if filed is None else filed.record

    def records(self) -> Iterator[Record]:
        """All keys, the one claimed last at the end."""
        return (filed.record for filed in self._filed.values())

    def of_row(self, row: int) -> Sequence[Claim]:
        """The claims that the event of a row made."""
        return self._of_row.get(row, ())

    def standing(self, at_us: int, known_us: int = FOREVER) -> Iterator[Standing]:
        """Every fact that stood at `at_us`, as far as it was known at `known_us`."""
        found = (record.at(at_us, known_us) for record in self.records())
        return (standing for standing in found if standing is not None)

    def nearest(
        self, wanted: Collection[str], k: int, at_us: int, known_us: int = FOREVER, rows: Collection[int] | None = None
    ) -> list[Near]:
        """The `k` facts that share most words with a question; of equals those that were claimed last.

        rows: only facts that events of these rows claimed; None: all.
        """
        shared = Counter(chain.from_iterable(self._holding(wanted)))
        likely = [key for key, _ in shared.most_common(_WIDER * k)]
        newest = (key for key in reversed(self._filed) if key not in shared)
        found: list[Near] = []
        sought = set(wanted)
        for key in chain(likely, newest):
            if len(found) >= _WIDER * k or (key not in shared and len(found) >= k):
                break
            standing = self._filed[key].record.at(at_us, known_us)
            if standing is not None and (rows is None or standing.claim.row in rows):
                found.append(Near(len(sought.intersection(standing.claim.words)), standing))
        found.sort(key=lambda near: (-near.shared, -near.standing.claim.row, near.standing.claim.number))
        return found[:k]

    def meant(
        self, goal: Collection[str], needs: Sequence[frozenset[str]], k: int, at_us: int, space: str | None = None
    ) -> list[Meant]:
        """At most `k` facts that a step speaks of, in the order of `FactNames.meant`.

        space: the step's; a fact of another one does not bear on it.
        """
        near = (key for key in self._names.meant(goal, needs) if not apart(space, key[2]))
        records = (self._filed[key].record for key in near)
        stand = ((record.at(at_us), record) for record in records)
        return list(islice((Meant(standing, record) for standing, record in stand if standing is not None), k))

    def _holding(self, wanted: Collection[str]) -> Iterator[list[Key]]:
        """Keys that have each word, rare words first, until they are _ENOUGH: a word of most records tells nothing."""
        count = 0
        for keys in sorted((self._by_word[word] for word in sorted(wanted) if word in self._by_word), key=len):
            if count and count + len(keys) > _ENOUGH:
                return
            yield keys[-_ENOUGH:]
            count += len(keys)

    def stale(self, at_us: int, known_us: int = FOREVER) -> Stale | None:
        """What was claimed and stood no longer at `at_us`; None when everything that was ever claimed stands."""
        if self._settled:
            return None
        moment = bisect_right(self._bounds, at_us), known_us
        stale = self._moments.get(moment)
        if stale is None:
            if len(self._moments) == _MOMENTS:
                del self._moments[next(iter(self._moments))]
            stale = self._moments[moment] = Stale(self._traces, at_us, known_us)
        return stale

    def holds_until(self, at_us: int) -> int:
        """Microseconds since 1970 at which time alone next changes what stands; FOREVER when it does not."""
        place = bisect_right(self._bounds, at_us)
        return self._bounds[place] if place < len(self._bounds) else FOREVER

    def _stands(self, said: Statement, at_us: int) -> bool:
        """Whether the value that a withdrawal names is the one that stands."""
        record = self.record(said.subject, said.attribute, said.space)
        standing = None if record is None else record.at(at_us)
        return standing is not None and standing.claim.value.casefold() == plain(said.value).casefold()

    def _add(self, claim: Claim) -> None:
        key = folded(*claim.key)
        filed = self._filed.pop(key, None) or _Filed()
        self._filed[key] = filed
        self._names.claimed(key)
        filed.record.add(claim)
        self._traces.add(claim, filed.record, filed.traces)
        self._of_row.setdefault(claim.row, []).append(claim)
        for word in claim.words:
            if word not in filed.words:
                filed.words.add(word)
                self._by_word.setdefault(word, []).append(key)
        insort(self._bounds, claim.from_us)
        if claim.to_us is not None:
            insort(self._bounds, claim.to_us)
        self._settled = self._settled and filed.record.settled
        self._moments.clear()
