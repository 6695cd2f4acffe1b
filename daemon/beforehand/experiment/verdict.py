"""What to do: ship, stop, continue, or that nothing can be concluded; each with its reason and what would be needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, isfinite, sqrt
from typing import Final, Literal

from beforehand.experiment.analysis import DRAFTED, Analysis, Comparison
from beforehand.experiment.power import units_sequence

LEAST: Final = 10
"""Units with a value that each arm needs before anything is said of it."""
Decision = Literal["ship", "stop", "continue", "cannot conclude"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision. arm: the one to ship. needed: further units until the primary metric can be judged, when known."""

    decision: Decision
    reasons: tuple[str, ...]
    arm: str | None = None
    needed: int | None = None


def judge(analysis: Analysis, *, stopped: bool = False) -> Verdict:
    """The decision as of now. What takes in no more runs cannot go on."""
    verdict = _judged(analysis)
    if stopped and verdict.decision == "continue":
        return replace(verdict, decision="cannot conclude", reasons=(*verdict.reasons, "it takes in no more runs"))
    return verdict


def _judged(analysis: Analysis) -> Verdict:
    """The sizes come first: on a mismatch no effect is looked at."""
    mismatch = _mismatch(analysis)
    if mismatch:
        return Verdict("cannot conclude", (mismatch,))
    experiment = analysis.experiment
    count, valued = sum(analysis.sizes.counts), sum(analysis.valued.counts)
    if count >= experiment.first_look and not valued:
        reason = f"no values of the primary metric {experiment.primary.name!r}"
        return Verdict("cannot conclude", (f"{reason}: agents send them in feedback, see docs/guides/experiments.md",))
    early = _early(analysis)
    if early:
        return early
    better = [one for one in analysis.primary if one.holm <= experiment.alpha and one.gain > 0]
    return _ahead(analysis, max(better, key=lambda one: one.gain)) if better else _behind(analysis)


def _early(analysis: Analysis) -> Verdict | None:
    """Before the first look, or while an arm has few units: the sequence does not hold from the first unit on."""
    experiment, valued = analysis.experiment, analysis.valued
    still = experiment.first_look - sum(valued.counts)
    if still > 0:
        known = f"{sum(valued.counts)} units with a value"
        return Verdict("continue", (f"{known}; the first look is at {experiment.first_look}",), needed=still)
    arms = zip(valued.arms, valued.counts, valued.shares, strict=True)
    short = [(ceil((LEAST - count) / share), arm) for arm, count, share in arms if count < LEAST]
    if not short:
        return None
    further, arm = max(short)
    return Verdict("continue", (f"arm {arm!r} has fewer than {LEAST} units with a value",), needed=further)


def _mismatch(analysis: Analysis) -> str | None:
    for what, sizes in analysis.stages:
        if sizes.mismatch:
            counts = " : ".join(f"{count:,}" for count in sizes.counts)
            found = f"sample ratio mismatch: {counts} {what} (p {sizes.p_always:.1g})"
            return f"{found}; find out why runs of one arm are lost before any number is believed"
    return None


def _ahead(analysis: Analysis, best: Comparison) -> Verdict:
    """An arm is better: its guardrails decide."""
    own = [one for one in analysis.comparisons if one.arm == best.arm]
    broken = [reason for one in own if (reason := _broken(one))]
    if broken:
        return Verdict("stop", (*broken, f"though {_said(best)}"))
    still = [one for one in own if _open(one)]
    if still:
        reason = f"{_said(best)}, but {_unknown(still)}"
        return _unsettled(analysis, reason, _needed_to_clear(analysis, still), "settle it if it stays as it is")
    return Verdict("ship", (_said(best), *_cleared(analysis, best.arm)), arm=best.arm)


