"""Rule cards: integer points, their gap, constraints, the scale and the text."""

import numpy as np
import pytest

from builders import cards, mixed_table, noisy_rows
from rulewright import RuleCardClassifier, Scale, load_model, read_table
from rulewright.governance import Monotone, prove
from rulewright.model import RuleCard
from rulewright.rules import Labels
from rulewright.workbench import Session

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def data():
    """Draw a mixed table of two classes."""
    return mixed_table(np.random.default_rng(11), 300, missing=0.05)


def log_loss(y, p):
    """Return the mean log-loss."""
    p = np.clip(p, 1e-15, 1)
    return float(-np.log(p[np.arange(len(y)), y]).mean())


@pytest.mark.parametrize("most", [1, 3, 5])
def test_points_are_whole_and_small(data, most):
    """Responses are whole multiples of the unit, and the total gives the probability."""
    X, y = data
    model = cards(max_points=most).fit(X, y).model_
    points = np.array([rule.outcome.value for rule in model.rules]) / model.unit
    np.testing.assert_allclose(points, np.rint(points), atol=1e-9)
    assert 0 < len(points) <= 4
    assert np.abs(points).max() <= most
    assert model.points == tuple(np.rint(points))
    p = model.predict_proba(X)[:, model.positive]
    np.testing.assert_allclose(model.probability_of(model.totals(X)), p, rtol=1e-9)


def test_totals_lie_in_their_range(data):
    """The lowest possible total is 0, and totals are whole."""
    X, y = data
    model = cards().fit(X, y).model_
    totals = model.totals(X)
    assert model.total_range[0] == 0
    assert totals.min() >= 0
    assert totals.max() <= model.total_range[1]
    np.testing.assert_array_equal(totals, np.rint(totals))


def test_the_gap_is_closed_unless_nodes_run_out(data):
    """The bound is at most the loss, which is that of the training rows and the penalty."""
    X, y = data
    found = cards().fit(X, y).model_
    short = cards(max_nodes=0).fit(X, y).model_
    assert found.summary["card"]["gap"] == 0
    assert short.summary["card"]["gap"] > 0
    loss = log_loss(y, found.predict_proba(X))
    assert loss <= found.summary["card"]["loss"] < loss + 0.02


def test_more_items_points_and_conditions_lower_the_loss(data):
    """Each freedom helps on training rows."""
    X, y = data

    def loss(**options):
        return cards(**{"l2": 0.01, **options}).fit(X, y).model_.summary["card"]["loss"]

    base = loss(max_rules=3, max_points=3, max_conditions=1)
    assert loss(max_rules=5, max_points=3, max_conditions=1) < base
    assert loss(max_rules=3, max_points=9, max_conditions=1) <= base
    assert loss(max_rules=3, max_points=3, max_conditions=2) < base


def test_constraints_hold(data):
    """Forbidden, required, monotone, signed columns and the range of totals are respected."""
    X, y = data
    options = {
        "max_range": 6,
        "signs": {"color": "+"},
        "use_columns": ["c"],
        "constraints": {"monotone": {"a": "increasing"}, "forbidden": ["b"]},
        "positive_class": 1,
    }
    model = cards(**options).fit(X, y).model_
    assert "b" not in model.columns
    assert "c" in model.columns
    assert sum(map(abs, model.points)) <= 6
    for rule, points in zip(model.rules, model.points, strict=True):
        for condition in rule.body.conditions:
            assert not isinstance(condition, Labels) or points > 0
            if condition.column == "a":
                assert condition.low > -np.inf if points > 0 else condition.high < np.inf
    grid = np.linspace(-3, 3, 50)
    rows = {name: np.repeat(values[:1], 50) for name, values in X.items()} | {"a": grid}
    assert (np.diff(model.predict_proba(rows)[:, 1]) >= 0).all()


@pytest.mark.parametrize("scale", [{"double": 20, "score": 600, "odds": 50}, Scale(double=5)])
def test_the_scale_says_what_a_score_means(data, scale):
    """The score with known odds has them, and so many points more double them."""
    X, y = data
    model = cards(scale=scale, max_points=None, positive_class=1).fit(X, y).model_
    given = Scale.of(scale)
    known = model.probability_of([given.score, given.score + given.double])
    np.testing.assert_allclose(known / (1 - known), [given.odds, 2 * given.odds], rtol=1e-9)
    assert model.start == round(model.start)
    free = cards(max_points=1000, positive_class=1).fit(X, y).model_
    assert log_loss(y, model.predict_proba(X)) < log_loss(y, free.predict_proba(X)) + 0.01


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"scale": {"double": 0}}, "double must be above 0"),
        ({"scale": {"twice": 20}}, "must be None, a Scale, or a dict"),
        ({"signs": {"colour": "+"}}, "there is no column 'colour'.*color"),
        ({"use_columns": ["d"]}, "there is no column 'd'"),
        ({"signs": {"color": "up"}}, "signs"),
        ({"use_columns": "c"}, "use_columns"),
    ],
)
def test_wrong_options_are_explained(data, options, text):
    """The error names the option, and what it may be."""
    with pytest.raises(ValueError, match=text):
        cards(**options).fit(*data)


