"""What a report advises: ship, stop, continue, or that nothing can be concluded; each with its reason."""

from dataclasses import astuple, replace

import numpy as np
import pytest

from beforehand.experiment.analysis import analyse
from beforehand.experiment.definition import Experiment
from beforehand.experiment.observations import Observation
from beforehand.experiment.verdict import judge

TWO = [{"name": "control"}, {"name": "new", "policy": {"bar": 0.1}}]
OUTCOME = {"name": "outcome", "value": "outcome", "role": "primary"}
TOKENS = {"name": "tokens", "value": "packet_tokens", "role": "guardrail", "better": "lower", "margin": 20}


def experiment(**fields):
    known = {"name": "x", "arms": TWO, "metrics": [OUTCOME, TOKENS], "effect": 0.05, "units": 2_000}
    return Experiment.model_validate(known | fields)


def observed(units, gain=0.0, tokens=0.0, arms=("control", "new"), seed=1):
    draw = np.random.default_rng(seed)
    seen = []
    for at in range(units):
        number = at % len(arms)
        outcome = float(draw.random() < 0.5 + gain * number)
        cost = float(draw.normal(200 + tokens * number, 40))
        seen.append(Observation(f"u{at}", arms[number], at, {"outcome": outcome, "packet_tokens": cost}))
    return seen


def decided(observations, **fields):
    return judge(analyse(experiment(**fields), observations))


def test_a_better_arm_whose_guardrails_hold_is_shipped():
    verdict = decided(observed(2_000, gain=0.2))
    assert (verdict.decision, verdict.arm) == ("ship", "new")
    assert any("guardrail tokens holds" in reason for reason in verdict.reasons)


def test_a_better_arm_that_breaks_a_guardrail_is_stopped():
    verdict = decided(observed(2_000, gain=0.2, tokens=60))
    assert verdict.decision == "stop"
    assert "guardrail" in verdict.reasons[0]


def test_a_better_arm_whose_guardrail_is_open_goes_on():
    verdict = decided(observed(600, gain=0.4, tokens=15))
    assert verdict.decision == "continue"
    assert "guardrail tokens may be worse" in verdict.reasons[0]


def test_a_worse_arm_is_stopped():
    verdict = decided(observed(2_000, gain=-0.2))
    assert verdict.decision == "stop"
    assert "new: outcome -0." in verdict.reasons[0]


def test_an_arm_that_costs_too_much_is_stopped_before_its_outcome_is_known():
    assert decided(observed(400, tokens=80)).decision == "stop"


def test_an_effect_that_is_ruled_out_is_stopped():
    verdict = decided(observed(2_000), effect=0.2)
    assert verdict.decision == "stop"
    assert "ruled out" in verdict.reasons[0]


def test_before_the_first_look_nothing_is_said_of_the_effect():
    verdict = decided(observed(80, gain=0.4))
    assert (verdict.decision, verdict.needed) == ("continue", 20)


@pytest.mark.parametrize(("units", "gain", "decision"), [(80, 0.4, "cannot conclude"), (2_000, 0.2, "ship")])
def test_what_was_stopped_does_not_go_on(units, gain, decision):
    verdict = judge(analyse(experiment(), observed(units, gain=gain)), stopped=True)
    assert verdict.decision == decision


def test_units_whose_outcome_is_not_known_yet_do_not_make_the_first_look():
    runs = observed(400)
    known = {one.unit: {"outcome": float(one.arm == "new")} for one in runs[:30]}
    verdict = decided([replace(one, values=known.get(one.unit, {})) for one in runs])
    assert (verdict.decision, verdict.needed) == ("continue", 70)
    assert "30 units with a value" in verdict.reasons[0]


def test_an_arm_of_a_few_units_is_not_judged():
    arms = [TWO[0], {**TWO[1], "weight": 0.02}]
    runs = [Observation(f"u{at}", "control", at, {"outcome": at % 2, "packet_tokens": 1.0}) for at in range(150)]
    lucky = [Observation(f"n{at}", "new", at, {"outcome": 1.0, "packet_tokens": 1.0}) for at in range(3)]
    verdict = decided([*runs, *lucky], arms=arms)
    assert verdict.decision == "continue"
    assert verdict.reasons == ("arm 'new' has fewer than 10 units with a value",)


def test_where_an_arm_makes_runs_end_unheard_nothing_is_concluded():
    runs = observed(2_000, gain=0.2)
    unheard = {one.unit for one in runs[1::6]}
    verdict = decided([replace(one, values={} if one.unit in unheard else one.values) for one in runs])
    assert verdict.decision == "cannot conclude"
    assert "1,000 : 666 with a value" in verdict.reasons[0]


def test_an_arm_that_lost_and_one_that_can_gain_nothing_end_the_experiment():
    arms = [*TWO, {"name": "bold", "policy": {"bar": 0.01}}]
    draw = np.random.default_rng(4)
    share = {"control": 0.5, "new": 0.5, "bold": 0.2}
    runs = [
        Observation(f"u{at}", arm, at, {"outcome": float(draw.random() < share[arm]), "packet_tokens": 1.0})
        for at, arm in enumerate(["control", "new", "bold"] * 1_000)
    ]
    verdict = decided(runs, arms=arms, effect=0.15, units=6_000)
    assert verdict.decision == "stop"
    assert "ruled out: new" in verdict.reasons[0]
    assert "bold: outcome -0." in verdict.reasons[1]