def _behind(analysis: Analysis) -> Verdict:
    """No arm is better: whether one can be is the question."""
    experiment = analysis.experiment
    lost = {one.arm: _said(one) for one in analysis.primary if one.holm <= experiment.alpha}
    for one in analysis.comparisons:
        reason = _broken(one)
        if reason:
            lost.setdefault(one.arm, reason)
    if len(lost) == len(analysis.primary):
        return Verdict("stop", tuple(lost.values()))
    left = [one for one in analysis.primary if one.arm not in lost]
    if all(_small(one, experiment.effect) for one in left):
        reason = f"an effect of {experiment.effect:g} or more is ruled out: {_said(left[0])}"
        return Verdict("stop", (reason, *lost.values()))
    reason = f"the sequence still holds 0: {_said(left[0])}"
    return _unsettled(analysis, reason, _needed(analysis), f"see an effect of {experiment.effect:g}")


def _unsettled(analysis: Analysis, reason: str, needed: int | None, what: str) -> Verdict:
    """needed: further units, which would do `what`."""
    experiment = analysis.experiment
    count = sum(analysis.sizes.counts)
    if count < experiment.units:
        return Verdict("continue", (reason,), needed=needed)
    would = "" if needed is None else f"; about {needed:,} further units would {what}"
    return Verdict(
        "cannot conclude", (f"{reason}, and all {experiment.units:,} planned units are there{would}",), None, needed
    )


def _needed(analysis: Analysis) -> int | None:
    """Units that the sequence needs for the effect that matters, by the variance seen so far; less those there are."""
    experiment, one = analysis.experiment, analysis.primary[0]
    if not (isfinite(one.se) and one.se > 0):
        return None
    arms = len(experiment.served)
    share = 0.5 if arms < 2 else _share_of(analysis, one.arm)
    deviation = one.se * sqrt(one.units * share * (1 - share))
    alpha = experiment.alpha / max(arms - 1, 1)
    both = units_sequence(experiment.effect, deviation, alpha, experiment.power, share=share)
    return max(round(both * sum(analysis.sizes.counts) / one.units) - sum(analysis.sizes.counts), 0)


def _needed_to_clear(analysis: Analysis, still: list[Comparison]) -> int | None:
    """Units until each guardrail is within its margin, if it stays where it is now; None where it never would be."""
    count = sum(analysis.sizes.counts)
    needed = 0
    for one in still:
        worse = -one.gain
        room = (one.metric.margin or 0.0) - worse
        wide = one.harm[1] - worse if one.harm else 0.0
        if not (isfinite(wide) and room > 0):
            return None
        needed = max(needed, ceil(count * (wide / room) ** 2) - count)
    return needed


def _share_of(analysis: Analysis, arm: str) -> float:
    shares = dict(zip(analysis.sizes.arms, analysis.sizes.shares, strict=True))
    control = shares[analysis.experiment.served[0].name]
    return shares[arm] / (control + shares[arm])


def _broken(one: Comparison) -> str | None:
    """A guardrail that is worse by more than its margin, at every look."""
    if one.harm is None or one.metric.margin is None or one.harm[0] <= one.metric.margin:
        return None
    return f"guardrail {_said(one)} is worse by {one.harm[0]:.4g} at least, margin {one.metric.margin:g}"


def _open(one: Comparison) -> bool:
    """A guardrail that may still be worse by more than its margin."""
    return one.harm is not None and one.metric.margin is not None and one.harm[1] > one.metric.margin


def _cleared(analysis: Analysis, arm: str) -> list[str]:
    return [
        f"guardrail {one.metric.name} holds: worse by {one.harm[1]:.4g} at most, margin {one.metric.margin:g}"
        for one in analysis.comparisons
        if one.arm == arm and one.harm is not None
    ]


def _unknown(open_still: list[Comparison]) -> str:
    return "; ".join(
        f"guardrail {one.metric.name} may be worse by {one.harm[1]:.4g}, margin {one.metric.margin:g}"
        for one in open_still
        if one.harm is not None
    )


def _small(one: Comparison, effect: float) -> bool:
    return max(abs(one.interval.low), abs(one.interval.high)) < effect


def _said(one: Comparison) -> str:
    interval = one.interval
    name = "credit of its ranker" if one.metric.name == DRAFTED else one.metric.name
    return f"{one.arm}: {name} {interval.estimate:+.4g} [{interval.low:+.4g}, {interval.high:+.4g}]"
