"""What an experiment is, as it is written down (TOML): arms, metrics, and when it may be judged."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from beforehand import limits
from beforehand.experiment.assignment import Allocation
from beforehand.messages.values import Instant, Misfit, micros

COUNTED: Final = (
    "outcome",
    "steps",
    "failed_steps",
    "errors",
    "packets",
    "packet_tokens",
    "items",
    "used",
    "harmful",
    "missing",
)
"""What the journal knows of each run; `metrics.NAME` is what its feedback says."""
REPORTED: Final = "metrics."
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise Misfit(f"{text!r} is no name", "use at most 64 letters, digits, dots, dashes and underscores")
    return text


def _source(text: str) -> str:
    if text in COUNTED or (text.startswith(REPORTED) and len(text) > len(REPORTED)):
        return text
    raise Misfit(f"{text!r} is nothing that a run has", f"give one of {', '.join(COUNTED)}, or metrics.NAME")


Name = Annotated[str, AfterValidator(_name)]
Source = Annotated[str, AfterValidator(_source)]


class Part(BaseModel):
    """Base of the tables; an unknown key is an error, so that a typing mistake is found."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Arm(Part):
    """One arm. Its policy is the daemon's with these settings of `[policy]` instead."""

    name: Name = Field(description="its name")
    weight: Annotated[float, Field(ge=0, le=1000)] = Field(1.0, description="its share among the weights of all arms")
    policy: dict[str, Any] = Field(default_factory=dict, description="settings of [policy] that this arm changes")
    holdout: bool = Field(default=False, description="say nothing: every packet of this arm is silent")
    interleave: list[Name] = Field(
        default_factory=list, description="draft each packet from the rankers of two other arms"
    )

    @property
    def overrides(self) -> dict[str, Any]:
        """Settings that differ from the daemon's; a holdout holds back every packet."""
        return {**self.policy, "epsilon": 1.0} if self.holdout else dict(self.policy)


class Metric(Part):
    """What runs are judged by: the mean of `value`, or with `per` the ratio of two sums."""

    name: Name = Field(description="its name")
    value: Source = Field(description="what is counted of each run")
    per: Source | None = Field(None, description="divide its sum by the sum of this")
    role: Literal["primary", "secondary", "guardrail"] = Field("secondary", description="one is primary")
    better: Literal["higher", "lower"] = Field("higher", description="which way is better")
    margin: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="how much worse a guardrail may become"
    )

    @model_validator(mode="after")
    def _margin_fits(self) -> Self:
        if self.role == "guardrail" and not self.margin:
            raise Misfit("a guardrail without a margin", "say how much worse it may become, above 0", "margin")
        if self.role != "guardrail" and self.margin is not None:
            raise Misfit(f"a {self.role} metric with a margin", 'leave it out, or give role = "guardrail"', "margin")
        return self


