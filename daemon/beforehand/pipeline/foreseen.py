"""A decision for one step, with all that explains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from beforehand.context.choice import Choice
from beforehand.pipeline.shadow import Opinion
from beforehand.trigger.decision import Decided
from beforehand.trigger.doubt import BRIEF_TOKENS
from beforehand.trigger.rules import Fault, Firing

_EXPLAINED: Final = 64


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What was decided for a step. `missing`: parts that it had to do without; `decision` explains everything.

    faults: rules whose condition failed. error: why there is no decision at all, else None. quiet: why there are no
    choices, when it is not the arithmetic that says so. trial: what `pipeline.trials` did, for the journal.
    expected: how many candidates are expected to hold something needed, None without a model. brief: so few that the
    packet is short.
    """

    choices: list[Choice]
    missing: Sequence[str]
    searched: int
    firings: Sequence[Firing] = ()
    decided: Decided | None = None
    finds: int = 0
    faults: Sequence[Fault] = ()
    error: str | None = None
    shadow: Opinion | None = None
    quiet: str | None = None
    expected: float | None = None
    brief: bool = False
    trial: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def failed(cls, error: str) -> Self:
        """There is no decision."""
        return cls([], [], 0, error=error)

    def room(self, budget_tokens: int) -> int:
        """The tokens of the packet, of `budget_tokens` that it may have."""
        return min(budget_tokens, BRIEF_TOKENS) if self.brief else budget_tokens

    def decision(self) -> dict[str, Any]:
        """The whole arithmetic, best candidates first; made when it is wanted, since most refreshes are not sent."""
        return {
            "rules": [
                {"name": firing.rule.name, "score": firing.score, "warning": firing.warning} for firing in self.firings
            ],
            "faults": [{"name": fault.rule, "problem": fault.problem} for fault in self.faults],
            "error": self.error,
            "trial": dict(self.trial),
            "finds": self.finds,
            "expected": None if self.expected is None else round(self.expected, 4),
            "brief": self.brief,
            "candidates": 0 if self.decided is None else len(self.decided.candidates),
            "considered": None if self.decided is None else self.decided.explained(_EXPLAINED),
            "shadow": None if self.shadow is None or self.decided is None else self.shadow.told(self.decided),
        }
