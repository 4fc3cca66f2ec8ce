"""Statistics, certificates and conformal sets on rows of groups count groups."""

import numpy as np
import pytest

from builders import mlrules, noisy_rows
from rulewright import CompactRulesRegressor
from rulewright.data import draw_one_each, read_table
from rulewright.evidence import measures
from rulewright.explain import EvaluatedRows, answers_on
from rulewright.trust import abstain_at, conformal, held_out_certificate, rule_statistics

pytestmark = pytest.mark.native

COPIES = 5


@pytest.fixture(scope="module")
def model():
    """Give a model for rows of two classes."""
    return mlrules(max_rules=8).fit(*noisy_rows(0, 400)).model_


@pytest.fixture(scope="module")
def rows():
    """Give new rows, and the same rows five times with their groups."""
    X, y = noisy_rows(1, 300)
    return (X, y), (np.repeat(X, COPIES, axis=0), np.repeat(y, COPIES)), np.repeat(range(300), 5)


def test_statistics_of_copies_are_those_of_the_rows(model, rows):
    """Intervals, p-values and discoveries are the same; only supports are five times as large."""
    once, many, groups = rows
    plain, grouped = rule_statistics(model, *once), rule_statistics(model, *many, groups=groups)
    np.testing.assert_allclose(grouped.support, COPIES * plain.support)
    for name in ("precision", "precision_low", "precision_high", "share_low", "p_value", "e_value"):
        np.testing.assert_allclose(getattr(grouped, name), getattr(plain, name), rtol=1e-6)
    naive = rule_statistics(model, *many)
    widths = [np.mean(s.precision_high - s.precision_low) for s in (naive, plain)]
    assert widths[0] < 0.6 * widths[1]
    assert "effective number 300" in str(grouped)


def test_means_of_copies_are_those_of_the_rows(rows):
    """The same for regression."""
    (X, _), (many, _), groups = rows
    y = X[:, 0] + np.random.default_rng(0).normal(size=len(X))
    model = CompactRulesRegressor(4, size="max", random_state=0).fit(X, y).model_
    plain = rule_statistics(model, X, y)
    grouped = rule_statistics(model, many, np.repeat(y, COPIES), groups=groups)
    for name in ("mean_low", "mean_high", "difference_low", "p_value"):
        np.testing.assert_allclose(getattr(grouped, name), getattr(plain, name), rtol=0.02)


def test_figures_of_copies_have_the_intervals_of_the_rows(model, rows):
    """Every figure on held-out rows has the same value and at least nearly the same interval."""
    once, many, groups = rows
    plain, grouped = (
        measures(answers_on(EvaluatedRows(model, table), "rows"))
        for table in (
            read_table(once[0], target=once[1]),
            read_table(many[0], target=many[1], groups=groups),
        )
    )
    for one, other in zip(plain, grouped, strict=True):
        assert one.key == other.key
        assert other.value == pytest.approx(one.value)
        assert other.high - other.low == pytest.approx(one.high - one.low, rel=0.05)


def test_one_row_of_each_group_calibrates(model, rows):
    """Sets, leads and certificates of copies are those of the distinct rows."""
    once, many, groups = rows
    drawn = draw_one_each(groups)
    assert len(drawn) == 300
    np.testing.assert_array_equal(groups[drawn], np.arange(300))
    sets = [conformal(model, *once), conformal(model, *many, groups=groups)]
    assert sets[0].counts == sets[1].counts
    np.testing.assert_array_equal(sets[0].thresholds, sets[1].thresholds)
    assert sets[0].coverage_bound() == sets[1].coverage_bound()
    bounds = [
        held_out_certificate(model, *once),
        held_out_certificate(model, *many, groups=groups),
        held_out_certificate(model, read_table(many[0], groups=groups), many[1]),
    ]
    assert len({str(bound) for bound in bounds}) == 1
    leads = [abstain_at(model, *once, 0.3), abstain_at(model, *many, 0.3, groups=groups)]
    assert leads[0].lead == leads[1].lead
    assert leads[1].n_rows == 300
