"""Where two memories of one agent differ, down to the value that does."""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MethodType
from typing import Any, Final, NamedTuple

import numpy as np

from beforehand.memory.agent import AgentMemory
from beforehand.memory.later import Later
from beforehand.memory.session import Session
from beforehand.memory.stored_events import StoredEvents
from beforehand.memory.trees import Growth, Trees
from beforehand.memory.weighted_tree import WeightedTree
from beforehand.memory.weights import Weights

_TOLD_CHARS: Final = 120
_LISTS: Final = (list, StoredEvents)
_OF_ONE: Final = 5
"""Differences that are told of one list, table or array; a shift by one place would make thousands."""
_ASKED: Final = frozenset(
    {
        ("Nearest", "_answers"),
        ("Nearest", "_read"),
        ("Wordings", "_kept"),
        ("Traits", "_answered"),
        ("Lexical", "_impact_of"),
        ("Lexical", "_impacts"),
        ("TopicTree", "labels"),
        ("FactBook", "_moments"),
        ("Digests", "_known"),
        ("Practice", "_usual"),
        ("Timeline", "_by_step"),
        ("Timeline", "_by_time"),
        ("Timeline", "_tree"),
        ("Positions", "_lists"),
    }
)
"""What answers leave behind so that the next one is quick: it tells what was asked, not what is remembered.

The orders and sums of a timeline are brought up to date by questions; the columns that they follow from are compared.
"""


class Difference(NamedTuple):
    """part: of memory. place: the way to the value in it. one, other: what stands there, as text that is cut."""

    part: str
    place: str
    one: str
    other: str


class _Pair(NamedTuple):
    place: str
    one: Any
    other: Any


def differences(one: AgentMemory, other: AgentMemory, growth: Growth) -> list[Difference]:
    """Every part in which two memories of the same messages differ, the weighted tree of each run among them.

    What was kept of answers is left out. An array is compared as far as both reach: it grows ahead of its content.
    """
    mine, others = _parts(one, growth), _parts(other, growth)
    return [
        Difference(re.split(r"[.\[ ]", pair.place)[0], pair.place, _told(pair.one), _told(pair.other))
        for pair in _of_attributes(mine, others, "", set())
    ]


def _parts(memory: AgentMemory, growth: Growth) -> dict[str, Any]:
    trees = Trees(growth)
    grown = {
        run: _plain(trees.of(memory, session), session, growth.weights) for run, session in memory.sessions.items()
    }
    return {**memory.state(), "events": memory.events, "trees": grown}


def _plain(tree: WeightedTree, session: Session, weights: Weights) -> dict[str, Any]:
    """A tree as a table: a node's parent, kind, name, weight, uses, and whether it is archived."""
    rows = [
        (
            None if node.parent is None else node.parent.place,
            node.kind,
            node.name,
            node.weight(tree.events, weights),
            node.uses,
            node.archived,
        )
        for node in tree.nodes
    ]
    return {"active": tree.at(session.itinerary.current).place, "nodes": rows}


def _between(one: Any, other: Any, place: str, seen: set[tuple[int, int]]) -> Iterator[_Pair]:
    """What differs below two values; a pair that was looked at is not looked at again."""
    if one is other or (id(one), id(other)) in seen:
        return
    if isinstance(one, _LISTS) and isinstance(other, _LISTS):
        yield from _of_elements(one, other, place, seen)
        return
    both_tables = isinstance(one, dict) and isinstance(other, dict)  # one from a segment is of a class of its own
    if type(one) is not type(other) and not both_tables:
        yield _Pair(place, one, other)
        return
    match one:
        case np.ndarray() | memoryview():
            yield from _of_arrays(np.asarray(one), np.asarray(other), place)
        case dict():
            yield from _of_keys(one, other, place, seen)
        case tuple() | deque():
            yield from _of_elements(one, other, place, seen)
        case Later():
            yield from _between(one.part, other.part, place, seen)
        case MethodType():
            return  # where a part finds another part, which is looked at by itself
        case str() | bytes() | int() | float() | array() | set() | frozenset() | None:
            yield from () if one == other else (_Pair(place, one, other),)
        case _:
            seen.add((id(one), id(other)))
            yield from _of_attributes(_attributes(one), _attributes(other), place, seen)


def _of_attributes(
    one: Mapping[str, Any], other: Mapping[str, Any], place: str, seen: set[tuple[int, int]]
) -> Iterator[_Pair]:
    for name in sorted({*one, *other}):
        yield from _between(one.get(name), other.get(name), f"{place}.{name}" if place else name, seen)


def _of_elements(one: Sequence[Any], other: Sequence[Any], place: str, seen: set[tuple[int, int]]) -> Iterator[_Pair]:
    if len(one) != len(other):
        yield _Pair(f"{place} (length)", len(one), len(other))
    each = (_between(*pair, f"{place}[{number}]", seen) for number, pair in enumerate(zip(one, other, strict=False)))
    yield from islice(chain.from_iterable(each), _OF_ONE)


def _of_keys(one: dict[Any, Any], other: dict[Any, Any], place: str, seen: set[tuple[int, int]]) -> Iterator[_Pair]:
    if list(one) != list(other):
        order = one.keys() == other.keys()
        lacking = ([key for key in other if key not in one], [key for key in one if key not in other])
        yield _Pair(f"{place} (order)", list(one), list(other)) if order else _Pair(f"{place} (lacks)", *lacking)
    each = (_between(one[key], other[key], f"{place}[{key!r}]", seen) for key in one if key in other)
    yield from islice(chain.from_iterable(each), _OF_ONE)


def _of_arrays(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], place: str) -> Iterator[_Pair]:
    if one.dtype != other.dtype or one.shape[1:] != other.shape[1:]:
        yield _Pair(f"{place} (form)", (one.dtype, one.shape), (other.dtype, other.shape))
        return
    both = min(len(one), len(other))
    unequal = (one[:both] != other[:both]) & ~((one[:both] != one[:both]) & (other[:both] != other[:both]))
    for row in np.unique(np.nonzero(unequal)[0])[:_OF_ONE].tolist():
        yield _Pair(f"{place}[{row}]", one[row], other[row])


def _attributes(value: Any) -> dict[str, Any]:
    """What an object holds, but what answers left in it."""
    kinds = type(value).__mro__
    slots = chain.from_iterable(kind.__dict__.get("__slots__", ()) for kind in kinds)
    named = {*getattr(value, "__dict__", {}), *slots} - {"__weakref__", "__dict__"}
    kept = (name for name in named if hasattr(value, name) and (kinds[0].__name__, name) not in _ASKED)
    return {name: getattr(value, name) for name in kept}


def _told(value: Any) -> str:
    text = str(value) if isinstance(value, str | np.ndarray) else repr(value)
    return text if len(text) <= _TOLD_CHARS else f"{text[:_TOLD_CHARS]}…"
