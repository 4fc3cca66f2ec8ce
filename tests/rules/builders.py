"""Columns, tables and random conditions for the tests of the condition language."""

import math

import numpy as np
from hypothesis import strategies as st

from rulewright.data import Column, ColumnSchema, Table
from rulewright.rules import (
    Adds,
    And,
    Conjunction,
    Coverage,
    Labels,
    Not,
    Or,
    Presence,
    Range,
    Rule,
    negate,
)

KNOWN_LABELS = ("blue", "green", "red")
ANY_TEXT = st.text(max_size=8) | st.sampled_from(["and", "true", "a b", 'say "x"', "5", "Größe"])
ANY_TEXT |= st.text('n("\\)or ', max_size=8) | st.sampled_from(["n(or)", "not(x)", "n(x)(y)"])
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def numeric(values, name="a"):
    """Make a numeric column; NaN is missing."""
    return Column(ColumnSchema(name, "numeric"), np.array(values, dtype=np.float64))


def nominal(codes, name="color", labels=KNOWN_LABELS):
    """Make a nominal column; -1 is missing, -2 an unseen label."""
    return Column(ColumnSchema(name, "nominal", tuple(labels)), np.array(codes, dtype=np.int32))


def table(*columns):
    """Make a table without target and weights."""
    return Table(columns, True, len(columns[0].values), None, None)


def a_rule(body, head, response, support, class_weights, outcome=Adds):
    """Make a rule from plain numbers."""
    return Rule(body, outcome(head, response), Coverage(support, class_weights))


@st.composite
def ranges(draw, names=ANY_TEXT, bounds=FINITE):
    """Draw any valid range."""
    low, high = sorted((draw(bounds), draw(bounds)))
    low_open, high_open = (draw(st.booleans()), draw(st.booleans())) if low < high else (False,) * 2
    sides = draw(st.sampled_from(["low", "high", "both"]))
    return Range(
        draw(names),
        -math.inf if sides == "high" else low,
        math.inf if sides == "low" else high,
        low_open,
        high_open,
    )


def label_conditions(names=ANY_TEXT, labels=ANY_TEXT):
    """Draw any valid condition on labels."""
    return st.builds(Labels, names, st.lists(labels, min_size=1).map(tuple), st.booleans())


def presences(names=ANY_TEXT):
    """Draw any condition on presence."""
    return st.builds(Presence, names, st.booleans())


def with_opposites(plain):
    """Draw plain conditions and their opposites, of which most have alternatives."""
    return plain | plain.map(negate)


def conditions():
    """Draw any condition with any names, labels and bounds."""
    return with_opposites(ranges() | label_conditions() | presences())


def conditions_on_small_table():
    """Draw conditions on the columns a, b (numeric) and color (nominal), often repeating."""
    names = st.sampled_from(["a", "b"])
    color = st.just("color")
    labels = st.sampled_from([*KNOWN_LABELS, "unseen"])
    small = ranges(names, st.integers(-2, 3).map(float))
    return with_opposites(small | label_conditions(color, labels) | presences(names | color))


def formulas(conditions):
    """Draw formulas of and, or, not over conditions."""
    leaves = st.lists(conditions, max_size=2, unique_by=lambda c: c.column).map(
        lambda parts: Conjunction(tuple(parts))
    )

    def joined(parts):
        several = st.lists(parts, min_size=1, max_size=3).map(tuple)
        return several.map(And) | several.map(Or) | parts.map(Not)

    return st.recursive(leaves, joined, max_leaves=6)


@st.composite
def small_tables(draw):
    """Draw a table with the columns a, b and color, with missing, infinite and unseen values."""
    n_rows = draw(st.integers(0, 12))
    values = st.sampled_from([-math.inf, -2.5, -2, -1, -0.0, 0, 1, 1.5, 2, 3, math.inf, math.nan])
    a, b = (draw(st.lists(values, min_size=n_rows, max_size=n_rows)) for _ in "ab")
    codes = draw(st.lists(st.integers(-2, 2), min_size=n_rows, max_size=n_rows))
    return table(numeric(a), numeric(b, "b"), nominal(codes))
