"""Nearest rules: what they answer, print, explain and refuse."""

import numpy as np
import pytest
from hypothesis import given

import checker
from budget import examples
from model.builders import CHURN_ROWS, CHURN_SCHEMA, nearest_models, saved, write
from rulewright.data import read_like, read_table
from rulewright.model import ModelFileError, NearestRules, load_model
from rulewright.programs.distances import LabelDistance, NumberDistance
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import (
    Conjunction,
    Coverage,
    Labels,
    Presence,
    Range,
    Rule,
    Says,
    parse_conjunction,
)

pytestmark = pytest.mark.native

AGE = NumberDistance("age", 20.0, 60.0)
COLOR = LabelDistance("color", (0, 0, 1), 2, 1, ((0.0, 1.0, 0.5), (1.0, 0.0, 0.5), (0.5, 0.5, 0.0)))


def rule(text, shares, counts):
    return Rule(parse_conjunction(text), Says(shares), Coverage.of(counts, "left out"))


def a_model(*texts):
    rules = [
        rule(texts[0] if texts else "20 <= age <= 34 and color = red", (0.1, 0.9), (1.0, 9.0)),
        rule("40 <= age <= 60 and color = blue", (0.8, 0.2), (4.0, 1.0)),
        rule("color is missing", (0.75, 0.25), (3.0, 0.0)),
    ]
    classes, distances = np.array(["stay", "churn"]), (COLOR, AGE)
    return NearestRules(CHURN_SCHEMA, classes, tuple(rules), distances, (8.0, 10.0))


def distances_of(model, rows):
    """Add up distances as the form defines them, rule by rule."""
    table = read_like(rows, model.schema, model.columns)
    totals = np.zeros((len(table), len(model.rules)))
    for i, one in enumerate(model.rules):
        for distance in model.distances:
            for condition in one.body.conditions:
                if condition.column == distance.column:
                    totals[:, i] += gaps(distance, condition, table[distance.column]) ** 2
    return totals


def gaps(distance, condition, column):
    if isinstance(distance, NumberDistance):
        x = np.clip(column.values, *distance.limits)
        if not distance.width:
            return np.where(np.isnan(x), 1.0, 0.0)
        low, high, x = (distance.scale * part for part in (condition.low, condition.high, x))
        outside = np.maximum(np.maximum(low - x, x - high), 0.0)
        return np.where(np.isnan(x), 1.0, outside / distance.width)
    assert isinstance(condition, Labels | Presence)
    wanted = distance.missing
    if isinstance(condition, Labels):
        wanted = distance.groups[column.schema.labels.index(condition.labels[0])]
    groups = np.array([*distance.groups, distance.unseen, distance.missing])[column.values]
    return np.array(distance.table)[wanted, groups]


def test_distances_by_hand():
    """Shares of the range, tables of labels; missing numbers count 1, what no rule asks for 0."""
    model = a_model()
    expected = [
        [0.0, (10 / 40) ** 2 + 1.0, 0.0],  # 30, red; missing is of the group of red
        [1.0, 1.0 + 1.0, 0.0],  # all missing
        [0.25, (6 / 40) ** 2 + 0.25, 0.25],  # 34, a color never seen
        [(26 / 40) ** 2, 1.0, 0.0],  # 60, red
    ]
    np.testing.assert_allclose(distances_of(model, CHURN_ROWS), expected)
    assert model.deciders(CHURN_ROWS).tolist() == [0, 2, 0, 2]
    assert model.predict(CHURN_ROWS).tolist() == ["churn", "stay", "churn", "stay"]
    assert model.predict_proba(CHURN_ROWS)[:, 1].tolist() == [0.9, 0.25, 0.9, 0.25]


def test_far_values_are_held():
    """A number is at most a thousand ranges away, so other columns still count."""
    model = a_model()
    assert AGE.limits == (20.0 - 40_000.0, 60.0 + 40_000.0)
    rows = {"age": [1e308, -1e308], "color": ["red", "blue"]}
    assert model.deciders(rows).tolist() == [2, 2]
    assert model[:2].deciders(rows).tolist() == [1, 0]


