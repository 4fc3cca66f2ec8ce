"""Lines of MLRules: planted ones, their fit, constraints, and the laws of models with them."""

import numpy as np
import pytest

from builders import loss, mixed_table, mlrules
from rulewright import DataWarning, MLRulesClassifier, calibrate, compress, load_model
from rulewright.estimators.mlrules import memory
from rulewright.search import split_rows

pytestmark = pytest.mark.native

KINDS = pytest.mark.parametrize(
    ("n_classes", "options"),
    [(2, {}), (3, {}), (3, {"ordinal": True}), (3, {"class_choice": "prefixed"})],
)


def planted(seed=0, n=2000):
    """Give columns, and log-odds that are a line of x plus a step of c."""
    rng = np.random.default_rng(seed)
    X = {"x": rng.uniform(-2, 2, n), "z": rng.normal(size=n), "c": rng.choice(["u", "v"], n)}
    return X, 1.5 * X["x"] + 2 * (X["c"] == "u") - 1, rng


def noisy(f, rng):
    """Draw one of two classes for each log-odds."""
    return (f + rng.logistic(size=len(f)) > 0).astype(int)


def test_a_planted_line_has_its_slope():
    """The slope of x is that of the log-odds but for the penalty, and z has no line."""
    X, _, rng = planted(n=20_000)
    (term,) = mlrules(linear=True).fit(X, noisy(1.5 * X["x"], rng)).model_.linear
    assert term.column == "x"
    assert term.slopes == (0.0, pytest.approx(1.42, abs=0.06))


def test_a_line_stands_for_many_rules_and_is_reported():
    """Few rules beside a line have the lower loss; text and reasons tell of the line."""
    X, f, rng = planted(n=4000)
    y = noisy(f, rng)
    lined, plain = (mlrules(linear=lin).fit(X, y).model_ for lin in (True, False))
    losses = [loss(model.scores(X), y, np.ones(4000)) for model in (lined, plain)]
    assert losses[0] < 0.97 * losses[1]
    assert "per unit of x" in str(lined)
    assert "line of x" in str(lined.explain({name: own[:1] for name, own in X.items()}))


@KINDS
def test_lines_of_several_classes_rise_with_the_class(n_classes, options):
    """The slopes of the column that orders the classes rise from the lowest to the highest."""
    X, y = mixed_table(np.random.default_rng(0), 600, n_classes=n_classes)
    (term,) = mlrules(linear=True, **options).fit(X, y).model_.linear
    assert term.column == "a"
    assert term.slopes[-1] - term.slopes[0] > 1
    assert np.all(np.diff(term.slopes) >= 0)


@pytest.mark.parametrize("most_rows", [100, 1000])
def test_without_lines_nothing_changes(most_rows, monkeypatch):
    """Nominal columns, and columns that no line pays for, leave the model of rules as it was."""
    monkeypatch.setattr(memory, "MOST_ROWS", most_rows)
    rng = np.random.default_rng(1)
    X = {f"c{k}": rng.choice(["u", "v", "w"], 300) for k in range(3)}
    X["noise"] = rng.normal(size=300)
    y = (X["c0"] == "u").astype(int) + (X["c1"] == "v")
    plain, lined = (mlrules(subsample=0.5, linear=lin).fit(X, y) for lin in (False, True))
    assert lined.model_.linear == ()
    assert lined.model_.rules == plain.model_.rules
    assert lined.model_.intercepts == plain.model_.intercepts
    np.testing.assert_array_equal(lined.trace_["train_loss"], plain.trace_["train_loss"])


def test_lines_obey_constraints():
    """Lines keep to the direction of a monotone column, and off columns that they may not use."""
    X, f, rng = planted(3)
    y = noisy(f, rng)

    def columns(**constraints):
        model = mlrules(max_rules=4, linear=True, constraints=constraints).fit(X, y).model_
        return {term.column for term in model.linear}

    assert columns(monotone={"x": "increasing"}) == columns(required=["x"]) == {"x"}
    assert "x" not in columns(monotone={"x": "decreasing"})
    assert "x" not in columns(forbidden=["x"])
    assert "x" not in columns(operators={"x": [">="]})
    assert "x" not in columns(required=["c"])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_monotone_models_are_monotone(n_classes):
    """As x rises, the probability of at least any class never falls."""
    X, f, rng = planted(4)
    y = np.digitize(f + rng.logistic(size=len(f)), range(n_classes - 1))
    constraints = {"monotone": {"x": "increasing", "z": "decreasing"}}
    model = mlrules(linear=True, ordinal=True, constraints=constraints).fit(X, y).model_
    assert [term.column for term in model.linear] == ["x"]
    n = 60
    p = model.predict_proba({"x": np.linspace(-3, 3, n), "z": np.zeros(n), "c": np.repeat("u", n)})
    assert np.all(np.diff(p[:, ::-1].cumsum(axis=1)[:, :-1], axis=0) >= -1e-12)


@KINDS
def test_files_and_exports_agree_with_predictions(n_classes, options, tmp_path):
    """A model with lines is saved and exported, and predicts rows with missing values."""
    X, y = mixed_table(np.random.default_rng(5), 300, n_classes=n_classes)
    model = mlrules(linear=True, **options).fit(X, y).model_
    assert model.linear
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict_proba(X), p)
    model.verify_exports()


