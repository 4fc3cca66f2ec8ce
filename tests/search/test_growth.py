"""Greedy growth against brute force over all conditions, on plain Python numbers (T3, T5)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS
from rulewright.data import read_table
from rulewright.encoding.binned import bin_table
from rulewright.kernels import ROW
from rulewright.rules import Coverage, Head
from rulewright.search import RuleGrower, SearchLimits
from rulewright.weighting import LogLikelihood

pytestmark = pytest.mark.native

TOLERANCE = 1e-8


def random_columns(rng, n_rows, n_columns):
    """Make lists of numbers and of labels, with None for missing."""
    columns = {}
    for j in range(n_columns):
        if rng.random() < 0.5:
            values = (rng.integers(0, 6, n_rows) / 2).tolist()
        else:
            values = rng.choice(list("pqrs"), n_rows).tolist()
        missing = rng.random(n_rows) < rng.choice([0.0, 0.3])
        columns[f"c{j}"] = [None if gone else v for v, gone in zip(values, missing, strict=True)]
    return columns


def brute_conditions(columns, covered, missing_conditions):
    """List (column, predicate) for every condition that the card allows on the covered rows."""
    for name, values in columns.items():
        present = {values[i] for i in covered} - {None}
        if present and all(isinstance(v, str) for v in present):
            missing = any(values[i] is None for i in covered)
            for s in present if len(present) > 1 or missing else ():
                yield name, lambda v, s=s: v is not None and v == s
                yield name, lambda v, s=s: v is not None and v != s
        for s in present:
            if isinstance(s, float) and s != max(present):
                yield name, lambda v, s=s: v is not None and v <= s
            if isinstance(s, float) and s != min(present):
                yield name, lambda v, s=s: v is not None and v >= s
        if missing_conditions and any(values[i] is None for i in covered):
            yield name, lambda v: v is None
            yield name, lambda v: v is not None


class Problem:
    """Rows with probabilities, labels and weights as plain floats."""

    def __init__(self, probabilities, labels, weights, kind, l2):
        self.p, self.y, self.w = probabilities.tolist(), labels.tolist(), weights.tolist()
        self.kind, self.l2 = kind, l2

    def criterion(self, rows, votes):
        """Return the lowest criterion over the votes."""
        best = math.inf
        for first, last in votes:
            p = {i: math.fsum(self.p[i][first : last + 1]) for i in rows}
            g = math.fsum(self.w[i] * (p[i] - (first <= self.y[i] <= last)) for i in rows)
            h = math.fsum(self.w[i] * p[i] * (1 - p[i]) for i in rows)
            newton = g / math.sqrt(max(h + self.l2, 1e-12))
            best = min(best, newton if self.kind == "newton" else g)
        return best

    def best(self, columns, covered, votes, missing_conditions, min_weight):
        """Return the lowest criterion over all conditions and votes."""
        lowest = math.inf
        for name, holds in brute_conditions(columns, covered, missing_conditions):
            kept = [i for i in covered if holds(columns[name][i])]
            if kept and sum(self.w[i] for i in kept) >= min_weight:
                lowest = min(lowest, self.criterion(kept, votes))
        return lowest


@st.composite
def problems(draw):
    """Draw a small table in a random state of a fit, and how to search it."""
    rng = np.random.default_rng(draw(SEEDS))
    n_rows, n_classes = draw(st.integers(2, 50)), draw(st.sampled_from([2, 2, 3, 4]))
    columns = random_columns(rng, n_rows, draw(st.integers(1, 4)))
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.choice([0.5, 1.0, 1.0, 2.0], n_rows)
    start = rng.normal(size=n_classes)
    ordinal = draw(st.booleans())
    state = LogLikelihood(labels, weights, start, ordinal=ordinal, weigh_rows=True)
    scores = np.tile(start, (n_rows, 1))
    for _ in range(draw(st.integers(0, 3))):
        moved = np.flatnonzero(rng.random(n_rows) < 0.5).astype(ROW)
        head = state.heads[rng.integers(len(state.heads))]
        state.add(moved, head, 0.8)
        scores[moved, head.classes] += 0.8
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    kind, l2 = draw(st.sampled_from(["newton", "gradient"])), draw(st.sampled_from([0.0, 1.0]))
    head = draw(st.sampled_from([None, *state.heads]))
    rows = np.flatnonzero(rng.random(n_rows) < draw(st.sampled_from([0.5, 1.0]))).astype(ROW)
    limits = SearchLimits(
        min_weight=draw(st.sampled_from([0.0, 0.0, 3.0])), missing_conditions=draw(st.booleans())
    )
    return columns, Problem(p, labels, weights, kind, l2), state, rows, head, limits


@examples(250)
@given(problems(), st.sampled_from(["midpoint", "observed"]))
def test_each_condition_is_the_best_of_all(case, threshold):
    """Every condition has the lowest criterion of all conditions on the rows still covered."""
    columns, problem, state, rows, head, limits = case
    table = read_table(columns)
    binned = bin_table(table)
    compiled = limits.compile(table.schema, state.unit)
    score = state.score(problem.kind, problem.l2, head)
    found = RuleGrower(binned, threshold).grow(binned.codes, rows, state.stats, score, compiled)
    votes = state.heads if head is None else [head]
    options = limits.missing_conditions, limits.min_weight
    covered, best = rows.tolist(), 0.0
    for condition, criterion in zip(*steps(found), strict=True):
        expected = problem.best(columns, covered, votes, *options)
        assert criterion == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert criterion < best - TOLERANCE
        covered = [i for i in covered if condition.accepts(columns[condition.column][i])]
        assert problem.criterion(covered, votes) == pytest.approx(criterion, rel=1e-9, abs=1e-9)
        best = criterion
    if found is not None:
        voted = state.head_of(score, found.vote)
        assert problem.criterion(covered, [voted]) == pytest.approx(best, rel=1e-9)
    assert problem.best(columns, covered, votes, *options) > best - TOLERANCE - 1e-9


def steps(found):
    if found is None:
        return (), ()
    return found.conditions, [condition.criterion for condition in found.grown]


def test_the_cover_of_a_found_rule_is_that_of_its_conditions():
    """Tests on codes and conditions on values cover the same rows of the table."""
    rng = np.random.default_rng(4)
    table = read_table(random_columns(rng, 200, 4))
    labels = rng.integers(0, 3, 200).astype(np.int32)
    state = LogLikelihood(labels, np.ones(200), np.zeros(3))
    binned = bin_table(table)
    limits = SearchLimits(missing_conditions=True).compile(table.schema, state.unit)
    grower = RuleGrower(binned, "midpoint")
    rows = np.arange(0, 200, 2, dtype=ROW)
    found = grower.grow(binned.codes, rows, state.stats, state.score("newton", 1.0), limits)
    weights = state.class_weights(found.cover(binned.codes), np.ones(200, np.bool_))[1].tolist()
    rule = found.rule(Head(1, 1), 0.5, Coverage.of(tuple(weights)))
    np.testing.assert_array_equal(np.flatnonzero(rule.body.holds(table)), found.cover(binned.codes))
    assert (
        rule.coverage.support == sum(rule.coverage.class_weights) == len(found.cover(binned.codes))
    )
    assert (rule.head, rule.outcome.value) == ((1, 1), 0.5)


def test_a_flag_that_is_set_or_missing_is_a_condition():
    """Where a column has one label and missing values, `= label` decides between them."""
    flags = ["X", None, "X", None, None, "X"] * 10
    labels = np.array([flag == "X" for flag in flags], dtype=np.int32)
    table = read_table({"noise": [0.5, 1.5] * 30, "flag": flags})
    state = LogLikelihood(labels, np.ones(60), np.zeros(2))
    binned = bin_table(table)
    limits = SearchLimits().compile(table.schema, state.unit)
    found = RuleGrower(binned, "midpoint").grow(
        binned.codes, np.arange(60, dtype=ROW), state.stats, state.score("newton", 1.0), limits
    )
    assert [str(condition) for condition in found.conditions] == ["flag = X"]
    np.testing.assert_array_equal(found.cover(binned.codes), np.flatnonzero(labels))
