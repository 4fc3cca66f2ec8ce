"""Models made to grow: what they compute and what is written stays in proportion to them."""

import numpy as np
import pytest

from budget import always
from model.builders import CHURN_SCHEMA, churn_model
from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema, read_like
from rulewright.model import AdditiveRules, RuleSetVotes
from rulewright.model.forms.rule_sets import RuleSet, term_shares
from rulewright.programs import writer
from rulewright.programs.covers import Coder
from rulewright.rules import And, AnyOf, Conjunction, Head, Labels, Not, Or, Presence, Range, Votes

pytestmark = pytest.mark.native

LABELS = tuple(f"label {i}" for i in range(500))
COLUMNS = [ColumnSchema(f"c{i}", "nominal", LABELS) for i in range(20)]
NOMINAL = Schema((*COLUMNS, ColumnSchema("x", "numeric")), named=True)
LONG = Conjunction(tuple(Labels(f"c{i}", LABELS[::2], negated=True) for i in range(20)))
LONG_FORMULAS = {
    "conjunction": LONG,
    "not": Not(Conjunction(tuple(Labels(f"c{i}", LABELS[::2]) for i in range(20)))),
    "and": And((Or((LONG, Conjunction((Presence("x", True),)))), Not(LONG))),
}


def votes(long, n_sets):
    """Make a vote of one class whose rule sets all have one long term and a short one each."""
    short = [Conjunction((Range("x", low=float(i)),)) for i in range(n_sets)]
    sets = tuple(RuleSet((0, 1 + i), 1.0 / n_sets) for i in range(n_sets))
    shares = term_shares((sets,), 1 + n_sets)
    bodies = zip([long, *short], shares, strict=True)
    rules = tuple(a_rule(body, 0, share, 1.0, (1.0,), Votes) for body, share in bodies)
    return RuleSetVotes(NOMINAL, np.array(["a"]), rules, (sets,), (1.0,))


@pytest.mark.parametrize(
    "form", always(["and"], LONG_FORMULAS, "seconds for each; each is compiled once below")
)
def test_a_long_term_of_many_rule_sets_is_written_once(form):
    """A term that many rule sets share is one column of SQL and one variable elsewhere."""
    model = votes(LONG_FORMULAS[form], 150)
    for text in (model.to_sql(), model.to_sql(dialect="postgres"), model.to_python()):
        assert 50_000 < len(text) < 1_000_000
    assert len(model.to_javascript()) < 1_000_000
    model.verify_exports()


@pytest.mark.parametrize(("form", "n_parts"), [("conjunction", 1), ("not", 20), ("and", 22)])
def test_a_long_term_of_many_rule_sets_is_compiled_once(form, n_parts):
    """Prediction tests the conjunctions of a term once, however many rule sets have it."""
    model = votes(LONG_FORMULAS[form], 1000)
    bodies = model.program.bodies
    assert len(bodies) == 1000
    covers = Coder(bodies, NOMINAL).compile(bodies)
    assert len(covers.rules.rule_starts) - 1 == 1000 + n_parts


def test_a_long_body_of_many_classes_is_written_once():
    """What a rule adds to many classes does not repeat its body for each of them in SQL."""
    n = 100
    rule = a_rule(LONG, Head(0, n - 1), 0.5, 1.0, (1.0,) * n)
    model = AdditiveRules(NOMINAL, list(range(n)), tuple(map(float, range(n))), (rule,))
    assert len(model.to_sql()) < 500_000
    model.verify_exports()


def test_short_terms_are_not_columns():
    """An ordinary model has no columns for tests."""
    assert "rw_test" not in churn_model().to_sql()
    assert "rw_test" not in votes(Conjunction((Range("x", high=1.0),)), 100).to_sql()


@pytest.mark.parametrize("write", ["to_sql", "to_python", "to_javascript"])
def test_a_text_that_is_too_long_is_refused(write, monkeypatch):
    """Writing stops with an error once the text is longer than any language can run."""
    monkeypatch.setattr(writer, "MAX_CHARACTERS", 100_000)
    rules = tuple(
        a_rule(Conjunction((Range("age", low=float(i)),)), Head(0, 99), 0.5, 1.0, (1.0,) * 100)
        for i in range(400)
    )
    model = AdditiveRules(CHURN_SCHEMA, list(range(100)), (0.0,) * 100, rules)
    with pytest.raises(ValueError, match="longer than 100,000 characters"):
        getattr(model, write)()


def test_alternatives_over_parts_of_a_column_do_not_multiply():
    """Many ranges over many parts of a column's codes need intervals in proportion, not 2^n."""
    schema = Schema((ColumnSchema("x", "numeric"), ColumnSchema("y", "numeric")), named=True)
    spans = [Range("x", float(i), float(i + 2)) for i in range(0, 120, 3)]
    condition = AnyOf((*spans, Presence("x", True)))
    body = Conjunction((condition, Range("y", low=0.0)))
    coder = Coder([body], schema, max_cuts=2)
    table = read_like({"x": [None, *np.arange(-1.0, 125.0, 0.5)], "y": [1.0] * 253}, schema)
    covers = coder.compile([body])
    assert len(covers.rules.intervals) < 500
    found = covers.matrix(coder.codes(table, 1), 1)[:, 0]
    np.testing.assert_array_equal(found, body.holds(table))