@KINDS
def test_trace_and_stages_follow_the_lines(n_classes, options):
    """Stages start from the lines; the trace has their losses, and the summary the last of them."""
    X, y = mixed_table(np.random.default_rng(6), 300, n_classes=n_classes)
    est = mlrules(linear=True, max_rules=8, **options).fit(X, y)
    staged = list(est.staged_predict_proba(X))
    losses = [-np.log(p[np.arange(len(y)), y]).mean() for p in staged]
    np.testing.assert_allclose(est.trace_["train_loss"], losses[1:], rtol=1e-9)
    assert est.model_.summary["log_loss"] == pytest.approx(losses[-1], rel=1e-9)
    np.testing.assert_allclose(staged[-1], est.predict_proba(X), rtol=1e-12)


def test_rows_kept_aside_do_not_fit_the_lines():
    """The lines are those of a fit to the training rows alone."""
    X, f, rng = planted(7)
    y = noisy(f, rng)
    est = mlrules(linear=True, stopping="validation").fit(X, y)
    train, _ = split_rows(y.astype(np.int32), 0.1, np.random.RandomState(0))
    alone = mlrules(linear=True).fit({name: own[train] for name, own in X.items()}, y[train])
    assert est.model_.linear == alone.model_.linear
    assert est.model_.intercepts == alone.model_.intercepts
    assert len(est.trace_["validation_loss"]) == len(est.trace_["train_loss"])


@KINDS
def test_weights_are_rows_and_their_order_is_free(n_classes, options):
    """A weight of two is a row twice; rows in another order have the same lines and rules."""
    X, y = mixed_table(np.random.default_rng(8), 240, n_classes=n_classes, continuous=True)

    def chances(places, weights=None):
        taken = {name: np.asarray(values)[places] for name, values in X.items()}
        model = mlrules(linear=True, max_rules=6, **options).fit(taken, y[places], weights).model_
        assert model.linear
        return model.predict_proba(X)

    every = np.arange(240)
    np.testing.assert_allclose(chances(every[::-1]), chances(every), rtol=1e-6)
    weights = np.random.default_rng(9).integers(1, 4, 240)
    twice = chances(np.repeat(every, weights))
    np.testing.assert_allclose(chances(every, weights), twice, rtol=1e-6)


def test_threads_do_not_change_the_model():
    """One thread and three learn the same lines and rules, calibrated or not."""
    X, f, rng = planted(10, 5000)
    y = noisy(f, rng)
    for options in ({"subsample": 0.5}, {"calibration": "platt", "max_rules": 5}):
        one, three = (mlrules(linear=True, n_jobs=n, **options).fit(X, y).model_ for n in (1, 3))
        assert one.linear
        assert one.linear == three.linear
        assert one.rules == three.rules
        assert one.intercepts == three.intercepts


def test_steps_after_the_fit_keep_the_lines():
    """Calibration scales lines with the rules; compression fits fewer rules beside them."""
    X, f, rng = planted(11, 3000)
    y = noisy(f, rng)
    model = MLRulesClassifier(linear=True, random_state=0).fit(X, y).model_
    scaled = calibrate(model, X, y, "temperature")
    ratio = scaled.linear[0].slopes[1] / model.linear[0].slopes[1]
    assert scaled.intercepts[1] == pytest.approx(ratio * model.intercepts[1])
    small = compress(model, X, y, n_rules=3)
    assert small.linear == model.linear
    p = small.predict_proba(X)[:, 1]
    assert p.mean() == pytest.approx(y.mean(), rel=1e-5)  # intercepts fit beside the lines
    alone = model.with_rules(())
    few, none = (loss(one.scores(X), y, np.ones(3000)) for one in (small, alone))
    assert few < 0.95 * none


def test_the_settings_of_the_paper_may_have_lines():
    """Without a ridge, and where lines tell the classes apart, slopes stay finite."""
    rng = np.random.default_rng(12)
    X = {"x": np.sort(rng.normal(size=100)), "same": np.ones(100), "huge": np.full(100, 1e300)}
    X["huge"][::2] = -1e300
    y = np.repeat(["a", "b"], 50)
    est = MLRulesClassifier.paper(linear=True, max_rules=5, random_state=0).fit(X, y)
    assert "x" in {term.column for term in est.model_.linear}
    assert np.isfinite(est.predict_proba(X)).all()
    assert est.score(X, y) == 1


def test_weights_may_be_of_any_size():
    """Enormous and tiny weights are scaled, few rows have no line, a lone class has no rules."""
    X, f, rng = planted(13, 300)
    y = noisy(f, rng)

    def columns(weight):
        model = mlrules(max_rules=2, linear=True, l2=0.0).fit(X, y, np.full(300, weight)).model_
        assert np.isfinite(model.predict_proba(X)).all()
        return [term.column for term in model.linear]

    for weight in (1e300, 1e-5):
        with pytest.warns(DataWarning, match="scaled to sum to 300"):
            assert columns(weight) == columns(1.0) == ["x"]
    assert columns(0.02) == []
    assert mlrules(linear=True).fit(X, np.zeros(300)).model_.linear == ()


def test_very_many_rows_fit_lines_to_a_sample(monkeypatch):
    """A sample gives about the slope of all rows."""
    X, f, rng = planted(14, 6000)
    y = noisy(f, rng)
    (whole,) = mlrules(max_rules=1, linear=True).fit(X, y).model_.linear
    monkeypatch.setattr(memory, "MOST_ROWS", 3000)
    (part,) = mlrules(max_rules=1, linear=True).fit(X, y).model_.linear
    assert part != whole
    assert part.slopes[1] == pytest.approx(whole.slopes[1], rel=0.15)
