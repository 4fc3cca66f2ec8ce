"""Charts of models show the figures of reports, with titles, words and more than colours."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from markupsafe import escape

import rulewright as rw
from builders import every_learner, mixed_table, mlrules, ripper
from rulewright.data import DataError
from rulewright.model import class_of_interest, strongest
from rulewright.report.answers import ask_model
from rulewright.report.curves import (
    calibration_curve,
    gain_curve,
    precision_curves,
    risk_curve,
    roc_curves,
)
from rulewright.rules import Adds, Coverage, Head

pytestmark = pytest.mark.native


def make_rows(n_classes, n_rows=150):
    X, y = mixed_table(np.random.default_rng(1), n_rows, n_classes=n_classes)
    X["day"] = np.datetime64("2024-01-01") + np.arange(n_rows).astype("m8[D]")
    return rw.read_table(X, target=np.array(["bad", "good", "top"])[y])


TWO, THREE = make_rows(2), make_rows(3)
NUMBERS = rw.read_table(
    TWO.X, target=np.nan_to_num(TWO["a"].values) * 10 + TWO["c"].values, task="regression"
)
OF_TWO, OF_THREE = mlrules().fit(TWO), mlrules().fit(THREE)
OF_DAYS = mlrules(max_rules=3).fit(TWO.X[["day", "c"]], np.arange(150) < 70)
OF_NUMBERS = rw.CompactRulesRegressor(random_state=0, cv=2).fit(NUMBERS)

CHARTS = {
    "roc": lambda: rw.plot_roc(OF_TWO, TWO),
    "roc of three": lambda: rw.plot_roc(OF_THREE, THREE),
    "gain": lambda: rw.plot_gain(OF_TWO, TWO),
    "precision": lambda: rw.plot_precision_recall(OF_THREE, THREE),
    "calibration": lambda: rw.plot_calibration(OF_TWO, TWO),
    "risk": lambda: rw.plot_risk_coverage(OF_TWO, TWO),
    "confusion": lambda: rw.plot_confusion(OF_THREE, THREE),
    "predictions": lambda: rw.plot_predictions(OF_NUMBERS, NUMBERS),
    "residuals": lambda: rw.plot_residuals(OF_NUMBERS, NUMBERS),
    "rules": lambda: rw.plot_rules(OF_TWO),
    "rules of numbers": lambda: rw.plot_rules(OF_NUMBERS),
    "explanation": lambda: rw.plot_explanation(OF_TWO.explain(TWO[:3]), 1),
    "explanation of three": lambda: rw.plot_explanation(OF_THREE.explain(THREE[:1])),
    "explanation of a number": lambda: rw.plot_explanation(OF_NUMBERS.explain(NUMBERS[:1])),
    "sizes": lambda: rw.plot_sizes(OF_NUMBERS),
    "importance": lambda: rw.plot_importance(OF_TWO),
    "importance of terms": lambda: rw.plot_importance(OF_TWO, TWO, "terms", n_bars=3),
    "dependence": lambda: rw.plot_dependence(OF_TWO, TWO, "a"),
    "dependence on labels": lambda: rw.plot_dependence(OF_NUMBERS, NUMBERS, "color"),
    "dependence on two": lambda: rw.plot_dependence(OF_THREE, THREE, ["a", "color"]),
    "dependence on dates": lambda: rw.plot_dependence(OF_DAYS, TWO, "day"),
    "interactions": lambda: rw.plot_interactions(OF_TWO, TWO),
}
every_chart = pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS)


def layers(chart):
    """Give all layers of all parts of a chart."""
    whole = chart.to_dict()
    return [layer for part in whole.get("concat", [whole]) for layer in part["layer"]]


def drawn(chart, place=0):
    """Give the rows of a layer."""
    whole = chart.to_dict()
    data = layers(chart)[place].get("data", whole.get("data"))
    return data["values"] if "values" in data else whole["datasets"][data["name"]]


@every_chart
def test_charts_say_what_they_show(make):
    """Titles of both axes, a title and a description that is not the title; drawn without NaN."""
    chart = make()
    content = chart.to_dict()
    json.dumps(content, allow_nan=False)
    title = content["title"] if isinstance(content["title"], str) else content["title"]["text"]
    assert content["description"].startswith(f"{title}. ")
    assert any(letter.isdigit() for letter in content["description"].removeprefix(title))
    first = layers(chart)[0]["encoding"]
    assert first["x"]["title"]
    # the labels of bars say what they are
    assert first["y"]["title"] or "split(" in first["y"]["axis"]["labelExpr"]


@pytest.mark.parametrize("name", ["rules", "dependence on dates", "dependence on two"])
def test_saved_charts_have_labels(name, tmp_path):
    """Readers of screens find the description in the file."""
    chart = CHARTS[name]()
    rw.save_chart(chart, tmp_path / "chart.svg")
    label = f'<svg role="img" aria-label="{escape(chart.to_dict()["description"])}"'
    assert (tmp_path / "chart.svg").read_text().startswith(label)


def test_dates_are_dates():
    """Days are drawn on an axis of moments, and written as such."""
    chart = rw.plot_dependence(OF_DAYS, TWO, "day")
    assert layers(chart)[0]["encoding"]["x"]["type"] == "temporal"
    assert "lowest at day 2024-0" in chart.to_dict()["description"]
    page = rw.report_html(OF_DAYS, TWO.X, np.arange(150) < 70)
    assert re.search(r"Effect of day\. Lowest: \S+ \(\S* ?2024-0", page)


@pytest.mark.parametrize(
    ("plot", "curves"),
    [(rw.plot_roc, roc_curves), (rw.plot_precision_recall, precision_curves)],
)
def test_curves_are_those_of_reports(plot, curves):
    """Each class has the points of its curve; dashes tell classes apart without colours."""
    expected = curves(ask_model(OF_THREE.model_, THREE, "").select_known())
    chart = plot(OF_THREE, THREE)
    for curve in expected:
        rows = [row for row in drawn(chart) if row["name"] == curve.name]
        np.testing.assert_allclose([row["x"] for row in rows], curve.x)
        np.testing.assert_allclose([row["y"] for row in rows], curve.y)
    encoding = layers(chart)[0]["encoding"]
    for channel in ("color", "strokeDash"):
        looks = encoding[channel]["scale"]["range"]
        assert len({str(look) for look in looks}) == len(expected)


def test_calibration_and_risk_are_those_of_reports():
    """Points have the intervals of the curve; the axes are in percent."""
    known = ask_model(OF_TWO.model_, TWO, "").select_known()
    chart, expected = rw.plot_calibration(OF_TWO, TWO), calibration_curve(known)
    points = drawn(chart, 1)
    np.testing.assert_allclose([row["low"] for row in points], expected.low)
    np.testing.assert_allclose([row["y"] for row in points], expected.y)
    np.testing.assert_allclose(
        [row["y"] for row in drawn(rw.plot_risk_coverage(OF_TWO, TWO))], risk_curve(known).y
    )
    assert layers(chart)[0]["encoding"]["x"]["axis"]["format"] == "~%"


def test_confusion_counts_rows():
    """Cells hold the rows by true and predicted class, right ones have a check mark."""
    predicted = OF_THREE.predict(THREE)
    for cell in drawn(rw.plot_confusion(OF_THREE, THREE)):
        here = (THREE.y == cell["true"]) & (predicted == cell["predicted"])
        assert cell["rows"] == here.sum()
        assert cell["share"] == pytest.approx(here.sum() / (THREE.y == cell["true"]).sum())
        assert ("✓" in cell["text"]) == (cell["true"] == cell["predicted"])


def test_weights_count():
    """A row of weight 2 is a row twice."""
    weights = np.where(np.arange(len(TWO)) % 2, 2.0, 1.0)
    twice = TWO.take(np.repeat(np.arange(len(TWO)), weights.astype(int)))
    weighted = drawn(rw.plot_roc(OF_TWO, TWO.X, TWO.y, sample_weight=weights))
    np.testing.assert_allclose(
        [row["y"] for row in weighted], [row["y"] for row in drawn(rw.plot_roc(OF_TWO, twice))]
    )


@every_learner
def test_rules_of_every_form(make):
    """The first bars are the rules to read first, with their numbers."""
    model = make().fit(TWO).model_
    rows = drawn(rw.plot_rules(model, n_bars=2)) if len(model) else []
    assert len(rows) == min(2, len(model))
    for k, row in enumerate(rows, start=1):
        assert row["text"].startswith(f"{k}: ")
        place = strongest(model, None)[k - 1]
        outcome = model.rules[place].outcome
        other = outcome.otherwise if isinstance(outcome, Adds) else 0.0
        sign = 1 if model.rules[place].head.first == class_of_interest(model) else -1
        assert row["value"] == pytest.approx(sign * (outcome.value - other))
        assert str(model.rules[place].body) in row["text"]


def test_directions_have_colours_and_a_legend():
    """Bars to the right raise the class of interest; the legend says so, the title is in words."""
    chart = rw.plot_rules(OF_TWO)
    color = layers(chart)[0]["encoding"]["color"]
    interest = class_of_interest(OF_TWO.model_)
    names = OF_TWO.model_.class_names
    assert color["scale"]["domain"] == [
        f"raises the probability of {names[1 - interest]}",
        f"raises the probability of {names[interest]}",
    ]
    assert len(set(color["scale"]["range"])) == 2
    assert color["legend"]
    for row in drawn(chart):
        assert row["effect"].endswith(names[interest]) == (row["value"] >= 0)
    title = chart.to_dict()["title"]
    assert "AdditiveRules" not in json.dumps(title)
    of_three = drawn(rw.plot_rules(OF_THREE))
    for i, row in zip(strongest(OF_THREE.model_, len(of_three)), of_three, strict=True):
        rule = OF_THREE.model_.rules[i]
        assert row["effect"].endswith(rule.head.text(OF_THREE.model_.class_names))


def test_changes_of_a_row_add_up():
    """Start and changes sum to the probability, or to the number."""
    explanation = OF_TWO.explain(TWO[:5])
    for row in range(5):
        bars = drawn(rw.plot_explanation(explanation, row, n_bars=3))
        start = float(explanation.reason_table(row)[1].change)
        total = explanation.probabilities[row, explanation.chosen[row]]
        assert start + sum(bar["value"] for bar in bars) == pytest.approx(total, abs=0.001)
    numbers = OF_NUMBERS.explain(NUMBERS[:1])
    bars = drawn(rw.plot_explanation(numbers))
    start = OF_NUMBERS.model_.intercept
    assert start + sum(b["value"] for b in bars) == pytest.approx(numbers.scores[0])


def test_models_from_files(tmp_path):
    """A loaded model is drawn as the estimator that it comes from."""
    OF_TWO.model_.save(tmp_path / "m.json")
    loaded = rw.load_model(tmp_path / "m.json")
    assert rw.plot_roc(loaded, TWO).to_dict() == rw.plot_roc(OF_TWO, TWO).to_dict()


@pytest.mark.parametrize(
    ("plot", "match"),
    [
        (lambda: rw.plot_roc(OF_NUMBERS, NUMBERS), "plot_roc needs a classifier"),
        (lambda: rw.plot_residuals(OF_TWO, TWO), "plot_residuals needs a regression model"),
        (lambda: rw.plot_roc(OF_TWO, TWO.X), "plot_roc needs y"),
        (lambda: rw.plot_rules("model.json"), "plot_rules needs a model with rules"),
        (lambda: rw.plot_sizes(OF_TWO), "plot_sizes: .* compress a model"),
        (lambda: rw.plot_explanation(OF_TWO.explain(TWO[:2]), 2), "row=2: there are 2 rows"),
        (lambda: rw.plot_explanation(ripper().fit(TWO).explain(TWO[:1])), "have no numbers"),
    ],
)
def test_errors_name_the_remedy(plot, match):
    """What cannot be drawn is refused in words."""
    with pytest.raises(ValueError, match=match):
        plot()


def test_one_class_has_no_curves():
    """Rows of a single class have neither hits nor misses."""
    with pytest.raises(DataError, match="rows of two classes"):
        rw.plot_roc(OF_TWO, TWO[TWO.y == "good"])


def test_curves_are_of_the_class_that_is_named():
    """`positive` chooses the class of ROC, precision and gain; several classes have none."""
    known = ask_model(OF_TWO.model_, TWO, "").select_known()
    for place, name in enumerate(known.names):
        expected = gain_curve(replace(known, positive=place))
        rows = drawn(rw.plot_gain(OF_TWO, TWO, positive=name))
        np.testing.assert_allclose([row["y"] for row in rows][: len(expected.y)], expected.y)
    with pytest.raises(ValueError, match="needs a model of two classes"):
        rw.plot_roc(OF_THREE, THREE, positive=known.names[0])
    with pytest.raises(ValueError, match="plot_roc draws several"):
        rw.plot_gain(OF_THREE, THREE)


def test_rules_of_a_model_with_one_class():
    """A file may hold a model of one class, whose rules have signs but no second class."""
    one = replace(
        OF_TWO.model_,
        classes=OF_TWO.classes_[:1],
        intercepts=(0.0,),
        rules=tuple(
            replace(rule, outcome=Adds(Head(0, 0), value), coverage=Coverage.of((1.0,)))
            for rule, value in zip(OF_TWO.model_.rules, (-1.0, 2.0), strict=False)
        ),
        summary={},
        steps=None,
    )
    assert "raises the probability of bad" in rw.plot_rules(one).to_json()