def test_rules_that_decide_are_counted():
    """Weights of given rows by the rule that decides them and their class."""
    counts = a_model().decided_weights(
        CHURN_ROWS, ["churn", "stay", "stay", "churn"], [1.0, 2.0, 3.0, 4.0]
    )
    assert counts.tolist() == [[3.0, 1.0], [0.0, 0.0], [2.0, 4.0]]
    with pytest.raises(ValueError, match="y: the model has no class 'maybe'"):
        a_model().decided_weights(CHURN_ROWS, ["maybe"] * 4)


def test_text_and_explanations():
    """Rules print with what they won; a row is told how far the nearest rules are."""
    assert str(a_model()).splitlines() == [
        "NearestRules: 3 rules, 2 classes (stay, churn)",
        "The nearest rule decides, whether it covers the row or not.",
        "Counts are of training rows that it decides when each row is held out in turn.",
        "share: precision on held-out rows with 95 % interval",
        "#  probability  held-out rows     share [95 %]  rule",
        "1        0.900        9 of 10    90 % [60, 98]  "
        "IF 20 <= age <= 34 and color = red THEN churn",
        "2        0.800         4 of 5    80 % [38, 96]  "
        "IF 40 <= age <= 60 and color = blue THEN stay",
        "3        0.750         3 of 3  100 % [44, 100]  IF color is missing THEN stay",
    ]
    rows = {"age": [30.0, 38.0, None], "color": ["red", "red", "mauve"]}
    explained = a_model().explain(rows)
    assert str(explained).splitlines() == [
        "row 0: churn with probability 0.900 (stay 0.100)",
        "  reason",
        "  nearest is rule 1 for churn (covers the row): 20 <= age <= 34 and color = red",
        "  nearest of another class is rule 3 for stay (distance 0: color is red): "
        "color is missing",
        "row 1: stay with probability 0.750 (churn 0.250)",
        "  reason",
        "  nearest is rule 3 for stay (distance 0: color is red): color is missing",
        "  nearest of another class is rule 1 for churn (distance 0.01: age is 4 above): "
        "20 <= age <= 34 and color = red",
        "row 2: stay with probability 0.750 (churn 0.250)",
        "  reason",
        "  nearest is rule 3 for stay (distance 0.25: color is (unseen label)): color is missing",
        "  nearest of another class is rule 1 for churn (distance 1.25: age is missing, "
        "color is (unseen label)): 20 <= age <= 34 and color = red",
    ]
    assert [explained.rule_ids(row) for row in range(3)] == [[0], [2], [2]]
    told = explained.to_dict()["rows"][1]
    assert (told["nearest"], told["rival"]["id"]) == ({"id": 2, "distance": 0.0}, 0)


def test_a_model_without_rules():
    """It gives the smoothed shares of the classes, and says so."""
    model = a_model()[:0]
    assert model.predict_proba({"age": [1.0]}).tolist() == [[0.45, 0.55]]
    assert "always: churn with probability 0.550" in str(model)
    assert "always: there is no rule" in str(model.explain({"age": [1.0]}))
    assert model.deciders({"age": [1.0]}).tolist() == [0]
    assert model.decided_weights({"age": [1.0]}, ["stay"]).shape == (0, 2)


@given(nearest_models())
@examples(60)
def test_answers_agree_with_the_definition(model):
    """The first rule of the least distance decides; explanations say the same."""
    rows = adversarial_rows(model.program)
    if model.rules:
        totals = distances_of(model, rows)
        deciders = model.deciders(rows)
        np.testing.assert_array_equal(deciders, totals.argmin(axis=1))
        said = np.array([one.outcome.distribution for one in model.rules])
        np.testing.assert_array_equal(model.predict_proba(rows), said[deciders])
    explained = model.explain(rows)
    assert explained.text(max_rows=3)
    heads = np.array([one.head.first for one in model.rules])
    for row, rival in enumerate(explained.evidence["rival"][0][:20]):
        others = heads != heads[deciders[row]] if model.rules else heads
        assert (rival >= 0) == bool(np.any(others))
        if rival >= 0:
            assert totals[row, rival] == totals[row, others].min()


@given(nearest_models())
@examples(60)
def test_every_export_of_nearest_rules(model):
    """SQL, Python and JavaScript answer as the native program."""
    assert len(model.verify_exports().targets) == 4


