"""Ordered categories are divided at thresholds, of which the models keep sets of labels."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from builders import c45rules, cn2, compact, mlrules, part, ripper, rulefit, slipper, stump
from rulewright import load_model, read_table
from rulewright.rules import Labels, parse_conjunction

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


def test_the_order_survives_a_dataframe_and_is_not_that_of_an_enum():
    """Pandas and pyarrow say whether categories are ordered; an Enum of polars is any label."""
    table = read_table(X)
    assert table.schema["size"].ranked
    for backend in ("pandas", "pyarrow"):
        assert read_table(table.to_frame(backend)).schema["size"].ranked
    assert not read_table(table.to_frame("polars")).schema["size"].ranked
    unordered = X.assign(size=X["size"].cat.as_unordered())
    assert not read_table(unordered).schema["size"].ranked
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
