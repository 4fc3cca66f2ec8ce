"""Monitoring: counts in Python and SQL, figures by hand, alarms, and the page."""

import json
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

from budget import n_examples
from rulewright import (
    CN2Classifier,
    CompactRulesRegressor,
    MLRulesClassifier,
    RipperClassifier,
    read_table,
)
from rulewright.data import DataError
from rulewright.governance import monitor
from rulewright.governance.monitoring.monitor import stability_index

pytestmark = pytest.mark.native


def rows(seed, n, *, shift=0.0, flipped=0.0, unseen=0.0, missing=0.1):
    """Draw loans; the income may shift, outcomes may flip, labels may be new."""
    rng = np.random.default_rng(seed)
    income = rng.normal(30 + shift, 8, n).round(1)
    late = rng.poisson(1.0, n).astype(float)
    purpose = rng.choice(["car", "home", "it's"], n).astype(object)
    risk = 3 * late - 0.3 * (income - 30) + 6 * (purpose == "car") - 4
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "late", "repaid")
    y = np.where(rng.random(n) < flipped, "late", y)
    late[rng.random(n) < missing] = np.nan
    purpose[rng.random(n) < unseen] = "boat"
    return pd.DataFrame({"income": income, "late": late, "purpose": purpose, "y": y})


def months(parts):
    """Give each part its month."""
    dated = [part.assign(day=f"2024-{m:02d}-1{m % 9}") for m, part in enumerate(parts, start=1)]
    return pd.concat(dated, ignore_index=True)


def learn(make, target="y"):
    table = rows(0, 800)
    table = table.assign(y=table["income"] + 3.0) if target == "number" else table
    task = "regression" if target == "number" else "classification"
    return make.fit(read_table(table, target="y", task=task)).model_


@pytest.fixture(scope="module")
def model():
    return learn(MLRulesClassifier(20, random_state=0))


def test_counts_by_hand(model):
    """Rows, rules, missing values and outcomes are counted as pandas counts them."""
    data = months([rows(1, 300), rows(2, 200, missing=0.4, unseen=0.3)])
    found = monitor(model, data, "day", "y", unit="month", reference=rows(0, 800))
    assert found.periods == ("2024-01", "2024-02")
    assert found.counts.rows.tolist() == [300, 200]
    second = data[data["day"].str.startswith("2024-02")]
    assert found.shares("late", "missing")[1] == pytest.approx(second["late"].isna().mean())
    assert found.shares("purpose", "unseen")[1] == pytest.approx(
        (second["purpose"] == "boat").mean()
    )
    covers = model.covers(second)
    places = {number: i for i, number in enumerate(model.numbers)}
    for one in found.coverage:
        assert one.shares[1] == pytest.approx(covers[:, places[one.rule]].mean())
    for one in found.precision:
        rule = model.rules[places[one.rule]]
        own = second["y"][covers[:, places[one.rule]]] == model.class_names[rule.head.first]
        assert one.shares[1] == pytest.approx(own.mean())
        assert (one.low, one.high) == rule.share_interval
    chances = model.predict_proba(second)[:, found.plan.place]
    gap = (second["y"] == model.class_names[found.plan.place]).mean() - chances.mean()
    assert found.calibration[1] == pytest.approx(gap)
    assert found.figures["accuracy"][1] == pytest.approx(
        (model.predict(second) == second["y"]).mean()
    )
    assert set(found.figures) == {"accuracy", "log-loss", "calibration error", "AUC"}


@pytest.mark.parametrize("kind", ["additive", "list", "unordered", "regression"])
def test_the_query_counts_what_python_counts(kind):
    """DuckDB and SQLite give the same counts in one query, and the same monitor."""
    makers = {
        "additive": MLRulesClassifier(6, random_state=0),
        "list": RipperClassifier(random_state=0),
        "unordered": CN2Classifier(random_state=0),
        "regression": CompactRulesRegressor(max_rules=4, size="max", random_state=0),
    }
    drawn = learn(makers[kind], "number" if kind == "regression" else "y")
    data = months([rows(m, 120, unseen=0.1) for m in range(1, 4)])
    if kind == "regression":
        data = data.assign(y=data["income"] + 1.0)
    found = monitor(drawn, data, "day", "y", unit="month")
    query = found.plan.to_sql("loans", "day", "y", letters=7)
    with duckdb.connect() as database:
        database.register("loans", data)
        answers = database.execute(query).fetchall()
    lite = sqlite3.connect(":memory:")
    lite.create_function("exp", 1, np.exp)
    data.to_sql("loans", lite, index=False)
    others = lite.execute(
        found.plan.to_sql("loans", "day", "y", dialect="sqlite", letters=7)
    ).fetchall()
    for rows_ in (answers, others):
        counts = found.plan.read(rows_)
        assert counts.periods == ("2024-01", "2024-02", "2024-03")
        for name, array in vars(found.counts).items():
            if name == "periods":
                continue
            other = getattr(counts, name)
            assert (array is None) == (other is None), name
            if array is not None:
                both = np.concatenate([getattr(found.reference, name), array])
                assert both == pytest.approx(other, rel=1e-9), name


