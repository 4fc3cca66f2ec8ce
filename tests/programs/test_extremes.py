"""Scores, weights and costs at the ends of the range of floats: the same answers everywhere."""

import sys
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import crossed, examples
from model.builders import CHURN_SCHEMA
from rules.builders import a_rule
from rulewright import RISEClassifier
from rulewright.model import AdditiveRules, DnfModel, IsotonicSteps, RegressionRules, RuleSetVotes
from rulewright.model.forms.rule_sets import RuleSet
from rulewright.model.forms.terms import LinearTerm
from rulewright.programs import databases
from rulewright.programs.parity import adversarial_rows
from rulewright.programs.sql import write_sql
from rulewright.programs.sql_nearest import find_near
from rulewright.programs.target import CannotRunError
from rulewright.programs.targets import TARGETS
from rulewright.rules import Claims, Votes, parse_conjunction

pytestmark = pytest.mark.native

LARGEST, SMALLEST = sys.float_info.max, 5e-324
FIRST, SECOND = parse_conjunction("age <= 34"), parse_conjunction("color = red")


def additive(starts, amounts, **options):
    """Make a model of two classes from intercepts and what two rules add."""
    pairs = enumerate(zip((FIRST, SECOND), amounts, strict=True))
    rules = [a_rule(body, k, amount, 1.0, (1.0, 1.0)) for k, (body, amount) in pairs]
    return AdditiveRules(CHURN_SCHEMA, ["a", "b"], starts, tuple(rules), **options)


SCORES = {str(size): size for size in (709.8, 745.2, 1e300, LARGEST / 4)}
DECIDED = {
    "plain": {},
    "costs": {"decision": ((0.0, 372.5), (0.0, 0.0))},
    "extreme costs": {"decision": ((0.0, SMALLEST), (1e307, 0.0))},
    "steps": {"steps": (IsotonicSteps((-1e300, 700.0), (SMALLEST, 1e-300, 0.9)),) * 2},
}


@crossed("every size and every decision is met", ("size", "options"), SCORES, DECIDED)
def test_scores_beyond_the_range_of_exp(size, options):
    """Scores that differ by more than exp can tell give probabilities of 0 and 1 everywhere."""
    for model in (
        additive((0.0, size), (size, -size), **options),
        additive((-size, size), (-size / 3, size / 3), **options),
        additive((0.0, 0.0), (-size, size), **options),
    ):
        report = model.verify_exports()
        assert report.targets == ("duckdb", "sqlite", "python", "javascript")
        chances = model.predict_proba({"age": [30.0, None], "color": ["red", None]})
        np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def votes(priors, smoothing, weight=0.5):
    """Make a model of two classes, each with a rule set and one that never votes for it."""
    sets = tuple((RuleSet((k,), 1.0 - weight), RuleSet((), weight)) for k in range(2))
    rules = tuple(
        a_rule(body, k, 1.0 - weight, 3.0, (1.0, 1.0), Votes)
        for k, body in enumerate((FIRST, SECOND))
    )
    classes = np.array(["a", "b"])
    return RuleSetVotes(CHURN_SCHEMA, classes, rules, sets, priors, 0.5, {}, smoothing)


@pytest.mark.parametrize("priors", [(0.0, 1.0), (SMALLEST, 1e300), (1e300, 1e308), (1e-300, 0.0)])
@pytest.mark.parametrize("smoothing", [0.0, SMALLEST, 1e100, LARGEST / 2])
@pytest.mark.parametrize("weight", [1e-300, 0.5])
def test_votes_with_extreme_priors_and_smoothing(priors, smoothing, weight):
    """Large and tiny priors and smoothing give finite answers that are the same everywhere."""
    model = votes(priors, smoothing, weight)
    model.verify_exports()
    chances = model.predict_proba({"age": [30.0, None], "color": ["red", None]})
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=0, atol=1e-12)


def test_a_smoothing_that_sums_to_infinity_is_refused():
    """A smoothing beyond half of the largest float is refused."""
    with pytest.raises(ValueError, match="smoothing must be finite"):
        votes((1.0, 1.0), LARGEST)


