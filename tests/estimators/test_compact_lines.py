"""Lines of compact models: planted ones, fits beside rules, constraints, the laws of all models."""

import numpy as np
import pytest

from builders import compact, mixed_table, softmax
from rulewright import CompactRulesClassifier, CompactRulesRegressor, DataWarning, load_model
from rulewright.encoding.covers import PackedCovers
from rulewright.estimators.compact import settings
from rulewright.estimators.compact.losses import ClassLoss
from rulewright.estimators.compact.members import ResponseProblem
from rulewright.estimators.compact.number_loss import NumberLoss
from rulewright.estimators.compact.sizes import Size, do_lines_help
from rulewright.rules import Head

pytestmark = pytest.mark.native


def planted(seed=0, n=400):
    """Give columns, and numbers that are a line of x plus a step of c."""
    rng = np.random.default_rng(seed)
    X = {"x": rng.normal(size=n), "z": rng.normal(size=n), "c": rng.choice(["u", "v"], n)}
    return X, 1.5 * X["x"] + 2 * (X["c"] == "u"), rng


def n_parts(model):
    """Count rules and slopes."""
    return len(model) + sum(np.count_nonzero(term.slopes) for term in model.linear)


def test_a_planted_line_of_numbers_is_found_and_reported():
    """A line and a step that made the numbers are the model, and its text and reasons say so."""
    X, _, rng = planted()
    X["x"] = np.clip(X["x"], -2, 2)
    y = 1.5 * X["x"] + 2 * (X["c"] == "u") + 0.3 * rng.normal(size=400)
    est = CompactRulesRegressor(linear=True, cv=3, random_state=0).fit(X, y)
    (term,) = est.model_.linear
    assert term.column == "x"
    assert term.slopes[0] == pytest.approx(1.4, abs=0.05)  # a ridge of 5 rows
    assert [rule.body.columns for rule in est.model_.rules if "c" in rule.body.columns]
    assert est.size_.n_rules == n_parts(est.model_) == 2
    assert est.model_.summary["price"][0]["n_rules"] == 2
    assert "per unit of x" in str(est.model_)
    assert "line of x" in str(est.model_.explain({k: v[:1] for k, v in X.items()}))
    rules = CompactRulesRegressor(linear=False, cv=3, random_state=0).fit(X, y)
    assert rules.model_.linear == ()
    assert len(rules.model_) > 3  # steps take the place of a line


@pytest.mark.parametrize("ordinal", [None, False, True])
def test_a_planted_line_of_classes_is_found(ordinal):
    """Two classes, several and those of a scale have lines of x, which rise with the class."""
    X, f, rng = planted(1)
    score = f + rng.logistic(size=400) / 4
    y = score > 1 if ordinal is None else np.digitize(score, [0.0, 2.0])
    est = CompactRulesClassifier(linear=True, ordinal=bool(ordinal), cv=3, random_state=0)
    model = est.fit(X, y).model_
    assert [term.column for term in model.linear] == ["x"]
    assert model.linear[0].slopes[-1] > model.linear[0].slopes[0]
    rules = CompactRulesClassifier(ordinal=bool(ordinal), cv=3, random_state=0).fit(X, y)
    # Of classes without an order the middle one rises and falls: no line tells it.
    if ordinal is not False:
        by_line, by_rules = (one.size_.losses.mean(axis=1) for one in (est, rules))
        assert np.all(by_line[3:9] < by_rules[3:9])  # many more rules make steps of the line
    if ordinal is None:
        losses = [one.model_.summary["price"][0]["log_loss"] for one in (est, rules)]
        assert losses[0] < losses[1]


@pytest.mark.parametrize("maker", [CompactRulesClassifier, CompactRulesRegressor])
def test_without_numeric_columns_the_parameter_changes_nothing(maker):
    """There are no lines of nominal columns, and the search of rules is the same."""
    rng = np.random.default_rng(0)
    X = {f"c{k}": rng.choice(["u", "v", "w"], 200) for k in range(4)}
    y = (X["c0"] == "u").astype(int) + (X["c1"] == "v")
    plain, lined = (maker(4, cv=2, linear=lin, random_state=0).fit(X, y) for lin in (False, True))
    assert plain.model_.rules == lined.model_.rules
    assert lined.model_.linear == ()


