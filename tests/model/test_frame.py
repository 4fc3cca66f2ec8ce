import math
from importlib import util

import pytest

from model.builders import CHURN_SCHEMA, churn_model
from rules.builders import a_rule
from rulewright.model import AdditiveRules
from rulewright.rules import Conjunction, Head

COLUMNS = [
    *("rule", "id", "if", "head", "points", "odds", "support", "weight_stay", "weight_churn"),
    *("precision", "share", "share_low", "share_high", "base_rate", "lift", "n_conditions"),
]


def test_table_by_hand():
    """The table has one line per rule with what was counted in training."""
    table = churn_model().rules_table()
    assert list(table) == COLUMNS
    first = {name: values[0] for name, values in table.items()}
    assert first["if"] == "age <= 34 and color = red"
    assert (first["rule"], first["id"], first["head"], first["points"]) == (2, 0, "churn", 0.83)
    assert math.isclose(first["odds"], math.exp(0.83))
    assert (first["support"], first["weight_stay"], first["weight_churn"]) == (120.0, 10.0, 110.0)
    assert math.isclose(first["precision"], 110 / 120)
    assert first["share_low"] < first["share"] == first["precision"] < first["share_high"]
    assert math.isnan(first["base_rate"])
    assert table["n_conditions"] == [2, 2, 2, 1, 2, 0]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library(backend):
    """Each dataframe library gives the same columns and values."""
    frame = churn_model().rules_frame(backend)
    assert type(frame).__module__.startswith(backend)
    columns = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert columns == COLUMNS
    values = frame["points"]
    values = values.to_pylist() if backend == "pyarrow" else list(values)
    assert values == churn_model().rules_table()["points"]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_heads_of_several_classes_are_text(backend):
    """One rule for several classes makes the whole column text, also for classes of numbers."""
    rules = tuple(a_rule(Conjunction(), head, 1.0, 3.0, (1.0,) * 3) for head in (0, Head(1, 2)))
    model = AdditiveRules(CHURN_SCHEMA, [1, 2, 3], (0.0,) * 3, rules)
    assert model[:1].rules_table()["head"] == [1]
    heads = model.rules_frame(backend)["head"]
    assert (heads.to_pylist() if backend == "pyarrow" else list(heads)) == ["1", "at least 2"]


def test_a_model_without_rules_has_an_empty_frame():
    """The frame of no rules has its columns and no line."""
    frame = churn_model()[:0].rules_frame()
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 0


def test_unknown_backend_is_refused():
    """A wrong backend is refused with the possible ones."""
    with pytest.raises(ValueError, match="pandas, polars, pyarrow"):
        churn_model().rules_frame("excel")


def test_first_installed_library_is_used(monkeypatch):
    """Without pandas the frame is one of polars."""
    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "pandas" else find(name))
    assert type(churn_model().rules_frame()).__module__.startswith("polars")


def test_no_library_gives_the_remedy(monkeypatch):
    """Without any dataframe library the error says what to install."""
    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install pandas.*rules_table"):
        churn_model().rules_frame()
