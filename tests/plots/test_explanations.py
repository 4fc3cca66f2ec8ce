"""Charts of explanations hold the figures they show and can be saved."""

import itertools
import json

import numpy as np
import pytest

from rulewright import Growth, MLRulesClassifier, load_model
from rulewright.data import read_table
from rulewright.explain import (
    InteractionNull,
    Interactions,
    importance,
    local_effects,
    partial_dependence,
    rule_overlap,
)
from rulewright.model import RegressionRules
from rulewright.model.forms.terms import LinearTerm
from rulewright.plots import (
    dependence_chart,
    effects_chart,
    importance_chart,
    interaction_chart,
    overlap_chart,
    save_chart,
)
from rulewright.plots.style import wrap_text
from rulewright.rules import Adds, NumberCoverage, Rule, parse_formula

pytestmark = pytest.mark.native

BODIES = ["a <= 0.2", "a <= 0.5 and b > 0", "c = x", 'c != "y z" and b <= 0.4']


def make_rows(n=60):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, n)).round(1)
    a[:5] = np.nan
    return {"a": a, "b": b, "c": rng.choice(["x", "y z", "it's"], n)}


ROWS = make_rows()


def make_model():
    rules = tuple(
        Rule(parse_formula(body), Adds(0, response), NumberCoverage(10, 0, 1))
        for body, response in zip(BODIES, (1.0, -2.0, 0.5, 0.25), strict=True)
    )
    linear = (LinearTerm("b", -1.0, 1.0, 0.1, 0.5, (0.7,)),)
    schema = read_table(ROWS).schema
    return RegressionRules(schema, 2.0, rules, {"total_weight": 40.0}, linear=linear)


MODEL = make_model()
THREE = np.where(np.nan_to_num(ROWS["a"]) > 0, "p", np.where(ROWS["b"] > 0, "q", "r"))
CLASSES = MLRulesClassifier(15, random_state=0).fit(ROWS, THREE).model_
TWO = MLRulesClassifier(15, random_state=0).fit(ROWS, THREE == "p").model_
NULL = InteractionNull(
    Interactions({"a": 0.4}, {("a", "b"): 0.5, ("a", "c"): 0.1}),
    tuple(Interactions({"a": h}, {("a", "b"): h, ("a", "c"): 0.2}) for h in (0.1, 0.2, 0.3)),
)


def drawn(chart):
    """Give the data of all layers of all parts, a list of rows for each."""
    whole = chart.to_dict()
    found = []
    for part in whole.get("concat", [whole]):
        for layer in part["layer"]:
            data = layer.get("data", part.get("data", whole.get("data")))
            found.append(data.get("values") or whole["datasets"][data["name"]])
    return found


def charts():
    """Make every kind of chart."""
    yield importance_chart(importance(MODEL))
    yield importance_chart(importance(MODEL, ROWS), "terms", n_bars=2)
    for columns in ("a", "c", ("a", "b"), ("a", "c"), ("c", "a")):
        yield dependence_chart(partial_dependence(MODEL, ROWS, columns, max_points=6))
    for columns in ("a", "c", ("a", "c")):
        yield dependence_chart(partial_dependence(CLASSES, ROWS, columns, max_points=6))
    yield effects_chart(local_effects(TWO, ROWS), 7)
    yield interaction_chart(NULL)
    yield interaction_chart(NULL, 1)
    yield interaction_chart(NULL, 3)
    yield interaction_chart(NULL.observed)
    yield overlap_chart(rule_overlap(MODEL, ROWS))
    yield overlap_chart(rule_overlap(CLASSES, ROWS), n_rules=2)


def test_every_chart_is_valid_and_plain(tmp_path):
    """Altair accepts every chart, JSON knows all its values, and it is drawn."""
    for chart in charts():
        json.dumps(chart.to_dict(), allow_nan=False)
        save_chart(chart, tmp_path / "chart.svg")
        assert (tmp_path / "chart.svg").read_text().startswith("<svg")


def test_every_chart_says_what_it_shows():
    """The description repeats the title and tells the figures in words."""
    for chart in charts():
        content = chart.to_dict()
        title = content["title"] if isinstance(content["title"], str) else content["title"]["text"]
        assert content["description"].startswith(f"{title}. ")
        assert len(content["description"]) > len(title) + 20


def test_importances():
    """Bars are percents of the largest; of too many the first are drawn, and the title says so."""
    found = importance(MODEL, ROWS)
    (rows,) = drawn(importance_chart(found))
    columns = found.by_column()
    largest = max(columns.values())
    assert {row["text"]: row["value"] for row in rows} == pytest.approx(
        {name: 100 * value / largest for name, value in columns.items()}
    )
    chart = importance_chart(found, "terms", n_bars=2)
    (rows,) = drawn(chart)
    assert len(rows) == 2
    assert rows[0]["value"] == 100.0 > rows[1]["value"]
    assert rows[0]["text"] == str(found.terms[int(np.argmax(found.values))])
    assert chart.to_dict()["title"]["subtitle"] == "the first 2 of 5 rules and lines"


