"""What a packet may cost and when it is worth sending: the arm that an experiment varies."""

from __future__ import annotations

from dataclasses import dataclass


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
    workflows: bool = True
    epsilon: float = 0.0
