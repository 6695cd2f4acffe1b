"""Messages that a memory has and the journal may not have yet: one that is folded from the journal lacks them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from beforehand.messages.entry import Entry
from beforehand.messages.outbound import Packet
from beforehand.pipeline.hot import Key, key_of

Came = dict[int, tuple[Entry, Packet | None]]
"""Entries in the order in which they were folded, each with the packet that it rates, by the entry's identity."""


class Unstored:
    """Of each agent: what was folded in and is on its way to the disk."""

    def __init__(self) -> None:
        self._on_the_way: dict[Key, Came] = {}
        self._watched: dict[Key, Came] = {}

    def folded(self, entry: Entry, rated: Packet | None) -> None:
        """A message that came was folded in."""
        key = key_of(entry.scope)
        self._on_the_way.setdefault(key, {})[id(entry)] = entry, rated
        if key in self._watched:
            self._watched[key][id(entry)] = entry, rated

    def settled(self, entry: Entry) -> None:
        """It is on disk, or will never be."""
        key = key_of(entry.scope)
        waiting = self._on_the_way.get(key, {})
        waiting.pop(id(entry), None)
        if not waiting:
            self._on_the_way.pop(key, None)

    @contextmanager
    def watch(self, key: Key) -> Iterator[Came]:
        """What is on the way now and what comes from now on, stored or not; with the journal it is everything."""
        self._watched[key] = dict(self._on_the_way.get(key, {}))
        try:
            yield self._watched[key]
        finally:
            del self._watched[key]