def corners(line):
    """Give the corners of a curve as pairs."""
    return [(row["x"], row["y"]) for row in sorted(line, key=lambda row: row["place"])]


def test_steps_with_deciles():
    """The curve has the mean predictions and jumps at thresholds; the rug has the deciles."""
    found = partial_dependence(MODEL, ROWS, "a")
    chart = dependence_chart(found, target="price")
    line, rug = drawn(chart)
    points = [
        (point[0], value) for point, value in zip(found.points, found.values[:, 0], strict=True)
    ]
    assert set(points) <= set(corners(line))
    assert {x for x, _ in set(corners(line)) - set(points)} <= set(found.edges)
    for (x, y), (next_x, next_y) in itertools.pairwise(corners(line)):
        assert x == next_x or y == next_y  # no ramps
        if y != next_y:
            assert x in found.edges
    known = ROWS["a"][5:]
    deciles = np.quantile(known, np.linspace(0, 1, 11), method="inverted_cdf")
    np.testing.assert_allclose([row["x"] for row in rug], deciles)
    encoding = chart.to_dict()["layer"][0]["encoding"]
    assert (encoding["x"]["title"], encoding["y"]["title"]) == ("a", "mean price")


def test_deciles_count_weights():
    """A row of weight 3 is three rows."""
    weights = np.where(np.arange(60) % 2, 3.0, 1.0)
    spread = partial_dependence(MODEL, ROWS, "b", sample_weight=weights).spread[0]
    rows = {name: np.repeat(values, weights.astype(int)) for name, values in ROWS.items()}
    np.testing.assert_allclose(spread, partial_dependence(MODEL, rows, "b").spread[0])


def test_classes():
    """Three classes have lines of their own; of two the difference of their scores is drawn."""
    found = partial_dependence(CLASSES, ROWS, "b")
    line, _ = drawn(dependence_chart(found))
    assert {row["score"] for row in line} == {"p", "q", "r"}
    for k, name in enumerate("pqr"):
        own = [row["y"] for row in line if row["score"] == name]
        assert set(found.values[:, k]) <= set(own)
    found = partial_dependence(TWO, ROWS, "b")
    chart = dependence_chart(found)
    drawn_values = {row["y"] for row in drawn(chart)[0]}
    assert drawn_values == set(found.values[:, 1] - found.values[:, 0])
    title = chart.to_dict()["layer"][0]["encoding"]["y"]["title"]
    assert title == "mean score of true minus score of false"


def test_bars_of_labels():
    """Bars go from the mean over the rows to the value of each label, with its share."""
    found = partial_dependence(MODEL, ROWS, "c")
    bars, tips, line = drawn(dependence_chart(found))
    assert tips == bars
    shares = [np.mean(ROWS["c"] == point[0]) for point in found.points]
    assert [row["label"] for row in bars] == [
        f"{point[0]} ({share:.0%})" for point, share in zip(found.points, shares, strict=True)
    ]
    np.testing.assert_allclose([row["value"] for row in bars], found.values[:, 0])
    mean = float(found.values[:, 0] @ np.array(shares))
    assert line[0]["value"] == pytest.approx(mean)
    assert len(dependence_chart(partial_dependence(CLASSES, ROWS, "c")).to_dict()["concat"]) == 3


def test_maps_have_a_legend(tmp_path):
    """The colours of a map are explained, once for all classes."""
    for model, title in ((MODEL, "mean price"), (CLASSES, "mean score of the class")):
        found = partial_dependence(model, ROWS, ["a", "b"], max_points=3)
        save_chart(dependence_chart(found, target="price"), tmp_path / "chart.svg")
        assert (tmp_path / "chart.svg").read_text().count(f">{title}<") == 1


def test_maps_cover_the_plane():
    """Every point has a rectangle that holds it; they meet and do not overlap."""
    found = partial_dependence(MODEL, ROWS, ["a", "b"], max_points=5)
    (cells,) = drawn(dependence_chart(found))
    assert len(cells) == len(found.points)
    for cell, point, value in zip(cells, found.points, found.values[:, 0], strict=True):
        assert cell["x"] <= point[0] <= cell["x2"]
        assert cell["y"] <= point[1] <= cell["y2"]
        assert cell["value"] == pytest.approx(value)
    area = sum((cell["x2"] - cell["x"]) * (cell["y2"] - cell["y"]) for cell in cells)
    spans = [np.ptp([point[j] for point in found.points]) for j in (0, 1)]
    assert area == pytest.approx(spans[0] * spans[1])
    (cells,) = drawn(dependence_chart(partial_dependence(MODEL, ROWS, ["c", "b"], max_points=3)))
    assert {cell["x"] for cell in cells} == {"x", "y z", "it's"}