@pytest.mark.parametrize("response", [SMALLEST, 1e-300, 1.0])
@pytest.mark.parametrize("weights", [(0.0, 1e308, 1e-300), (SMALLEST, 0.0, LARGEST)])
def test_dnf_with_extreme_weights(response, weights):
    """Tiny precisions and large class weights give the same probabilities everywhere."""
    rules = tuple(
        a_rule(body, k, response, 1.0, (1.0,) * 3, Claims) for k, body in enumerate((FIRST, SECOND))
    )
    DnfModel(
        CHURN_SCHEMA, np.array(["a", "b", "c"]), rules, 2, weights, weights[::-1]
    ).verify_exports()


@pytest.mark.parametrize(
    ("model", "guard"),
    [
        (additive((0.0, 740.0), (-800.0, 1e300)), "> float8 '-708.0' THEN EXP("),
        (
            additive((0.0, 740.0), (-800.0, 0.0), decision=((0.0, 1e-310), (0.5, 0.0))),
            "> float8 '2e-300' THEN ",
        ),
        (votes((1e-300, 1e300), 1e300), "> float8 '-744.4' THEN ("),
        (
            RegressionRules(
                CHURN_SCHEMA, 1.0, (), linear=(LinearTerm("age", -1.0, 1.0, 0.0, 1.0, (1e-5,)),)
            ),
            "LN(ABS(float8 '1e-05')) + LN(ABS(",
        ),
    ],
)
def test_postgres_is_kept_from_underflow(model, guard, monkeypatch):
    """PostgreSQL calls an underflow an error: the SQL for it avoids one, with the same answers."""
    assert guard in model.to_sql(dialect="postgres")
    assert guard not in model.to_sql()

    def to_postgres(program, table, dialect, keep):
        return write_sql(program, table, "postgres", keep)

    monkeypatch.setitem(TARGETS, "sql", replace(TARGETS["sql"], write=to_postgres))
    model.verify_exports(["duckdb"])


@pytest.mark.parametrize("classes", [["p", "q", "p", "p"], ["q", "p", "p", "q"]])
def test_near_rules_are_apart_where_their_squares_are(classes):
    """Distances whose squares are rounded to 0 tie, and no others, in SQL as in the model."""
    X = np.array([[0.0], [1.58e-162], [0.5], [1.0]])
    RISEClassifier().fit(X, classes).model_.verify_exports(["duckdb", "sqlite"])


@given(st.floats(-1e300, 1e300), st.floats(5e-324, 1e300), st.sampled_from([-1.0, 1.0]))
@examples(300)
def test_the_last_near_number_is_exact(bound, width, side):
    """The square of its distance is 0, and that of the next number is not."""
    near = find_near(bound, side * width)
    after = np.nextafter(near, side * np.inf)
    assert ((near - bound) / width) ** 2 == 0.0
    with np.errstate(over="ignore"):
        assert ((after - bound) / width) ** 2 > 0.0


def test_postgres_scales_tiny_numbers_without_underflow():
    """Columns of a huge range are scaled, which would take the smallest numbers to 0."""
    X = np.array([[-1e308], [0.0], [1e-320], [1e308]])
    model = RISEClassifier().fit(X, ["p", "q", "p", "q"]).model_
    assert "CASE WHEN ABS(LEAST(GREATEST(" in model.to_sql(dialect="postgres")
    model.verify_exports(["duckdb"])


def test_rows_without_memory_are_not_verified(monkeypatch):
    """Labels may be too long for a database: it is not run, with the reason."""
    model = RegressionRules(CHURN_SCHEMA, 1.0, (), {})

    monkeypatch.setattr(duckdb, "connect", Full)
    with pytest.raises(CannotRunError, match="DuckDB has not enough memory"):
        databases.run_duckdb(write_sql, model.program, adversarial_rows(model.program))
    assert "duckdb was not run" in str(model.verify_exports())


class Full:
    """A connection to a database that has no memory for rows."""

    def __enter__(self):
        return self

    def __exit__(self, *given):
        return None

    def execute(self, query, rows=None):
        if rows is not None:
            raise duckdb.OutOfMemoryException("Out of Memory Error: Failed to allocate")
