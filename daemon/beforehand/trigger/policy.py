"""What a packet may cost and when it is worth sending: the arm that an experiment varies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Appetite:
    """How readily something is said: the least probability of an item, what a token has to earn, and the bar.

    least_of_best: the share of the likeliest item's probability that another needs. least_unasked: the least
    probability of a value whose key answers none of the step's needs. brief_below: how many candidates have to be
    expected to hold something needed, or the packet is short (trigger.doubt).
    """

    threshold: float
    token_price: float
    bar: float
    least_of_best: float
    least_unasked: float
    brief_below: float


APPETITES: Final[Mapping[str, Appetite]] = {
    "frugal": Appetite(
        threshold=0.1, token_price=0.00002, bar=0.3, least_of_best=0.01, least_unasked=0.015, brief_below=0.4
    ),
    "balanced": Appetite(
        threshold=0.005, token_price=0.00002, bar=0.06, least_of_best=0.01, least_unasked=0.015, brief_below=0.4
    ),
    "generous": Appetite(
        threshold=0.0, token_price=0.0, bar=0.02, least_of_best=0.0, least_unasked=0.0, brief_below=0.0
    ),
}
"""By name. A generous step fills the budget that is left with what is likeliest; docs/reference/foresight.md has what
each costs and reaches."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One policy. Settings of the same names say what each field means (docs/reference/settings.md)."""

    name: str = "default"
    horizon: int = 2
    budget_tokens: int = 512
    window_events: int = 0
    threshold: float = 0.005
    token_price: float = 0.00002
    rule_share: float = 0.05
    bar: float = 0.06
    least_of_best: float = 0.01
    least_unasked: float = 0.015
    brief_below: float = 0.4
    other_scenes: bool = True
    workflows: bool = True
    epsilon: float = 0.0
