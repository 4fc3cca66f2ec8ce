"""Rows ranked by their probability of a class, compared with scikit-learn and SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn import metrics

from builders import SEEDS
from rulewright.evidence import Ranking


def draw(seed, n_rows, digits=1):
    """Draw tied probabilities, classes and whole weights; both classes have rows."""
    rng = np.random.default_rng(seed)
    is_class = np.append(rng.random(n_rows) < 0.2, [True, False])
    chances = np.clip(rng.normal(0.4 + 0.2 * is_class, 0.2), 0, 1).round(digits)
    return chances, is_class, rng.integers(1, 4, n_rows + 2)


@given(SEEDS, st.integers(0, 80), st.sampled_from([1, 3]))
def test_figures_are_those_of_scikit_learn_and_scipy(seed, n_rows, digits):
    """AUC, average precision and KS, with ties and weights; a weight is so many rows."""
    chances, is_class, weights = draw(seed, n_rows, digits)
    found = Ranking.of(chances, is_class, weights.astype(float))
    area = metrics.roc_auc_score(is_class, chances, sample_weight=weights)
    assert found.auc == pytest.approx(area)
    assert found.gini == pytest.approx(2 * area - 1)
    precision = metrics.average_precision_score(is_class, chances, sample_weight=weights)
    assert found.average_precision == pytest.approx(precision)
    repeated, ours = chances.repeat(weights), is_class.repeat(weights)
    assert found.ks == pytest.approx(ks_2samp(repeated[ours], repeated[~ours]).statistic)
    assert found.share == pytest.approx(ours.mean())


@given(SEEDS, st.sampled_from([0.25, 0.5, 0.9, 1.0]))
def test_recall_at_a_precision_is_the_best_of_the_curve(seed, precision):
    """No threshold of scikit-learn's curve with this precision finds more."""
    chances, is_class, weights = draw(seed, 60)
    found = Ranking.of(chances, is_class, weights.astype(float)).recall_at(precision)
    shares, recalls, _ = metrics.precision_recall_curve(is_class, chances, sample_weight=weights)
    assert found.recall == pytest.approx(recalls[shares >= precision].max())
    if found.threshold is None:
        assert found.recall == 0
        return
    taken = chances >= found.threshold
    assert np.average(is_class[taken], weights=weights[taken]) >= precision
    assert np.average(taken[is_class], weights=weights[is_class]) == pytest.approx(found.recall)


def test_deciles_by_hand():
    """Twenty rows, four of the class: three of them at the top, one at the end."""
    chances = np.linspace(1, 0, 20)
    is_class = np.isin(np.arange(20), [0, 1, 2, 19])
    deciles = Ranking.of(chances, is_class, np.ones(20)).deciles()
    assert [one.found for one in deciles] == pytest.approx([2, 1, 0, 0, 0, 0, 0, 0, 0, 1])
    assert [one.weight for one in deciles] == [2.0] * 10
    assert deciles[0].share == pytest.approx(1.0)
    assert deciles[0].lift == pytest.approx(5.0)
    assert [one.gain for one in deciles[:3]] == pytest.approx([0.5, 0.75, 0.75])
    assert deciles[-1].gain == pytest.approx(1.0)


@given(SEEDS)
def test_deciles_share_tied_rows(seed):
    """Deciles add up to all rows, and one probability for all rows has the lift 1 everywhere."""
    chances, is_class, weights = draw(seed, 40)
    deciles = Ranking.of(chances, is_class, weights.astype(float)).deciles()
    assert sum(one.weight for one in deciles) == pytest.approx(weights.sum())
    assert sum(one.found for one in deciles) == pytest.approx(weights[is_class].sum())
    constant = Ranking.of(np.full(42, 0.3), is_class, weights.astype(float)).deciles()
    assert [one.lift for one in constant] == pytest.approx([1.0] * 10)