@pytest.mark.parametrize("maker", [CompactRulesClassifier, CompactRulesRegressor])
@pytest.mark.parametrize("has_lines", [False, True])
def test_held_out_rows_choose_lines(maker, has_lines):
    """Steps get the model without lines, and a line gets the model with lines."""
    X, f, rng = planted(11)
    f = f if has_lines else 3.0 * (X["x"] > 0) + 2 * (X["c"] == "u")
    y = f + rng.logistic(size=400) / 2
    y = y > np.median(y) if maker is CompactRulesClassifier else y
    auto, given = (
        maker(4, cv=3, linear=linear, random_state=0).fit(X, y) for linear in ("auto", has_lines)
    )
    assert auto.model_.summary["size"] == given.model_.summary["size"]
    assert auto.model_.summary["size"]["linear"] is has_lines
    assert auto.model_.rules == given.model_.rules
    assert auto.model_.linear == given.model_.linear
    assert bool(auto.model_.linear) is has_lines


def test_lines_must_help_clearly():
    """A gain below a fiftieth of the gain over no rules, or within noise, is not enough."""
    rng, weights = np.random.default_rng(12), np.ones(400)
    start, noise = np.full(400, 2.0), rng.normal(size=400)

    def help_by(gain, deviation):
        plain, lined = 1.0 + deviation * (noise - noise.mean()), np.full(400, 1.0 - gain)
        sizes = (Size(1, np.array([start, losses])) for losses in (plain, lined))
        return do_lines_help(*sizes, weights)

    assert help_by(0.05, 0.0)
    assert not help_by(0.01, 0.0)
    assert not help_by(0.05, 5.0)
    assert not help_by(-0.05, 0.0)


def test_few_rows_and_tables_without_lines_need_no_choice():
    """Without folds there are rules only, and forbidden columns have no lines to try."""
    X, f, _ = planted(13, 40)
    few = CompactRulesRegressor(3, random_state=0).fit(X, f).model_
    assert few.linear == ()
    X, f, _ = planted(13, 100)
    est = CompactRulesRegressor(3, cv=2, constraints={"forbidden": ["x", "z"]}, random_state=0)
    model = est.fit(X, f).model_
    assert model.summary["size"]["linear"] is False
    assert {column for rule in model.rules for column in rule.body.columns} == {"c"}


def problem_of(rng, heads):
    """Give a rule, then two lines, of 120 rows."""
    cover = rng.random((1, 120)) < 0.4
    lines = {k: 0.4 * rng.normal(size=120) for k in (1, 2)}
    covers = PackedCovers.pack(cover).stack(PackedCovers.all_rows(2, 120))
    return ResponseProblem(covers, heads, lines), np.vstack([cover, lines[1], lines[2]])


@pytest.mark.parametrize("heads", [[(1, 1), (2, 2), (0, 0)], [(1, 2), (2, 2), (1, 2)]])
def test_rules_and_lines_of_classes_are_fitted_together(heads):
    """At the fit no response can gain: the derivative is 0, or points below a response of 0."""
    rng, heads = np.random.default_rng(3), [Head(*head) for head in heads]
    problem, columns = problem_of(rng, heads)
    labels, weights = rng.integers(0, 3, 120).astype(np.int32), rng.choice([0.0, 1.0, 2.0], 120)
    shares = softmax(rng.normal(size=(120, 3)) + columns[:2].sum(axis=0)[:, None] * [0, 1, 2])
    fitted = ClassLoss(labels, weights, shares, 0.5).fit(problem, 1e-18)
    excess = weights[:, None] * (fitted.answers - shares)
    scores = np.tile(fitted.intercepts, (120, 1))
    for column, head, b in zip(columns, heads, fitted.responses, strict=True):
        pull = -(column @ excess[:, head.classes].sum(axis=1)) - 0.5 * b
        assert pull == pytest.approx(0, abs=1e-6) if b > 0 else pull < 0
        scores[:, head.classes] += b * column[:, None]
    assert (fitted.responses[1:] > 0).any()
    np.testing.assert_allclose(fitted.answers, softmax(scores), rtol=1e-8)


def test_rules_and_lines_of_numbers_are_fitted_together():
    """The responses solve the normal equations with the ridge."""
    rng = np.random.default_rng(4)
    problem, columns = problem_of(rng, [Head(0, 0), Head(1, 1), Head(1, 1)])
    y = [-1.0, 2.0, 3.0] @ columns + 0.1 * rng.normal(size=120)
    fitted = NumberLoss(y, np.ones(120), 0.5).fit(problem, 0.0)
    residuals = y - fitted.intercepts[0] - fitted.responses @ columns
    assert residuals.sum() == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(columns @ residuals, 0.5 * fitted.responses, rtol=1e-9)
    np.testing.assert_allclose(fitted.answers[:, 0], y - residuals)


