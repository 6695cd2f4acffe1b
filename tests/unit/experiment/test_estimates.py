"""Estimates against statsmodels, scipy and numbers computed with GrowthBook's gbstats 0.8.0, all to 1e-9."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, stats
from statsmodels.stats.power import tt_ind_solve_power
from statsmodels.stats.weightstats import CompareMeans

from beforehand.experiment import ratio, sequence
from beforehand.experiment.effect import difference, level
from beforehand.experiment.moments import Moments, moments, running
from beforehand.experiment.power import (
    deviation_of_share,
    power_fixed,
    units_fixed,
    units_sequence,
)


def same(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12)


@pytest.fixture
def sample():
    draw = np.random.default_rng(3)
    arm = draw.random(500) < 0.4
    before = draw.normal(1e6, 30, 500)
    outcome = before * 0.5 + draw.normal(0, 20, 500) + 3 * arm
    return arm, before, outcome


def arms_of(columns, arm):
    return moments(columns, ~arm), moments(columns, arm)


def test_a_difference_in_means_is_welchs_test(sample):
    arm, _, outcome = sample
    effect = difference(*arms_of(outcome[:, None], arm))
    known = stats.ttest_ind(outcome[arm], outcome[~arm], equal_var=False)
    assert float(effect.p_fixed()) == same(known.pvalue)
    assert float(effect.freedom) == same(known.df)
    assert [float(bound) for bound in effect.fixed(0.05)] == same(list(known.confidence_interval()))
    compared = CompareMeans.from_data(outcome[arm], outcome[~arm])
    assert float(effect.se) == same(compared.std_meandiff_separatevar)


def test_outcomes_that_do_not_vary_have_an_interval_without_width():
    arm = np.arange(40) % 2 == 1
    effect = difference(*arms_of(arm[:, None].astype(float), arm))
    assert [float(bound) for bound in effect.fixed(0.05)] == [1.0, 1.0]
    assert float(effect.p_fixed()) == 0.0


def test_an_adjusted_difference_is_the_regression_on_arm_and_covariate(sample):
    arm, before, outcome = sample
    effect = difference(*arms_of(np.column_stack([outcome, before]), arm), adjusted=True)
    design = sm.add_constant(np.column_stack([arm, before - before.mean()]))
    fitted = sm.OLS(outcome, design).fit()
    assert float(effect.estimate) == same(fitted.params[1])
    assert float(effect.theta) == same(fitted.params[2])


def test_the_variance_of_an_adjusted_difference_is_the_published_one(sample):
    arm, before, outcome = sample
    effect = difference(*arms_of(np.column_stack([outcome, before]), arm), adjusted=True)
    theta = float(effect.theta)
    parts = [np.var((outcome - theta * before)[one], ddof=1) / one.sum() for one in (arm, ~arm)]
    assert float(effect.se) == same(np.sqrt(sum(parts)))


def test_agents_with_many_runs_have_the_cluster_robust_variance():
    draw = np.random.default_rng(5)
    agent = draw.integers(0, 60, 900)
    treated_agent = draw.random(60) < 0.5
    outcome = draw.normal(0, 1, 60)[agent] + draw.normal(0, 1, 900)
    sums = np.column_stack([np.bincount(agent, outcome, 60), np.bincount(agent, minlength=60)])
    effect = difference(*arms_of(sums, treated_agent), ratio=True)
    design = sm.add_constant(treated_agent[agent].astype(float))
    plain = {"groups": agent, "use_correction": False}
    fitted = sm.OLS(outcome, design).fit(cov_type="cluster", cov_kwds=plain)
    assert float(effect.estimate) == same(fitted.params[1])
    means = np.array([outcome[treated_agent[agent] == one].mean() for one in (False, True)])
    residuals = np.bincount(agent, outcome - means[treated_agent[agent].astype(int)], 60)
    runs = np.bincount(agent, minlength=60)
    whole = 0.0
    for one in (False, True):
        chosen = treated_agent == one
        bare = (residuals[chosen] ** 2).sum() / runs[chosen].sum() ** 2
        whole += bare
    assert whole == same(fitted.bse[1] ** 2)
    small = [(treated_agent == one).sum() for one in (False, True)]
    ours = sum(
        (residuals[treated_agent == one] ** 2).sum() / runs[treated_agent == one].sum() ** 2 * count / (count - 1)
        for one, count in zip((False, True), small, strict=True)
    )
    assert float(effect.se) ** 2 == same(ours)


def test_a_ratio_and_its_sequence_are_growthbooks():
    control = _from_sums(300, [900.0, 1200.0], [[3100.0, 3800.0], [3800.0, 5300.0]])
    treated = _from_sums(310, [1000.0, 1210.0], [[3600.0, 4100.0], [4100.0, 5200.0]])
    effect = difference(control, treated, ratio=True)
    assert float(effect.estimate) == same(0.07644628099173556)
    half = float(sequence.half_width(effect.se, effect.units, 0.05, 1000))
    interval = [float(effect.estimate) - half, float(effect.estimate) + half]
    assert interval == same([0.006520654466154199, 0.14637190751731693])
    assert float(sequence.p_always(effect.estimate, effect.se, effect.units, 0.05, 1000)) == same(0.023453202250824607)
    assert float(level(control, ratio=True)[1]) ** 2 * 300 == same(0.07969272575250835)


@pytest.mark.parametrize(
    ("planned", "low", "high", "p"),
    [
        (5000, -0.008712354262629188, 0.14442663997691485, 0.1092302915406732),
        (1660, -0.005467864898229702, 0.14118215061251538, 0.08996107498507767),
    ],
)
def test_the_sequence_of_two_shares_is_growthbooks(planned, low, high, p):
    control = _from_sums(820, [451.0], [[451.0]])
    treated = _from_sums(840, [519.0], [[519.0]])
    effect = difference(control, treated)
    half = float(sequence.half_width(effect.se, effect.units, 0.05, planned))
    assert [float(effect.estimate) - half, float(effect.estimate) + half] == same([low, high])
    assert float(sequence.p_always(effect.estimate, effect.se, effect.units, 0.05, planned)) == same(p)
    assert float(effect.p_fixed()) == same(0.00502996716135562)


def test_the_p_value_is_alpha_exactly_where_the_interval_ends():
    se, units = np.array(0.02), np.array(900.0)
    edge = sequence.half_width(se, units, 0.05, 1_000)
    assert float(sequence.p_always(edge, se, units, 0.05, 1_000)) == same(0.05)


def test_a_one_sided_bound_is_nearer_than_the_two_sided_one():
    se, units = np.array(0.02), np.array([100.0, 1_000.0, 10_000.0])
    one = sequence.half_width_one_sided(se, units, 0.05, 1_000)
    two = sequence.half_width(se, units, 0.05, 1_000)
    assert (one < two).all()


def test_the_sequence_is_tightest_near_the_size_it_was_planned_for():
    deviation, units = 1.0, 2_000.0
    se = np.array(2 * deviation / np.sqrt(units))

    def wide(planned):
        return float(sequence.half_width(se, np.array(units), 0.05, planned))

    best = optimize.minimize_scalar(wide, bounds=(100, 40_000), method="bounded").x
    assert wide(units) <= 1.01 * wide(best)


def test_running_moments_are_those_of_each_beginning():
    draw = np.random.default_rng(7)
    values, chosen = draw.normal(1e5, 1, (3, 200, 2)), draw.random((3, 200)) < 0.5
    looks = [10, 50, 51, 200]
    whole = running(values, chosen, looks)
    for at, look in enumerate(looks):
        one = moments(values[:, :look], chosen[:, :look])
        assert whole.mean[:, at] == same(one.mean)
        assert whole.covariance()[:, at] == pytest.approx(one.covariance(), rel=1e-7)


def test_the_sample_ratio_is_scipys_chi_square():
    counts, shares = np.array([480, 520, 260]), np.array([0.4, 0.4, 0.2])
    assert ratio.p_chi_square(counts, shares) == same(stats.chisquare(counts, 1260 * shares).pvalue)


def test_the_always_valid_sample_ratio_is_the_dirichlet_mixture():
    counts, shares = np.array([30.0, 10.0]), np.array([0.5, 0.5])
    mixed = stats.dirichlet_multinomial(100 * shares, 40).pmf([30, 10])
    plain = stats.multinomial(40, shares).pmf([30, 10])
    assert float(ratio.p_always(counts, shares)) == same(plain / mixed)


def test_power_for_one_look_is_that_of_the_normal_test():
    assert abs(units_fixed(0.2, 1.0, 0.05, 0.8) - 2 * tt_ind_solve_power(0.2, alpha=0.05, power=0.8)) < 5
    assert power_fixed(0.2, 1.0, units_fixed(0.2, 1.0, 0.05, 0.8), 0.05) == pytest.approx(0.8, abs=0.005)


def test_from_55_to_62_in_a_hundred_needs_about_820_runs_in_each_arm():
    units = units_fixed(0.068, deviation_of_share(0.55, 0.068), 0.05, 0.8)
    assert units / 2 == pytest.approx(820, abs=15)


def test_the_sequence_needs_more_units_than_one_look_and_fewer_than_twice_as_many():
    once, always = units_fixed(0.2, 1.0, 0.05, 0.8), units_sequence(0.2, 1.0, 0.05, 0.8)
    assert once < always < 2 * once


def test_unequal_arms_need_more_units():
    assert units_fixed(0.2, 1.0, 0.05, 0.8, share=0.1) > 2.5 * units_fixed(0.2, 1.0, 0.05, 0.8)
    assert units_sequence(0.2, 1.0, 0.05, 0.8, share=0.1) > 2.5 * units_sequence(0.2, 1.0, 0.05, 0.8)


def _from_sums(count, sums, products):
    """Moments from what GrowthBook keeps: sums, and sums of products."""
    total = np.array(sums)
    scatter = np.array(products) - np.outer(total, total) / count
    return Moments(np.array(float(count)), total / count, scatter)