def many_rules(n_rules, n_columns):
    """Make rules that are more, and longer, than a step of SQL can hold."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(n_columns)]
    table = {name: rng.normal(size=20).round(1) for name in names}
    schema = read_table(table).schema
    lows = rng.uniform(-2.0, 1.0, (n_rules, n_columns)).round(2)
    bodies = [
        Conjunction(tuple(Range(n, a, a + 0.5) for n, a in zip(names, line.tolist(), strict=True)))
        for line in lows
    ]
    said = [Says((p, 1.0 - p)) for p in rng.random(n_rules).tolist()]
    rules = [Rule(b, s, Coverage.of((1.0, 1.0))) for b, s in zip(bodies, said, strict=True)]
    distances = tuple(NumberDistance(name, -2.0, 2.0) for name in names)
    return NearestRules(schema, np.array([0, 1]), tuple(rules), distances, (1.0, 1.0))


@pytest.mark.parametrize(
    ("n_rules", "n_columns"),
    [
        pytest.param(450, 3, marks=pytest.mark.full("databases take seconds to plan the steps")),
        pytest.param(3, 230, marks=pytest.mark.full("databases take seconds to plan the terms")),
        (90, 3),
        (3, 45),
    ],
)
def test_many_rules_and_columns_are_exported(n_rules, n_columns):
    """Steps of SQL take some rules and some terms at a time."""
    assert len(many_rules(n_rules, n_columns).verify_exports().targets) == 4


def test_an_independent_reader_answers_alike(tmp_path):
    """The file says all that is needed."""
    a_model().save(tmp_path / "model.json")
    document = checker.load(tmp_path / "model.json")
    for i in range(4):
        row = {name: CHURN_ROWS[name][i] for name in ("age", "color")}
        expected = a_model().predict_proba({name: [value] for name, value in row.items()})[0]
        assert checker.predict(document, row)[1] == expected.tolist()
    assert load_model(tmp_path / "model.json") == a_model()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("age <= 34", "closed interval"),
        ("20 < age <= 34", "closed interval"),
        ("10 <= age <= 34", "inside the range"),
        ("color != red", "one label"),
        ("color in {red, blue}", "one label"),
        ("color is known", "is missing"),
        ("age is missing", "of a nominal column"),
        ('active = "true"', "no distances"),
    ],
)
def test_rules_without_distances_are_refused(text, told):
    """Every condition must be one that a distance is defined for."""
    with pytest.raises(ValueError, match=f"rule 0: .*{told}"):
        a_model(text)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"distances": 3}, "distances must be a list"),
        ({"distances": [3]}, "need its name"),
        ({"distances": [{"column": "age", "low": 0, "high": "x"}]}, "high of column 'age'"),
        ({"distances": [{"column": "age", "low": 1.0, "high": 0.5}]}, "no values from 1.0"),
        ({"distances": [{"column": "plan", "low": 0.0, "high": 1.0}]}, "do not fit the schema"),
        ({"distances": [AGE.to_json(), AGE.to_json()]}, "two distances"),
        ({"distances": [COLOR.to_json() | {"groups": [0, 0]}]}, "do not fit the schema"),
        ({"distances": [COLOR.to_json() | {"groups": [0, 0, 3]}]}, "none of them is 3"),
        ({"distances": [COLOR.to_json() | {"missing": True}]}, "none of them is True"),
        ({"distances": [COLOR.to_json() | {"table": [[0.0, -1.0], [0.0, 0.0]]}]}, "a square"),
        ({"distances": [COLOR.to_json() | {"table": [[0.0], [0.0, 0.0]]}]}, "a square"),
        ({"distances": [COLOR.to_json() | {"table": [3]}]}, "must be lists"),
        ({"distances": [AGE.to_json()]}, "rule 0: 'color = red' has no distances"),
        ({"class_weights": [1.0]}, "2 classes need"),
    ],
)
def test_wrong_files_are_refused(change, told, tmp_path):
    """Each field is checked, and the message says what is wrong."""
    document = saved(tmp_path / "model.json", a_model())
    write(tmp_path / "wrong.json", document | change)
    with pytest.raises(ModelFileError, match=told):
        load_model(tmp_path / "wrong.json")


@pytest.mark.parametrize("distances", [None, ("age",), (AGE, AGE)])
def test_wrong_distances_are_refused(distances):
    """The constructor checks what it is given."""
    with pytest.raises(ValueError, match=r"distance|neither"):
        NearestRules(CHURN_SCHEMA, np.array([0, 1]), (), distances, (1.0, 1.0))