class Experiment(Part):
    """One experiment. Nothing of it changes once it has started."""

    name: Name = Field(description="its name, for good: another experiment needs another one")
    why: str = Field("", description="what is believed, and what would be done about it")
    unit: Literal["run", "agent"] = Field("run", description="what is assigned and counted")
    layer: Name = Field("main", description="experiments of one layer never share a unit; of two, they are independent")
    slot: Annotated[list[float], Field(min_length=2, max_length=2)] = Field(
        [0.0, 1.0], description="the part of the layer that it takes"
    )
    salt: str = Field("", description="another one draws the arms anew")
    arms: Annotated[list[Arm], Field(min_length=1, max_length=limits.EXPERIMENT_ARMS)] = Field(
        description="the first with a share is the control"
    )
    metrics: Annotated[list[Metric], Field(min_length=1, max_length=limits.EXPERIMENT_METRICS)] = Field(
        description="what runs are judged by"
    )
    effect: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        description="least change of the primary metric that would matter"
    )
    units: Annotated[int, Field(ge=20)] = Field(
        description="planned units of all arms, see `beforehand experiment power`"
    )
    first_look: Annotated[int, Field(ge=20)] = Field(100, description="units before any verdict")
    alpha: Annotated[float, Field(ge=0.001, le=0.2)] = Field(
        0.05, description="chance of a false alarm, over all looks"
    )
    power: Annotated[float, Field(ge=0.5, le=0.99)] = Field(
        0.8, description="chance to see the effect when it is there"
    )
    covariate: Literal["none", "history", "family", "plan_steps"] = Field(
        "none",
        description="what is known of a unit before: its agent's mean or its task type's mean from before the start, "
        "or the length of its first plan",
    )

    @property
    def served(self) -> list[Arm]:
        """Arms that units come into; the control first."""
        return [arm for arm in self.arms if arm.weight]

    @property
    def primary(self) -> Metric:
        """The metric that decides."""
        return next(metric for metric in self.metrics if metric.role == "primary")

    @property
    def allocation(self) -> Allocation:
        """How units come into the arms."""
        return Allocation(
            self.name,
            self.layer,
            self.salt,
            self.unit,
            tuple(arm.name for arm in self.arms),
            tuple(arm.weight for arm in self.arms),
            *self.slot,
        )

    @property
    def changed(self) -> set[str]:
        """Settings that some arm changes."""
        return {setting for arm in self.arms for setting in arm.overrides}

    def arm(self, name: str) -> Arm:
        """The arm of that name."""
        return next(arm for arm in self.arms if arm.name == name)

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        first, past = self.slot
        if not 0 <= first < past <= 1:
            raise Misfit(f"a slot from {first:g} to {past:g}", "give two numbers from 0 to 1, such as [0, 0.5]", "slot")
        if self.first_look > self.units:
            problem = f"a first look at {self.first_look} of {self.units} planned units"
            raise Misfit(problem, f"give a number from 20 to {self.units}", "first_look")
        for kind, names in (("arm", [arm.name for arm in self.arms]), ("metric", [one.name for one in self.metrics])):
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice:
                raise Misfit(f"two {kind}s named {twice!r}", f"give each {kind} a name of its own", f"{kind}s")
        if sum(metric.role == "primary" for metric in self.metrics) != 1:
            raise Misfit("not exactly one primary metric", 'give one metric role = "primary"', "metrics")
        self._arms_fit()
        return self

    def _arms_fit(self) -> None:
        for arm in self.arms:
            strange = arm.policy.keys() & {"name", "gap_wait_s"}
            if strange:
                raise Misfit(
                    f"arm {arm.name!r} changes {min(strange)}", "it is the same in all arms; leave it out", "arms"
                )
            if arm.policy.get("budget_tokens") == 0:
                raise Misfit(
                    f"arm {arm.name!r} has no budget", "for an arm that says nothing give holdout = true", "arms"
                )
        plain = {arm.name for arm in self.arms if not arm.interleave}
        drafted = [arm for arm in self.arms if arm.interleave]
        for arm in drafted:
            if len(set(arm.interleave)) != 2 or not set(arm.interleave) <= plain:
                raise Misfit(f"arm {arm.name!r} drafts from {arm.interleave}", "name two other arms", "arms")
        if drafted and (len(self.served) > 1 or not self.served[0].interleave):
            raise Misfit("drafted packets beside other arms", "give all others weight = 0", "arms")
        if not drafted and len(self.served) < 2:
            raise Misfit("fewer than two arms that units come into", "give two arms a weight above 0", "arms")


class Started(Part):
    """An experiment as it was when it was started. Runs that begin from then until it is stopped are in it."""

    experiment: Experiment = Field(description="its definition, which no longer changes")
    started_at: Instant = Field(description="from when on runs are taken in")
    stopped_at: Instant | None = Field(None, description="since when none is; those that are in stay in their arm")

    def takes(self, began_us: int) -> bool:
        """Whether a run that began then (microseconds since 1970, UTC) is in it."""
        return micros(self.started_at) <= began_us and not self.over(began_us)

    def over(self, at_us: int) -> bool:
        """Whether it was stopped by then."""
        return self.stopped_at is not None and micros(self.stopped_at) <= at_us

    def stopped(self, at: datetime) -> Started:
        """The same, stopped."""
        return self.model_copy(update={"stopped_at": at})
