"""The textbook segment tree over events, for comparison only: recursive nodes, each with the list of its event ids."""

from __future__ import annotations

import heapq
from dataclasses import dataclass


class Node:
    __slots__ = ("actions", "errors", "high", "ids", "left", "low", "peak", "right", "total")

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self.left: Node | None = None
        self.right: Node | None = None
        self.ids: list[int] = []
        self.errors = self.actions = 0
        self.total, self.peak = 0.0, float("-inf")


@dataclass(slots=True)
class Event:
    at_us: int
    kind: int
    run: int
    tool: int
    step: int
    failed: bool
    action: bool
    importance: float


class TextbookTree:
    """One event per step; steps 0, ..., capacity - 1. Keeps of an event what the timeline's columns keep of it."""

    def __init__(self, capacity: int) -> None:
        self.root = Node(0, capacity - 1)
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)
        self._insert(self.root, event.step, event.failed, event.action, event.importance)

    def _insert(self, node: Node, step: int, failed: bool, action: bool, importance: float) -> None:
        node.ids.append(step)
        node.errors += failed
        node.actions += action
        node.total += importance
        node.peak = max(node.peak, importance)
        if node.low == node.high:
            return
        middle = (node.low + node.high) // 2
        if step <= middle:
            if node.left is None:
                node.left = Node(node.low, middle)
            self._insert(node.left, step, failed, action, importance)
        else:
            if node.right is None:
                node.right = Node(middle + 1, node.high)
            self._insert(node.right, step, failed, action, importance)

    def revise(self, step: int, importance: float) -> None:
        change = importance - self.events[step].importance
        self.events[step].importance = importance
        self._revise(self.root, step, importance, change)

    def _revise(self, node: Node, step: int, importance: float, change: float) -> None:
        node.total += change
        if node.low == node.high:
            node.peak = importance
            return
        middle = (node.low + node.high) // 2
        child = node.left if step <= middle else node.right
        self._revise(child, step, importance, change)
        node.peak = max(child.peak for child in (node.left, node.right) if child is not None)

    def interval(self, low: int, high: int) -> list[int]:
        """Ids of steps low, ..., high - 1."""
        found: list[int] = []
        self._collect(self.root, low, high - 1, found)
        return found

    def _collect(self, node: Node | None, low: int, high: int, found: list[int]) -> None:
        if node is None or node.high < low or high < node.low:
            return
        if low <= node.low and node.high <= high:
            found.extend(node.ids)
            return
        self._collect(node.left, low, high, found)
        self._collect(node.right, low, high, found)

    def after(self, step: int, limit: int) -> list[int]:
        return self.interval(step + 1, step + 1 + limit)

    def before(self, step: int, limit: int) -> list[int]:
        return self.interval(step - limit, step)

    def aggregate(self, low: int, high: int) -> tuple[int, int, int, float, float]:
        return self._aggregate(self.root, low, high - 1)

    def _aggregate(self, node: Node | None, low: int, high: int) -> tuple[int, int, int, float, float]:
        if node is None or node.high < low or high < node.low:
            return 0, 0, 0, 0.0, float("-inf")
        if low <= node.low and node.high <= high:
            return len(node.ids), node.errors, node.actions, node.total, node.peak
        a, b = self._aggregate(node.left, low, high), self._aggregate(node.right, low, high)
        return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], max(a[4], b[4])

    def first_error(self, low: int) -> int | None:
        return self._first_error(self.root, low)

    def _first_error(self, node: Node | None, low: int) -> int | None:
        if node is None or node.errors == 0 or node.high < low:
            return None
        if node.low == node.high:
            return node.low
        found = self._first_error(node.left, low)
        return self._first_error(node.right, low) if found is None else found

    def top(self, k: int, low: int, high: int) -> list[int]:
        return heapq.nlargest(k, self.interval(low, high), key=lambda step: self.events[step].importance)