def test_lines_obey_constraints():
    """Lines keep to the direction of a monotone column, and off columns that they may not use."""
    X, f, _ = planted(2)

    def columns(**constraints):
        model = CompactRulesRegressor(
            4, size="max", cv=2, linear=True, constraints=constraints
        ).fit(X, f)
        return {term.column for term in model.model_.linear}

    assert columns(monotone={"x": "increasing"}) == columns(required=["x"]) == {"x"}
    assert "x" not in columns(monotone={"x": "decreasing"})
    assert "x" not in columns(forbidden=["x"])
    assert "x" not in columns(operators={"x": [">="]})
    assert "x" not in columns(required=["c"])


def test_lines_count_in_the_budget():
    """Rules and slopes together are never more than asked for."""
    X, y = mixed_table(np.random.default_rng(0), 300, n_classes=3)
    for n_rules in (0, 1, 3, 8):
        model = compact(max_rules=n_rules, linear=True).fit(X, y).model_
        assert n_parts(model) <= n_rules
    assert model.linear


@pytest.mark.parametrize("ordinal", [False, True])
def test_a_mixed_table_keeps_the_laws(ordinal, tmp_path):
    """Missing values add nothing; weights are rows, order is free; files and exports agree."""
    X, y = mixed_table(np.random.default_rng(6), 240, n_classes=3)
    est = compact(max_rules=8, linear=True, ordinal=ordinal)
    model = est.fit(X, y).model_
    assert model.linear
    assert len(model)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict_proba(X), p)
    model.verify_exports()

    def chosen(places, weights=None):
        taken = {name: np.asarray(values)[places] for name, values in X.items()}
        learned = compact(max_rules=8, linear=True, ordinal=ordinal).fit(taken, y[places], weights)
        return learned.predict_proba(X)

    every = np.arange(240)
    np.testing.assert_allclose(chosen(every[::-1]), p, rtol=1e-5)
    weights = np.random.default_rng(6).integers(0, 3, 240)
    twice = chosen(np.repeat(every, weights))
    np.testing.assert_allclose(chosen(every, weights), twice, rtol=1e-5)


def test_very_many_rows_fit_lines_chosen_on_a_sample(monkeypatch):
    """All rows fit slopes and intercept: the mean of the numbers is met."""
    X, f, rng = planted(7, 600)
    y = f + rng.normal(size=600)
    monkeypatch.setattr(settings, "MOST_ROWS", 200)
    est = CompactRulesRegressor(3, size="max", cv=2, linear=True, random_state=0).fit(X, y)
    assert [term.column for term in est.model_.linear] == ["x"]
    assert est.predict(X).mean() == pytest.approx(y.mean(), rel=1e-9)
    classes = compact(max_rules=3, linear=True, condition_cost=0.5).fit(X, y > 1)
    assert classes.model_.linear
    assert classes.predict_proba(X)[:, 1].mean() == pytest.approx((y > 1).mean(), rel=1e-6)


def test_a_column_known_in_one_fold_only_has_no_line_elsewhere():
    """Folds whose training rows lack a column do without its line."""
    rng = np.random.default_rng(8)
    X = {"x": rng.normal(size=90), "rare": np.where(np.arange(90) < 2, 1.0, np.nan)}
    est = CompactRulesRegressor(3, size="max", cv=3, linear=True, random_state=0).fit(X, X["x"])
    assert [term.column for term in est.model_.linear] == ["x"]


def test_the_scale_of_weights_is_free():
    """Large weights with a ridge as large give the same model; enormous ones are scaled."""
    X, f, rng = planted(9, 200)
    y = f + rng.logistic(size=200) > 1

    def learned(weight, l2):
        est = compact(max_rules=2, max_conditions=1, linear=True, l2=l2)
        return est.fit(X, y, np.full(200, weight)).model_

    small, large = learned(1.0, 1.0), learned(2.0**20, 2.0**20)
    assert small.linear
    np.testing.assert_allclose(large.predict_proba(X), small.predict_proba(X), rtol=1e-6)
    with pytest.warns(DataWarning, match="scaled to sum to 200"):
        assert learned(1e300, 1.0).linear == small.linear
