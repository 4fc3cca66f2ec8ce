"""Ordered categories are divided at thresholds, of which the models keep sets of labels."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from builders import c45rules, cn2, compact, mlrules, part, ripper, rulefit, slipper, stump
from rulewright import load_model, read_table
from rulewright.model import parse_model
from rulewright.model.scales import Scales, scale_lines, write_condition
from rulewright.rules import (
    AnyOf,
    Conjunction,
    Labels,
    Presence,
    parse_conjunction,
    parse_formula,
    parse_order,
)

pytestmark = pytest.mark.native

SIZES = ["tiny", "small", "medium", "large", "huge"]
learners = pytest.mark.parametrize(
    "make", [mlrules, slipper, compact, rulefit, ripper, c45rules, part, stump, cn2]
)


def make_rows(n_rows=200):
    """Rows whose class depends on whether the size is at least medium, with gaps."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(SIZES), n_rows)
    y = np.where((codes >= 2) != (rng.random(n_rows) < 0.05), "yes", "no")
    codes[rng.random(n_rows) < 0.1] = -1
    frame = pd.DataFrame({"size": pd.Categorical.from_codes(codes, SIZES, ordered=True)})
    return frame.assign(noise=rng.random(n_rows)), y


X, Y = make_rows()


@learners
def test_conditions_are_runs_of_labels(make):
    """Each condition on the column has neighbouring labels, and some rule finds the threshold."""
    model = make().fit(X, Y).model_
    found = [
        condition
        for rule in model.rules
        for condition in rule.body.conditions
        if isinstance(condition, Labels)
    ]
    assert found
    for condition in found:
        places = sorted(map(SIZES.index, condition.labels))
        assert not condition.negated
        assert places == list(range(places[0], places[-1] + 1))
    at_threshold = [set(SIZES[2:]), set(SIZES[:2])]
    assert any(set(condition.labels) in at_threshold for condition in found)
    assert (model.predict(X[X["size"].notna()]) == Y[X["size"].notna()]).mean() > 0.9


@learners
def test_models_are_saved_exported_and_answer_new_labels(make, tmp_path):
    """Files have no new field, all exports agree, and an unseen label is in no set of labels."""
    model = make().fit(X, Y).model_
    assert "ranked" not in json.dumps(model.content())
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded == model
    odd = pd.DataFrame({"size": ["gigantic", None, "huge"], "noise": 0.5})
    np.testing.assert_array_equal(loaded.covers(odd), model.covers(odd))
    only = [
        i
        for i, rule in enumerate(model.rules)
        if any(isinstance(condition, Labels) for condition in rule.body.conditions)
        and "missing" not in str(rule.body)
    ]
    assert not model.covers(odd)[:2, only].any()
    model.verify_exports()
    for rule in model.rules:
        assert parse_conjunction(str(rule.body)) == rule.body


def test_the_order_survives_a_dataframe():
    """Pandas and pyarrow say whether categories are ordered; an Enum of polars always is."""
    table = read_table(X)
    assert table.schema["size"].ranked
    unordered = read_table(X.assign(size=X["size"].cat.as_unordered()))
    assert not unordered.schema["size"].ranked
    for backend in ("pandas", "pyarrow", "polars"):
        again = read_table(table.to_frame(backend)).schema["size"]
        assert again.ranked
        assert again.labels == table.schema["size"].labels
        assert not read_table(unordered.to_frame(backend)).schema["size"].ranked
    codes = pa.array([0, 1])
    ordered = pa.DictionaryArray.from_arrays(codes, pa.array(["b", "a"]), ordered=True)
    assert read_table(pa.table({"a": ordered})).schema["a"].ranked
    assert read_table(pd.DataFrame({"a": pd.cut(pd.Series([1, 5]), [0, 2, 6])})).schema["a"].ranked


def test_labels_without_rows_have_their_place():
    """A cut between labels of which one has no rows divides them at its middle, as of numbers."""
    gap = X[~X["size"].isin(["small", "medium"])]
    model = stump().fit(gap, np.where(gap["size"].isin(["large", "huge"]), "yes", "no")).model_
    sets = {c.labels for r in model.rules for c in r.body.conditions if isinstance(c, Labels)}
    assert {tuple(sorted(SIZES[:2])), tuple(sorted(SIZES[:3]))} & sets


@pytest.mark.parametrize("make", [mlrules, compact, ripper, part])
def test_texts_compare_ordered_labels(make, tmp_path):
    """A model prints the first and the last labels as bounds; its text and file keep them."""
    model = make().fit(X, Y).model_
    text = model.to_text()
    assert "\nordered labels: size: tiny < small < medium < large < huge\n" in text
    assert "size >= medium" in text or "size <= small" in text
    assert "{" not in text.partition("#")[2]
    model.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").to_text() == text
    read = parse_model(text)
    np.testing.assert_allclose(read.predict_proba(X), model.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (SIZES[2:], "size >= medium"),
        (SIZES[:2], "size <= small"),
        (SIZES[1:3], "size in {small, medium}"),
        (["tiny", "huge"], "size in {tiny, huge}"),
        (["huge"], "size = huge"),
        (SIZES, "size in {tiny, small, medium, large, huge}"),
    ],
)
def test_sets_are_written_in_the_order_of_the_labels(labels, text):
    """Sets that are no bounds list their labels in order; both are read back."""
    scales, part = Scales(orders={"size": SIZES}), Labels("size", tuple(labels))
    assert write_condition(part, scales) == text
    assert parse_formula(text, scales.orders) == Conjunction((part,))
    missing = AnyOf((part, Presence("size", missing=True)))
    assert write_condition(missing, scales) == f"{text} (or missing)"
    assert parse_formula(f"{text} (or missing)", scales.orders) == Conjunction((missing,))


def test_bounds_need_a_known_label_and_an_order():
    """A bound that is no label of the order, or without an order, is an error with its place."""
    with pytest.raises(ValueError, match="at character 9: column 'size' has no label 'giant'"):
        parse_formula("size >= giant", {"size": SIZES})
    with pytest.raises(ValueError, match="at character 9: expected a number"):
        parse_formula("size >= medium")


def test_strange_names_of_labels_are_read_from_the_header():
    """Labels that need quotes are quoted in the header, too."""
    order = ("< 5", "5 < 10", "10+", "true", "a, b")
    (line,) = scale_lines(Scales(orders={"size": order}))
    assert parse_order(line.removeprefix("ordered labels: ")) == ("size", order)
