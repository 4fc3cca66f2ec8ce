"""Ratios of rules on given rows: against other packages, and their coverage on new rows."""

import numpy as np
import pytest

from rulewright import CompactRulesClassifier
from rulewright.data import ColumnSchema, Schema
from rulewright.model import HazardRules, RateRules
from rulewright.rules import Adds, NumberCoverage, Rule, parse_conjunction
from rulewright.trust import kaplan_meier_by_rule, rule_ratios

SCHEMA = Schema((ColumnSchema("x", "numeric"), ColumnSchema("z", "numeric")), named=True)


def rule(text, factor):
    return Rule(parse_conjunction(text), Adds(0, np.log(factor)), NumberCoverage(0, 0, 0))


def hazards(*rules):
    return HazardRules(SCHEMA, 0.0, rules, baseline=((1.0, 0.1),), times=(1.0,))


def draw_times(rng, n, changes=False):
    x, z = (rng.random((2, n)) < [[0.4], [0.5]]).astype(float)
    times = rng.exponential(np.exp(-0.8 * x + 0.5 * z))
    if changes:  # the hazard of x falls below and rises above that of others
        times = np.where(x == 1, rng.weibull(4, n), rng.exponential(size=n))
    ends = rng.uniform(0.25, 3, n)
    return {"x": x, "z": z}, (np.minimum(times, ends), times <= ends)


def rows_of_other_packages():
    """Draw the rows that lifelines 0.30 and statsmodels 0.15 were asked about."""
    rng, n = np.random.default_rng(5), 300
    x = (rng.random(n) < 0.4).astype(float)
    z = (rng.random(n) < 0.5).astype(float)
    times = np.round(rng.exponential(np.exp(-0.8 * x + 0.5 * z)) * 20, 1) + 0.1
    ends = rng.uniform(5, 60, n).round(1)
    counts = rng.poisson(np.exp(0.5 * x) * 1.3 * rng.gamma(2, 0.5, n))
    exposure = rng.uniform(0.5, 2, n)
    return {"x": x, "z": z}, np.minimum(times, ends), times <= ends, counts, exposure


def test_hazard_ratios_equal_lifelines():
    """Ratio, interval and the test of proportional hazards, of a model of one rule."""
    X, times, events, _, _ = rows_of_other_packages()
    found = rule_ratios(hazards(rule("x > 0.5", 3.0)), X, (times, events))
    log, error, p_value = 0.7693714023324154, 0.13762729237415378, 0.044376
    assert np.log(found.ratio[0]) == pytest.approx(log, abs=1e-6)
    assert np.log(found.high[0]) - log == pytest.approx(1.959964 * error, abs=1e-6)
    assert found.proportional[0] == pytest.approx(p_value, abs=0.02)
    assert found.fitted[0] == pytest.approx(3.0)
    assert found.events[0] == (X["x"] * events).sum()
    again = rule_ratios(hazards(rule("x > 0.5", 0.2)), X, (times, events))
    assert again.ratio[0] == pytest.approx(found.ratio[0])


def test_rate_ratios_equal_statsmodels():
    """Quasi-Poisson, with the dispersion of the rows."""
    X, _, _, counts, exposure = rows_of_other_packages()
    found = rule_ratios(RateRules(SCHEMA, 0.0, (rule("x > 0.5", 1.0),)), X, (counts, exposure))
    log, error = 0.27803155412501224, 0.1357710539146323
    assert np.log(found.ratio[0]) == pytest.approx(log, abs=1e-6)
    assert np.log(found.high[0]) - log == pytest.approx(1.959964 * error, rel=1e-4)
    assert np.isnan(found.proportional[0])
    assert "rate [95 %]" in str(found)


def test_intervals_hold_the_true_ratio():
    """Of new rows, about 95 of 100 intervals hold the ratio that they were drawn with."""
    rng, model = np.random.default_rng(0), hazards(rule("x > 0.5", 2.0), rule("z > 0.5", 0.6))
    held = []
    for _ in range(150):
        X, y = draw_times(rng, 200)
        true = hazards(rule("x > 0.5", np.exp(0.8)), rule("z > 0.5", np.exp(-0.5)))
        found = rule_ratios(true, X, y)
        held += ((found.low <= found.fitted) & (found.fitted <= found.high)).tolist()
    assert 0.92 <= np.mean(held) <= 0.98
    assert len(str(rule_ratios(model, X, y)).splitlines()) == 3


def test_changing_hazards_are_noticed():
    """The test rejects where ratios change with time, and seldom where they do not."""
    rng, model = np.random.default_rng(1), hazards(rule("x > 0.5", 2.0))
    changed = [rule_ratios(model, *draw_times(rng, 300, True)).proportional[0] for _ in range(20)]
    same = [rule_ratios(model, *draw_times(rng, 300)).proportional[0] for _ in range(100)]
    assert np.mean(np.array(changed) < 0.05) > 0.8
    assert np.mean(np.array(same) < 0.05) < 0.12


def test_sides_without_events_are_unknown():
    """A rule that covers no event, or all rows, has no ratio."""
    X = {"x": np.array([0.0, 0, 0, 1]), "z": np.array([1.0, 1, 1, 1])}
    model = hazards(rule("x > 0.5", 2.0), rule("z > 0.5", 2.0))
    found = rule_ratios(model, X, ([1.0, 2, 3, 4], [1, 1, 1, 0]))
    assert np.isnan(found.ratio).all()
    assert " - " in str(found)


def test_curves_of_both_sides():
    """Covered rows have one curve, all others another."""
    X, y = draw_times(np.random.default_rng(2), 400)
    ((inside, outside),) = kaplan_meier_by_rule(hazards(rule("x > 0.5", 2.0)), X, y)
    grid = np.array([0.2, 0.5, 1.0])
    assert (inside.at(grid) < outside.at(grid)).all()
    assert rule_ratios(hazards(rule("x > 0.5", 2.0)), X, y).log_rank[0] < 0.01


def test_other_models_are_refused():
    """Classifiers have no ratios."""
    est = CompactRulesClassifier(0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="needs a model of rates or hazards"):
        rule_ratios(est, [[0.0], [1.0]], [0, 1])