def test_effects_add_up(tmp_path):
    """The effects on a row and the mean make up its answer, also of a loaded model."""
    MODEL.save(tmp_path / "m.json")
    found = local_effects(load_model(tmp_path / "m.json"), ROWS)
    answers = found.mean[0] + found.values.sum(axis=(1, 2))
    np.testing.assert_allclose(answers, MODEL.predict(ROWS))
    assert found.mean[0] == pytest.approx(MODEL.predict(ROWS).mean())
    bars, _ = drawn(effects_chart(found, 7, n_bars=3))
    assert [row["text"] for row in bars][-1] == "3 other terms"
    assert sum(row["value"] for row in bars) + found.mean[0] == pytest.approx(answers[7])
    frame = found.to_frame()
    assert list(frame["effect"])[:5] == found.values[0, :, 0].tolist()
    assert len(frame) == 60 * 5
    scores = local_effects(CLASSES, ROWS, {name: v[:20] for name, v in ROWS.items()})
    np.testing.assert_allclose(scores.mean + scores.values.sum(axis=1), CLASSES.scores(ROWS))
    np.testing.assert_allclose(
        scores.mean, CLASSES.scores({name: v[:20] for name, v in ROWS.items()}).mean(axis=0)
    )


def test_effects_say_which_rules_hold():
    """Rules that hold and rules that do not are told apart; the class can be chosen."""
    bars, _ = drawn(effects_chart(local_effects(MODEL, ROWS), 7))
    holds = {row["text"]: row["rule"] for row in bars}
    fired = MODEL.rules[0].body.holds(read_table(ROWS))[7]
    expected = "applies (or is a line)" if fired else "does not apply"
    assert holds[f"rule {MODEL.numbers[0]}: {MODEL.rules[0].body}"] == expected
    assert len(set(holds.values())) == 2
    found = local_effects(CLASSES, ROWS)
    bars, _ = drawn(effects_chart(found, 7, class_name="q", n_bars=99))
    assert sum(row["value"] for row in bars) == pytest.approx(found.values[7, :, 1].sum())


def test_interactions_beside_their_null():
    """Bars have H, marks the mean and deviation of the null, texts the p-value."""
    bars, ranges, _, texts = drawn(interaction_chart(NULL))
    assert [(row["text"], row["h"]) for row in bars] == [("a, b", 0.5), ("a, c", 0.1)]
    assert [(row["low"], row["high"]) for row in ranges] == [
        pytest.approx((0.1, 0.3)),
        pytest.approx((0.2, 0.2)),
    ]
    assert [row["p"] for row in texts] == ["p = 0.25", "p = 1.00"]
    (bars,) = drawn(interaction_chart(NULL.observed))
    assert [row["h"] for row in bars] == [0.5, 0.1]
    one = InteractionNull(NULL.observed, NULL.replications[:1])
    json.dumps(interaction_chart(one).to_dict(), allow_nan=False)


def test_long_texts_break_between_conditions():
    """A rule takes two lines, and says how many conditions are left out."""
    conditions = [f"column_number_{i} <= {i}.5" for i in range(6)]
    first, second = wrap_text("rule 1: IF " + " and ".join(conditions)).split("\n")
    assert first == "rule 1: IF column_number_0 <= 0.5"
    assert second == "and column_number_1 <= 1.5 and 4 more"
    assert wrap_text("rule 2: IF a <= 1 and b > 2") == "rule 2: IF a <= 1 and b > 2"
    assert wrap_text("IF c in {" + "x" * 100 + "}").endswith("…")


def test_texts_of_any_letters_are_labels(tmp_path):
    """Quotes, backslashes and line breaks in names of columns do not break the chart."""
    rows = {"a'\"\\n\n": ROWS["b"], "x": ROWS["b"]}
    fitted = MLRulesClassifier(5, growth=Growth(prune=False), random_state=0).fit(
        rows, THREE == "p"
    )
    save_chart(importance_chart(importance(fitted)), tmp_path / "chart.svg")
    save_chart(effects_chart(local_effects(fitted, rows)), tmp_path / "chart.svg")
    assert "rule 1: " in (tmp_path / "chart.svg").read_text()


def test_errors_say_what_is_needed():
    """Rows, classes and numbers of columns that do not exist are named."""
    found = local_effects(CLASSES, ROWS)
    with pytest.raises(ValueError, match="row=60: there are 60 rows"):
        effects_chart(found, 60)
    with pytest.raises(ValueError, match="class_name='s' is not one of p, q, r"):
        effects_chart(found, class_name="s")
    with pytest.raises(ValueError, match="n_columns=4 must be 1, 2 or 3"):
        interaction_chart(NULL, 4)
    with pytest.raises(ValueError, match="by='rules' must be 'columns' or 'terms'"):
        importance_chart(importance(MODEL), "rules")