def test_stability_index_by_hand():
    """PSI is the sum of (q - p) ln(q / p) over bins, with half a row in each."""
    p, q = np.array([50.5, 50.5]) / 101, np.array([90.5, 10.5]) / 101
    index = stability_index(np.array([50.0, 50.0]), np.array([[90.0, 10.0], [50.0, 50.0]]))
    assert index.tolist() == pytest.approx([((q - p) * np.log(q / p)).sum(), 0.0])


def test_changes_raise_alarms(model):
    """A shifted column raises an alarm of coverage, other outcomes one of precision."""
    reference = rows(99, 3000)
    calm = [rows(m, 400) for m in range(1, 7)]
    still = monitor(model, months(calm), "day", unit="month", reference=reference)
    assert not still.alarms
    assert (still.score_psi < 0.25).all()
    shifted = [*calm[:3], *(rows(m, 400, shift=8.0) for m in range(4, 7))]
    found = monitor(model, months(shifted), "day", unit="month", reference=reference)
    assert {one.what for one in found.alarms} == {"coverage"}
    assert all(one.alarm >= 3 for one in found.alarms)
    flipped = [*calm[:3], *(rows(m, 400, flipped=0.6) for m in range(4, 7))]
    found = monitor(model, months(flipped), "day", "y", unit="month", reference=reference)
    assert {one.what for one in found.alarms} == {"precision"}
    assert "expected" in str(found)
    assert found.periods[found.alarms[0].alarm] in str(found)


def test_no_alarms_without_a_change(model):
    """Of streams without a change at most the promised share ever has an alarm."""
    n = n_examples(40)
    raised = 0
    for seed in range(n):
        parts = [rows(1000 + 20 * seed + m, 100) for m in range(8)]
        raised += bool(monitor(model, months(parts), "day", unit="month", alpha=0.2).alarms)
    assert raised <= 0.2 * n + 1


def test_the_first_period_is_the_reference(model):
    """Without reference rows the first period is compared with the others."""
    data = months([rows(m, 150) for m in range(1, 4)])
    found = monitor(model, data, "day", unit="month")
    assert found.reference.periods == ("2024-01",)
    assert found.periods == ("2024-02", "2024-03")
    content = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert content["periods"] == ["2024-02", "2024-03"]
    assert len(content["rules"]) == len(model.rules)


def test_the_page_shows_everything(model):
    """The page has a chart for each figure, column and rule, and escapes names."""
    data = months([rows(m, 150) for m in range(1, 4)]).rename(columns={"y": "<y>"})
    page = monitor(model, data, "day", "<y>", unit="month").to_html()
    n_columns = len(model.columns)
    assert page.count("<svg") == 3 + 4 + 1 + 3 * n_columns + 2 * len(model.rules)
    assert "http" not in page.replace("http-equiv", "")
    assert page.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "month"}, "no such column"),
        ({"by": "purpose", "unit": "month"}, "is no date"),
        ({"by": "day", "unit": "week"}, "use one of"),
        ({"by": "late"}, "have no period"),
        ({"by": "day", "alpha": 0.0}, "alpha"),
        ({"by": ["a"]}, "1 periods for"),
        ({"by": "fixed"}, "one period"),
    ],
)
def test_errors(model, options, message):
    """Wrong periods and options are named."""
    data = months([rows(1, 50)]).assign(fixed="x")
    with pytest.raises((DataError, ValueError), match=message):
        monitor(model, data, **options)


def test_numbers_are_periods_in_order(model):
    """Periods that are numbers are sorted as numbers."""
    data = pd.concat([rows(m, 30).assign(week=m) for m in (2, 10, 9)])
    assert monitor(model, data, "week").periods == ("9", "10")


@pytest.mark.full("five hundred streams")
def test_many_streams_without_a_change(model):
    """Of five hundred streams at most alpha have an alarm, with outcomes from the model itself."""
    rng, raised, n = np.random.default_rng(0), 0, 500
    for seed in range(n):
        parts = [rows(10_000 + 20 * seed + m, 100) for m in range(10)]
        data = months(parts)
        chances = model.predict_proba(data)[:, 0]
        data = data.assign(y=np.where(rng.random(len(data)) < chances, *model.class_names))
        raised += any(one.what == "coverage" for one in monitor(model, data, "day", "y").alarms)
    assert raised <= 0.05 * n
