"""How many messages an agent may send: a token bucket for each, as long as it is not full."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from beforehand import limits

Key = tuple[str, str]
"""Tenant and agent."""
_ROUNDING_S: Final = 1e-6
LIMITED_S: Final = 60.0
"""How long after a message of it was refused an agent is named as limited."""


@dataclass(slots=True)
class Rates:
    """messages_per_s: of each agent, in the long run. burst: how many it may send at once after a pause.

    The generic cell rate algorithm (ITU-T I.371): of a bucket only the time is kept at which it will be full again.
    At most limits.RATED_AGENTS are kept; past that the one heard of least recently counts as full.
    """

    messages_per_s: float
    burst: int
    _full_s: OrderedDict[Key, float] = field(default_factory=OrderedDict)
    _refused_s: OrderedDict[Key, float] = field(default_factory=OrderedDict)

    def wait_s(self, key: Key, now_s: float) -> float:
        """0 when one message may come now, which takes it; else seconds until one may."""
        full_s = max(self._full_s.get(key, now_s), now_s)
        wait_s = full_s - now_s - (self.burst - 1) / self.messages_per_s
        if wait_s > _ROUNDING_S:
            return wait_s
        self._full_s[key] = full_s + 1 / self.messages_per_s
        self._full_s.move_to_end(key)
        if len(self._full_s) > limits.RATED_AGENTS:
            self._full_s.popitem(last=False)
        return 0.0

    def note(self, key: Key, now_s: float) -> bool:
        """A message of this agent was refused. True when none was for LIMITED_S: that is worth a line."""
        before_s = self._refused_s.pop(key, float("-inf"))
        self._refused_s[key] = now_s
        if len(self._refused_s) > limits.RATED_AGENTS:
            self._refused_s.popitem(last=False)
        return now_s - before_s >= LIMITED_S

    def limited(self, now_s: float) -> list[str]:
        """`tenant/agent` of those of whom a message was refused within LIMITED_S, the latest first."""
        recent = ((key, at_s) for key, at_s in reversed(self._refused_s.items()) if now_s - at_s < LIMITED_S)
        return ["/".join(key) for key, _ in recent]
