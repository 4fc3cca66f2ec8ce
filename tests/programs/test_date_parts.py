"""Rules on parts of dates: text, files, every export, explanations and changes of a row."""

import json

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from rulewright import CompactRulesClassifier, RipperClassifier, load_model
from rulewright.data import read_like, read_table
from rulewright.explain import counterfactual
from rulewright.model import AdditiveRules, model_schema, parse_model
from rulewright.report import report_html
from rulewright.report.whatif import panel_columns, panel_rows
from rulewright.rules import Adds, Coverage, Head, Rule, parse_conjunction, parse_formula
from rulewright.scale import fit_partitions

TEXTS = (
    "month(signup) >= 11",
    "weekday(signup) in {Sat, Sun} and hour(signup) <= 8",
    "3 <= month(signup) <= 5 and signup >= 2022-07-01",
    "weekday(signup) != Mon and month(signup) = 2",
    "hour(signup) is missing",
    "hour(signup) > 20 (or missing)",
)


def a_frame(n_rows=900):
    rng = np.random.default_rng(0)
    seconds = rng.integers(0, 3 * 365 * 86400, n_rows).astype("m8[s]")
    frame = pd.DataFrame({"signup": np.datetime64("2021-01-01T00:00:00") + seconds})
    frame["x"] = rng.normal(size=n_rows)
    frame.loc[::17, "signup"] = pd.NaT
    day = frame.signup.dt
    early = (day.day_of_week >= 5) & (day.hour < 9)
    return frame, np.where((day.month >= 11) | early, "yes", "no")


FRAME, Y = a_frame()
TABLE = read_table(FRAME, date_parts=["signup", "signup:hour"], target=Y)


def a_model():
    """Make rules with every kind of condition on parts."""
    rules = [
        Rule(parse_conjunction(text), Adds(Head(1, 1), 2.0**i), Coverage.of((1.0, 2.0)))
        for i, text in enumerate(TEXTS)
    ]
    return AdditiveRules(TABLE.schema, np.array(["no", "yes"]), (10.5, 0.0), tuple(rules))


@pytest.mark.parametrize("text", TEXTS)
def test_conditions_on_parts_are_read_from_their_text(text):
    """A part is the name of a column, so the text of rules needs no other grammar."""
    assert str(parse_formula(text)) == text


@pytest.mark.parametrize("target", ["duckdb", "sqlite", "python", "javascript", "onnx"])
def test_exports_compute_parts(target):
    """Every export that runs here gives the answers of the model on adversarial rows."""
    assert a_model().verify_exports([target]).targets == (target,)


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery", "sqlserver", "spark"])
def test_translations_compute_parts(dialect):
    """The SQL for warehouses gives the same answers when translated."""
    assert a_model().verify_exports([dialect]).translated == (dialect,)


def test_exports_need_only_the_dates():
    """Inputs are columns of the data, and values of parts have names that SQL can hold."""
    model = a_model()
    assert model.inputs == ("signup",)
    space = {}
    exec(model.to_python(), space)
    assert space["predict_proba_label"]({"signup": "2023-11-05"}) == model.predict(
        pd.DataFrame({"signup": ["2023-11-05"]})
    )
    assert "AS month_signup" in model.to_sql(dialect="bigquery")


@pytest.mark.parametrize("learner", [CompactRulesClassifier, RipperClassifier])
def test_rules_on_parts_are_learned_saved_and_explained(learner, tmp_path):
    """Learners need nothing more; the file keeps the parts, and predicts from dates."""
    model = learner(random_state=0).fit(TABLE).model_
    assert "month(signup) >= 11" in str(model)
    assert (model.predict(FRAME) == Y).mean() > 0.98
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded == model
    Draft202012Validator(model_schema()).validate(json.loads((tmp_path / "m.json").read_text()))
    assert (loaded.predict(FRAME) == model.predict(TABLE)).all()
    row = FRAME[FRAME.signup.dt.month == 12].iloc[[0]]
    assert "month(signup) >= 11" in str(loaded.explain(row))


def test_changes_move_dates_and_their_parts_together():
    """A change names a date; its month, weekday and hour follow from it."""
    model = a_model()
    found = counterfactual(model, {"signup": "2023-06-10T12:44:30"}, X=FRAME, n=5)
    assert found.fewest
    assert all(one.columns == ("signup",) for one in found)
    for one in found:
        after = pd.DataFrame({"signup": [one.changes[0].after]})
        assert model.predict(after)[0] == one.answer != found.answer
    fixed = counterfactual(model, {"signup": "2023-06-10"}, immutable=["signup"])
    assert not len(fixed)
    later = counterfactual(model, {"signup": "2023-06-10"}, monotone={"signup": "increasing"})
    assert all(one.changes[0].after > "2023-06-10" for one in later)


def test_parts_of_dropped_dates_change_with_them():
    """Where rules may not use the dates, changes still name them."""
    table = read_table(FRAME, date_parts=["signup"], drop=["signup"], target=Y)
    model = CompactRulesClassifier(random_state=0).fit(table).model_
    assert "signup" not in model.schema
    assert model.inputs[0] == "signup"
    row = FRAME[FRAME.signup.dt.month == 12].iloc[[0]]
    assert "signup" in counterfactual(model, row, X=FRAME)[0].columns


def test_parts_are_read_in_partitions(tmp_path):
    """A fit on partitions takes the same option, and keeps the order of weekdays."""
    parts = []
    for i in range(3):
        parts.append(tmp_path / f"{i}.parquet")
        FRAME[i::3].assign(y=Y[i::3]).to_parquet(parts[-1])
    est = CompactRulesClassifier(random_state=0)
    est = fit_partitions(est, parts, "y", date_parts=["signup"])
    assert est.model_.schema["weekday(signup)"].labels[0] == "Mon"
    assert (est.model_.predict(FRAME) == Y).mean() > 0.9


def test_the_panel_of_a_report_asks_for_dates():
    """A page has one input for a date, and shows and starts from the dates of rows."""
    model, table = a_model(), read_like(FRAME, TABLE.schema)
    assert [column["name"] for column in panel_columns(model, table)] == ["signup"]
    rows = panel_rows(model, table, np.array([0, 1]))
    assert rows["values"] == {"signup": [None, str(FRAME.signup[1]).replace(" ", "T")]}
    assert "month(signup)" in report_html(model, FRAME, y=Y)


def test_the_ends_of_months_and_weekdays_are_read_from_the_text():
    """``month(signup) = 12`` and ``weekday(signup) >= Sat`` stand for the conditions of rules."""
    y = np.where((FRAME.signup.dt.month == 12) | (FRAME.signup.dt.day_of_week >= 5), "yes", "no")
    model = CompactRulesClassifier(random_state=0).fit(TABLE, y).model_
    text = model.to_text()
    assert "month(signup) = 12" in text
    assert "weekday(signup) >= Sat" in text
    read = parse_model(text, model.schema)
    np.testing.assert_allclose(read.predict_proba(FRAME), model.predict_proba(FRAME), atol=1e-9)
