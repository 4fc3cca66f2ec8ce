"""FOIL: clauses that are accurate and no longer than what they explain."""

import math

import numpy as np
import pytest
from hypothesis import given

from budget import examples
from builders import SEEDS, foil, mixed_table
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.binned import bin_table
from rulewright.estimators.lists.foil.estimator import (
    clause_lengths,
    cover_by_clauses,
    short_clause,
)
from rulewright.estimators.lists.one_class import CoveringContext
from rulewright.kernels import ROW
from rulewright.search import RuleGrower, SearchLimits
from rulewright.stopping.description_length import foil_budget

pytestmark = pytest.mark.native


def problem_of(X, y):
    rows = TrainingSet.of(read_table(X, target=np.asarray(y)))
    limits = SearchLimits(not_equal=False, tolerance=1e-9)
    covering = CoveringContext.of(rows, RuleGrower(bin_table(rows.table), "observed"), limits)
    return covering.one_class(1, np.arange(rows.n_rows, dtype=ROW))


def booleans(rng, n_rows, n_columns):
    return {f"b{j}": rng.choice(["n", "y"], n_rows) for j in range(n_columns)}


def test_a_planted_formula_is_learned_without_error():
    """Three terms over Boolean columns are found, and nothing else is needed."""
    rng = np.random.default_rng(0)
    X = booleans(rng, 2000, 8)
    yes = {name: values == "y" for name, values in X.items()}
    y = (yes["b0"] & yes["b1"]) | (yes["b2"] & ~yes["b3"]) | (yes["b4"] & yes["b5"] & yes["b6"])
    est = foil(positive_class="in").fit(X, np.where(y, "in", "out"))
    assert est.score(X, np.where(y, "in", "out")) == 1.0
    new = booleans(rng, 500, 8)
    yes = {name: values == "y" for name, values in new.items()}
    y = (yes["b0"] & yes["b1"]) | (yes["b2"] & ~yes["b3"]) | (yes["b4"] & yes["b5"] & yes["b6"])
    assert est.score(new, np.where(y, "in", "out")) == 1.0
    assert len(est.model_) <= 6


def test_a_literal_costs_its_column_and_its_value():
    """Of four Boolean columns a literal takes 1 + 2 bits; k of them save log2 k!."""
    rng = np.random.default_rng(1)
    X = booleans(rng, 200, 4)
    y = (X["b0"] == "y") & (X["b1"] == "n") & (X["b2"] == "y")
    problem = problem_of(X, y.astype(int))
    clause = problem.grow(problem.rows)
    assert len(clause.tests) == 3
    expected = [3 * k - math.log2(math.factorial(k)) for k in (1, 2, 3)]
    assert clause_lengths(problem, clause) == pytest.approx(expected)


@examples(25)
@given(SEEDS)
def test_clauses_are_short_and_accurate(seed):
    """Judged by new positives and all negatives, each is right on four rows of five."""
    X, y = mixed_table(np.random.default_rng(seed), 120)
    problem = problem_of(X, y)
    left = problem.inside & (y == 1)
    for clause in cover_by_clauses(problem, 0.8):
        rows = problem.cover(clause)
        new = rows[left[rows]]
        assert len(new) >= 0.8 * (len(new) + np.sum(y[rows] == 0))
        total = left.sum() + np.sum(y == 0)
        assert clause_lengths(problem, clause)[-1] <= foil_budget(total, float(len(new)))
        assert len(new) > 0
        left[rows] = False


def test_a_clause_that_would_be_too_long_ends_before():
    """Six positives of thirty rows are soon named with fewer bits than literals on 60 columns."""
    n_cut = 0
    for seed in range(10):
        X = booleans(np.random.default_rng(seed), 30, 60)
        problem = problem_of(X, [1] * 6 + [0] * 24)
        grown, kept = problem.grow(problem.rows), short_clause(problem, problem.rows)
        lengths, sums = clause_lengths(problem, grown), problem.prefix_sums(grown, problem.rows)
        fits = [foil_budget(30.0, s.positive) for s in sums[1:]] >= np.array(lengths)
        length = len(fits) if fits.all() else int(np.argmin(fits))
        assert (0 if kept is None else len(kept.tests)) == length
        n_cut += length < len(fits)
    assert n_cut > 0


def test_random_labels_have_no_accurate_short_clause():
    """Where no clause qualifies the class has none, and the default says the shares."""
    X = {"s": ["p", "q"] * 100}
    y = np.array([0, 0, 1, 1] * 50)
    model = foil().fit(X, y).model_
    assert len(model) == 0
    assert model.default == pytest.approx((0.5, 0.5), abs=1e-6)


def test_accuracy_asked_for_is_kept():
    """A higher least accuracy gives rules that are right more often, on all rows of the class."""
    X, y = mixed_table(np.random.default_rng(2), 300, missing=0.0)
    loose, strict = (
        foil(min_accuracy=share, positive_class=1).fit(X, y).model_ for share in (0.6, 0.95)
    )
    for model, least in ((loose, 0.6), (strict, 0.95)):
        for covered in model.covers(X).T:
            assert np.mean(y[covered]) >= least
    assert len(loose) > 0
    assert len(strict) > 0


def test_every_clause_adds_the_weight_asked_for():
    """A clause covers enough rows that no clause before it does."""
    for seed in range(20):
        X, y = mixed_table(np.random.default_rng(seed), 200, missing=0.0)
        model = foil(min_weight=15.0, min_accuracy=0.5, positive_class=1).fit(X, y).model_
        reached = np.zeros(200, dtype=bool)
        for covered in model.covers(X).T:
            assert np.sum(covered & ~reached) >= 15
            reached |= covered
