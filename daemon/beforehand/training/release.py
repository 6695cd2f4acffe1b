"""The gate between a trained model and its release: what it has to hold against the model in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

MEAN_SLACK: Final = 0.005
"""What the mean over sources may lose: differences of fewer points come and go with the seed."""
SOURCE_SLACK: Final = 0.02
"""What a single source may lose."""
WHETHER_SLACK: Final = 0.03
"""What telling the steps that need anything from those that do not may lose on average."""

LEAST_STEPS: Final = 20
"""Steps held back that need anything. One of them is 5 points of recall then, so fewer show nothing. A judgement."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the gate asks: `new` may be `slack` less than `old`."""

    what: str
    new: float
    old: float
    slack: float

    @property
    def holds(self) -> bool:
        """Whether it is so."""
        return self.new >= self.old - self.slack

    def __str__(self) -> str:
        said = "holds" if self.holds else "FAILS"
        return f"{self.what}: {self.new:.3f}, current {self.old:.3f}, {self.slack} less would do: {said}"


def checks(report: Mapping[str, Any]) -> list[Check]:
    """What the trees are held to; empty when there is no current model. report: as `training.making` writes it."""
    sources: Mapping[str, Mapping[str, Mapping[str, Any]]] = report["sources"]
    if not sources or any("current" not in models for models in sources.values()):
        return []
    return list(_asked(sources))


def verdict(report: Mapping[str, Any]) -> tuple[bool, list[str]]:
    """Whether the trees may replace the current model, and each check in words."""
    asked = checks(report)
    if not asked:
        return True, ["there is no current model to compare with"]
    steps = report["steps"]["held"]
    enough = steps >= LEAST_STEPS
    judged = f"steps held back that need anything: {steps}, {LEAST_STEPS} would do: {'holds' if enough else 'FAILS'}"
    return enough and all(check.holds for check in asked), [judged, *map(str, asked)]


def _asked(sources: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[Check]:
    pairs = {name: (models["trees"], models["current"]) for name, models in sources.items()}
    recalls = {name: (new["recall_at_12"], old["recall_at_12"]) for name, (new, old) in pairs.items()}
    new, old = (fmean(side) for side in zip(*recalls.values(), strict=True))
    yield Check("recall of the first 12 candidates, mean of all sources", new, old, MEAN_SLACK)
    for name, (now, before) in recalls.items():
        yield Check(f"recall of the first 12 candidates, {name}", now, before, SOURCE_SLACK)
    told = [
        (new["whether"], old["whether"]) for new, old in pairs.values() if None not in (new["whether"], old["whether"])
    ]
    if told:
        new, old = (fmean(side) for side in zip(*told, strict=True))
        yield Check("steps that need anything told from those that do not (AUC)", new, old, WHETHER_SLACK)