def test_the_card_of_a_file_is_the_same(data, tmp_path):
    """A saved card keeps its unit and its start."""
    model = cards(scale={"double": 10}, max_points=None).fit(*data).model_
    model.save(tmp_path / "card.json")
    loaded = load_model(tmp_path / "card.json")
    assert isinstance(loaded, RuleCard)
    assert loaded == model
    assert str(loaded) == str(model)
    model.verify_exports()


def test_explanations_add_up_to_the_total(data):
    """The reasons are points, and the last line is the total."""
    X, y = data
    model = cards().fit(X, y).model_
    row = int(np.argmax(model.totals(X)))
    text = str(model.explain({name: values[row : row + 1] for name, values in X.items()}))
    assert f"points for {model.class_names[model.positive]}" in text
    assert f"{int(model.totals(X)[row])}  " in text.splitlines()[-1]


def test_points_of_many_rows_are_those_of_all(monkeypatch):
    """A sample chooses the items, but points and counts are of all rows."""
    monkeypatch.setattr("rulewright.estimators.cards.estimator.MOST_ROWS", 400)
    X, y = noisy_rows(3, 2000)
    model = RuleCardClassifier(4, shrink=False, random_state=0).fit(X, y).model_
    card = model.summary["card"]
    np.testing.assert_allclose(log_loss(y, model.predict_proba(X)), card["loss"], atol=1e-3)
    covered = [rule.coverage.support for rule in model]
    np.testing.assert_allclose(covered, model.covers(X).sum(axis=0))


def test_a_planted_card_is_found():
    """Rows drawn from a card give back its items, with points in proportion."""
    rng = np.random.default_rng(5)
    X = (rng.random((4000, 12)) < 0.4).astype(float)
    score = 0.5 * (4 * X[:, 0] + 3 * X[:, 1] - 2 * X[:, 2] + 5 * X[:, 3]) - 2.5
    y = (rng.random(4000) < 1 / (1 + np.exp(-score))).astype(int)
    model = RuleCardClassifier(4, max_conditions=1, positive_class=1).fit(X, y).model_
    assert model.columns == ("x0", "x1", "x2", "x3")
    by_column = {r.body.conditions[0].column: p for r, p in zip(model, model.points, strict=True)}
    sizes = np.abs([by_column[f"x{j}"] for j in range(4)]) * model.unit
    np.testing.assert_allclose(sizes, [2.0, 1.5, 1.0, 2.5], atol=0.3)


def test_shrinkage_lowers_the_value_of_a_point_and_the_held_out_loss():
    """Points and ranks stay; chosen among many columns without signal, hardly anything is left."""
    losses = []
    for seed in range(4):
        X, y = noisy_rows(seed, 1200)
        train, test = slice(200), slice(200, None)
        plain, kept = (
            RuleCardClassifier(6, shrink=shrink).fit(X[train], y[train]).model_
            for shrink in (False, True)
        )
        assert plain.points == kept.points
        share = kept.summary["card"]["shrinkage"]
        np.testing.assert_allclose(kept.unit, share * plain.unit)
        assert 0.1 <= share < 1
        losses.append([log_loss(y[test], m.predict_proba(X[test])) for m in (plain, kept)])
    before, after = np.mean(losses, axis=0)
    assert after < before
    noise = np.random.default_rng(0).normal(size=(200, 20))
    useless = RuleCardClassifier(5).fit(noise, np.arange(200) % 2).model_
    assert useless.summary["card"]["shrinkage"] < 0.3


def test_a_scaled_card_shrinks_its_points(data):
    """The scale fixes the value of a point, so points are smaller."""
    scale = {"double": 20}
    plain, kept = (
        cards(scale=scale, max_points=None, shrink=shrink).fit(*data).model_
        for shrink in (False, True)
    )
    assert plain.unit == kept.unit
    assert sum(map(abs, kept.points)) < sum(map(abs, plain.points))


def test_a_card_is_edited_and_proved(data):
    """A card is an additive model for the workbench and for proofs."""
    X, y = data
    constraints = {"monotone": {"a": "increasing"}}
    est = cards(positive_class=1, constraints=constraints).fit(X, y)
    policy = Monotone(column="a", target_class=1)
    assert prove(est.model_, [policy]).proved
    table = read_table(X, target=y)
    session = Session(est.model_, table)
    session.apply(session.drop(1))
    assert isinstance(session.model, RuleCard)
    assert len(session.model) == len(est.model_) - 1