@pytest.mark.parametrize(("tokens", "known"), [(5, True), (30, False)])
def test_an_open_guardrail_says_how_many_units_would_settle_it(tokens, known):
    runs = observed(120, gain=0.49, tokens=tokens)
    verdict = decided(runs)
    assert "guardrail tokens may be worse" in verdict.reasons[0]
    assert (verdict.needed is not None) is known
    if known:
        later = observed(round((verdict.needed + 120) * 1.5), gain=0.49, tokens=tokens)
        assert decided(later, units=20_000).decision == "ship"


def test_while_nothing_is_settled_it_goes_on_and_says_how_many_units_it_still_takes():
    verdict = decided(observed(600))
    assert verdict.decision == "continue"
    assert verdict.needed > 2_000


def test_after_all_planned_units_nothing_can_be_concluded_and_the_number_that_would_do_is_said():
    verdict = decided(observed(2_000))
    assert verdict.decision == "cannot conclude"
    assert "further units would see an effect of 0.05" in verdict.reasons[0]
    assert verdict.needed > 1_000


def test_without_outcomes_nothing_can_be_concluded():
    silent = [Observation(f"u{at}", TWO[at % 2]["name"], at, {}) for at in range(400)]
    verdict = decided(silent)
    assert verdict.decision == "cannot conclude"
    assert "no values of the primary metric 'outcome'" in verdict.reasons[0]


def test_of_several_arms_the_best_is_shipped_and_each_pays_for_the_others():
    arms = [*TWO, {"name": "bold", "policy": {"bar": 0.01}}]
    three = observed(3_000, gain=0.12, arms=("control", "new", "bold"))
    analysis = analyse(experiment(arms=arms), three)
    assert judge(analysis).arm == "bold"
    [new, bold] = analysis.primary
    assert bold.holm >= bold.p_always
    assert new.holm_fixed == pytest.approx(min(max(2 * bold.p_fixed, new.p_fixed), 1))
    assert new.holm == pytest.approx(min(max(2 * bold.p_always, new.p_always), 1))
    alone = analyse(experiment(), [one for one in three if one.arm != "bold"])
    assert new.interval.high - new.interval.low > alone.primary[0].interval.high - alone.primary[0].interval.low


def test_holm_counts_all_that_is_asked_besides_the_primary_metric():
    more = [{"name": f"m{at}", "value": "packet_tokens"} for at in range(4)]
    analysis = analyse(experiment(metrics=[OUTCOME, *more]), observed(400, tokens=10))
    besides = [one for one in analysis.comparisons if one.metric.role == "secondary"]
    assert besides[0].holm_fixed == pytest.approx(4 * besides[0].p_fixed)


def test_the_past_of_the_interval_ends_at_what_is_said_now():
    [primary] = analyse(experiment(), observed(1_000, gain=0.1)).primary
    assert primary.looks[-1].units == 1_000
    assert astuple(primary.looks[-1].interval) == pytest.approx(astuple(primary.interval))


def test_units_are_agents_where_agents_were_assigned():
    runs = [
        Observation(f"agent{at % 60}", TWO[at % 2]["name"], at, {"outcome": float(at % 7 < 3), "packet_tokens": 1.0})
        for at in range(1_200)
    ]
    analysis = analyse(experiment(unit="agent", first_look=20), runs)
    assert analysis.sizes.counts == (30, 30)
    assert analysis.primary[0].units == 60


def test_a_unit_without_a_value_is_counted_as_unknown():
    runs = observed(300)
    runs[4] = Observation("u4", "control", 4, {"packet_tokens": 200.0})
    [primary] = analyse(experiment(), runs).primary
    assert primary.unknown == (1, 0)
    assert primary.units == 299


DRAFTED = [{"name": "a", "weight": 0}, {"name": "b", "weight": 0, "policy": {"model": "none"}}]
BOTH = [*DRAFTED, {"name": "both", "interleave": ["a", "b"]}]


def drafted(units, share):
    draw = np.random.default_rng(2)
    wins = draw.random(units) < share
    return [
        Observation(f"u{at}", "both", at, {}, teams={"b": 1.0 + win, "a": 2.0 - win}) for at, win in enumerate(wins)
    ]


def test_drafted_packets_tell_which_ranker_is_used_more():
    verdict = judge(analyse(experiment(arms=BOTH), drafted(400, 0.8)))
    assert (verdict.decision, verdict.arm) == ("ship", "b")
    assert judge(analyse(experiment(arms=BOTH), drafted(400, 0.2))).decision == "stop"


def test_drafted_packets_of_equal_rankers_settle_nothing():
    assert judge(analyse(experiment(arms=BOTH), drafted(400, 0.5))).decision == "continue"
