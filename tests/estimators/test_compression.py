"""Compact models: sizes, optimal responses, honest curves, any container."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from builders import loss, mixed_table, mlrules, softmax
from rules.builders import a_rule
from rulewright.data import DataError, read_like, read_table
from rulewright.estimators.finishing.compression import compress, size_curve
from rulewright.model import AdditiveRules, IsotonicSteps, load_model
from rulewright.rules import Adds, Conjunction, Range
from rulewright.weighting.l1 import multinomial
from rulewright.weighting.l1.multinomial import L2


def noisy(seed, n_rows):
    """Draw rows whose classes follow three noisy rules over eight columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    score = 3 * ((X[:, 0] > 0) & (X[:, 1] > 0)) - 2.5 * (X[:, 2] > 0.3) + 2 * (X[:, 3] < -0.5)
    return X, (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(int)


@pytest.fixture(scope="module")
def learned():
    """Learn 150 rules from noisy rows; give them with the rows."""
    X, y = noisy(0, 1500)
    est = mlrules(max_rules=150, learning_rate=0.1, subsample=0.5, max_conditions=3, random_state=0)
    return est.fit(X, y), X, y


def log_loss_of(model, X, y):
    return loss(model.scores(X), y, np.ones(len(y))) / len(y)


def test_few_rules_predict_like_many(learned):
    """Eight rules of 150 lose at most 0.02 of log-loss and 0.01 of accuracy on new rows."""
    est, X, y = learned
    small = compress(est, X, y, 8)
    assert 0 < len(small) <= 8
    new, labels = noisy(1, 5000)
    assert log_loss_of(small, new, labels) < log_loss_of(est.model_, new, labels) + 0.02
    hits = [np.mean(model.predict(new) == labels) for model in (small, est.model_)]
    assert hits[0] > hits[1] - 0.01


def test_few_rows_are_not_learned_by_heart():
    """Rules that were chosen on 300 rows and fitted to them again are not too sure of new ones."""
    X, y = noisy(2, 300)
    est = mlrules(max_rules=150, learning_rate=0.1, subsample=0.5, max_conditions=3).fit(X, y)
    new, labels = noisy(3, 5000)
    small = log_loss_of(compress(est, X, y, 15), new, labels)
    assert small < log_loss_of(est.model_, new, labels) + 0.02


def test_chosen_rules_are_rules_of_the_model(learned):
    """Conditions, heads and records are those of the old model; only responses differ."""
    est, X, y = learned
    before = {(rule.body, rule.head): rule for rule in est.model_.merge_rules()}
    for rule in compress(est, X, y, 10):
        old = before[rule.body, rule.head]
        assert old.with_outcome(rule.outcome) == rule
        assert rule.outcome.value > 0


def test_responses_fit_best(learned):
    """No response and no intercept can move and lower the ridge loss."""
    est, X, y = learned
    small = compress(est, X, y, 6)

    def objective(model):
        ridge = sum(rule.outcome.value**2 for rule in model) * L2 / 2
        return loss(model.scores(X), y, np.ones(len(y))) + ridge

    lowest = objective(small)
    for i, rule in enumerate(small.rules):
        for step in (-0.02, 0.02):
            rules = list(small.rules)
            rules[i] = rule.with_outcome(Adds(rule.head, rule.outcome.value + step))
            assert objective(small.with_rules(rules)) > lowest
    for step in (-0.02, 0.02):
        start, other = small.intercepts
        assert objective(replace(small, intercepts=(start, other + step))) > lowest


def test_the_budget_is_hard(learned):
    """Never more rules than asked for, down to none; more than there are is all that help."""
    est, X, y = learned
    for size in (0, 1, 3):
        assert len(compress(est, X, y, size)) <= size
    none = compress(est, X, y, 0)
    assert none.predict_proba(X[:1])[0, 1] == pytest.approx(y.mean(), abs=1e-6)
    assert len(compress(est, X, y, 10_000)) <= len(est.model_)


def test_the_curve_is_noted(learned):
    """Sizes ascend from none, penalties fall, more rules fit better up to the noise."""
    est, X, y = learned
    note = compress(est, X, y, 12).summary["compression"]
    curve = note["curve"]
    assert (note["n_rules_before"], note["chosen_by"]) == (len(est.model_), "n_rules")
    assert [point["n_rules"] for point in curve] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    penalties = [point["lambda"] for point in curve]
    assert penalties == sorted(penalties, reverse=True)
    base = -np.mean(np.log(np.where(y == 1, y.mean(), 1 - y.mean())))
    assert curve[0]["log_loss"] == pytest.approx(base, abs=1e-3)
    assert curve[-1]["log_loss"] < curve[3]["log_loss"] < curve[0]["log_loss"]
    assert curve[-1]["accuracy"] > curve[0]["accuracy"]
    assert all(point["log_loss_sd"] >= 0 for point in curve)


def test_the_size_is_chosen_by_cross_validation(learned):
    """Without a budget the model is small, and a third of it would be worse on new rows."""
    est, X, y = learned
    small = compress(est, X, y)
    assert small.summary["compression"]["chosen_by"] == "cross-validation"
    assert 3 <= len(small) <= 25
    new, labels = noisy(1, 5000)
    tiny = compress(est, X, y, len(small) // 3)
    assert log_loss_of(small, new, labels) < log_loss_of(tiny, new, labels)
    assert log_loss_of(small, new, labels) < log_loss_of(est.model_, new, labels) + 0.04


def lines_of_three(seed, n_rows):
    """Draw boards of nine squares; the class tells whether three crosses stand in a line."""
    board = np.random.default_rng(seed).integers(0, 3, size=(n_rows, 9)).astype(float)
    rows = np.arange(9).reshape(3, 3)
    lines = [*rows, *rows.T, rows.diagonal(), rows[::-1].diagonal()]
    return board, np.any([(board[:, line] == 1).all(axis=1) for line in lines], axis=0).astype(int)


def test_the_size_loses_nothing_visible():
    """A concept of eight rules keeps enough of them, where two would have twice the error."""
    X, y = lines_of_three(0, 300)
    est = mlrules(max_rules=300, learning_rate=0.1, subsample=0.5, max_conditions=4).fit(X, y)
    new, labels = lines_of_three(1, 4000)
    small = compress(est, X, y)
    wrong = [np.mean(model.predict(new) != labels) for model in (small, est.model_)]
    assert len(small) >= 10
    assert wrong[0] < wrong[1] + 0.04


def overlap(model, X):
    """Give the mean, over the rules, of the largest share of rows in common with another rule."""
    covers = model.covers(X).astype(float)
    common, sizes = covers.T @ covers, covers.sum(axis=0)
    shares = common / (sizes[:, np.newaxis] + sizes - common)
    return (shares - np.eye(len(shares))).max(axis=1).mean()


def test_rules_of_the_same_rows_are_not_kept_side_by_side(monkeypatch):
    """With the penalty on overlap the rules of a small model have fewer rows in common."""
    tables = [noisy(seed, 300) for seed in range(3)]
    options = {"max_rules": 150, "learning_rate": 0.1, "subsample": 0.5, "max_conditions": 3}
    models = [mlrules(**options).fit(X, y) for X, y in tables]

    def mean_overlap():
        pairs = zip(models, tables, strict=True)
        return np.mean([overlap(compress(est, X, y, 12), X) for est, (X, y) in pairs])

    penalised = mean_overlap()
    monkeypatch.setattr(multinomial, "OVERLAP_PENALTY", 0.0)
    assert penalised < 0.95 * mean_overlap()


def test_rules_that_say_nothing_are_not_chosen():
    """On labels that are noise cross-validation keeps almost no rule."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), rng.integers(0, 2, 600)
    est = mlrules(max_rules=60, subsample=0.5, max_conditions=2, random_state=0).fit(X, y)
    assert len(compress(est, X, y)) <= 6


def test_size_curve_prints_a_line_per_size(learned):
    """The text has a header and the sizes; a model without a curve says how to get one."""
    est, X, y = learned
    small = compress(est, X, y, 3)
    lines = size_curve(small).splitlines()
    assert lines[0].split() == ["rules", "log-loss", "sd", "accuracy"]
    assert [line.split()[0] for line in lines[1:]] == ["0", "1", "2", "3"]
    with pytest.raises(ValueError, match="compress"):
        size_curve(est.model_)


def test_seed_and_threads_do_not_change_the_rules(learned):
    """The same for one and two threads; another seed changes the curve only."""
    est, X, y = learned
    one, two = compress(est, X, y, 7), compress(est, X, y, 7, n_jobs=2)
    other = compress(est, X, y, 7, random_state=5)
    assert one == two
    assert one.rules == other.rules
    assert one.summary["compression"]["curve"] != other.summary["compression"]["curve"]


def test_a_compact_model_saves_and_explains(learned, tmp_path):
    """It is a model like any other: saved, loaded, exported."""
    est, X, y = learned
    small = compress(est.model_, X, y, 5)
    small.save(tmp_path / "small.json")
    assert load_model(tmp_path / "small.json") == small
    small.verify_exports()
    assert "reliability" not in small.summary["compression"]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("ordinal", [False, True])
def test_many_classes_and_unions(n_classes, ordinal):
    """Nominal columns, missing values, many classes and unions of classes are compressed too."""
    columns, y = mixed_table(np.random.default_rng(0), 600, n_classes=n_classes)
    est = mlrules(max_rules=60, ordinal=ordinal, max_conditions=3).fit(columns, y)
    small = compress(est, columns, y, 9)
    assert {rule.head for rule in small} <= {rule.head for rule in est.model_}
    before = log_loss_of(est.model_[:0], columns, y)
    assert log_loss_of(small, columns, y) < 0.8 * before


def test_monotone_models_stay_monotone():
    """Responses keep their signs, so scores go on rising with an increasing column."""
    X, y = noisy(3, 800)
    settings = {
        "max_rules": 80,
        "max_conditions": 3,
        "constraints": {"monotone": {"x0": "increasing"}},
    }
    small = compress(mlrules(**settings).fit(X, y), X, y, 10)
    grid = np.tile(X[:50], (30, 1))
    grid[:, 0] = np.linspace(-3, 3, 30).repeat(50)
    margins = small.decision_function(grid).reshape(30, 50)
    assert np.all(np.diff(margins, axis=0) >= 0)


def test_weights_are_counted():
    """A weight of two is a row twice; rows of weight zero are no rows."""
    X, y = noisy(4, 300)
    est = mlrules(max_rules=40, max_conditions=2).fit(X, y)
    counts = np.arange(300) % 3
    weighted = compress(est, X, y, 5, sample_weight=counts)
    repeated = compress(est, X.repeat(counts, axis=0), y.repeat(counts), 5)
    assert [rule.body for rule in weighted] == [rule.body for rule in repeated]
    assert weighted.scores(X) == pytest.approx(repeated.scores(X), abs=1e-3)


def test_tables_names_and_files(tmp_path):
    """A dict with the target as a column, a file and a Table give the same model."""
    columns, y = mixed_table(np.random.default_rng(1), 300)
    names = np.array(["no", "yes"])[y]
    est = mlrules(max_rules=30, max_conditions=2).fit(columns, names)
    expected = compress(est, columns, names, 5)
    assert compress(est, {**columns, "y": names}, "y", 5) == expected
    table = read_table(columns, target=names)
    assert compress(est, table, n_rules=5) == expected
    path = tmp_path / "rows.csv"
    header = [*columns, "y"]
    rows = zip(*columns.values(), names, strict=True)
    cells = [["" if value in (None,) or value != value else value for value in row] for row in rows]
    path.write_text("\n".join(",".join(map(str, row)) for row in [header, *cells]))
    assert compress(est, path, "y", 5).rules == expected.rules


def test_rows_are_read_with_the_schema_of_the_model():
    """New rows that lack a label, or have another one, have the codes of the model."""
    columns, y = mixed_table(np.random.default_rng(2), 300)
    est = mlrules(max_rules=30, max_conditions=2).fit(columns, y)
    known = columns["color"] != "blue"
    part = {name: values[known] for name, values in columns.items()}
    small = compress(est, part, y[known], 5)
    table = read_like(part, est.model_.schema)
    np.testing.assert_array_equal(small.scores(part), small.scores(table))


def test_classes_must_be_those_of_the_model(learned):
    """A class that the model does not know is an error that names it; an absent one is none."""
    est, X, y = learned
    with pytest.raises(DataError, match=r"class 7.*0, 1"):
        compress(est, X, np.where(y == 1, 7, 0))
    with pytest.raises(ValueError, match="needs y"):
        compress(est, X)
    small = compress(est, X[y == 1], y[y == 1], 3)
    assert np.all(np.isfinite(small.scores(X)))
    assert small.classes.tolist() == [0, 1]


@pytest.mark.parametrize(
    "options",
    [{"n_rules": -1}, {"n_rules": 2.5}, {"cv": 1}, {"n_jobs": 0}],
)
def test_bad_options_are_refused(learned, options):
    """The error names the option."""
    est, X, y = learned
    with pytest.raises(ValueError, match=next(iter(options))):
        compress(est, X, y, **options)


def test_other_objects_are_refused(learned):
    """Only additive rules, or an estimator that holds them, can be compressed."""
    _, X, y = learned
    with pytest.raises(ValueError, match="AdditiveRules"):
        compress("a model", X, y)


def hand_made(responses, n_classes=2, **fields):
    schema = read_table(np.zeros((2, 1))).schema
    rules = [
        a_rule(
            Conjunction.of([Range("x0", low=float(i))]), i % n_classes, r, 1.0, (1.0,) * n_classes
        )
        for i, r in enumerate(responses)
    ]
    start = (0.0,) * n_classes
    return AdditiveRules(schema, np.arange(n_classes), start, tuple(rules), **fields)


def test_negative_responses_stay_negative():
    """A rule that speaks against its class goes on doing so."""
    X = np.arange(-20.0, 20)[:, None]
    y = (X[:, 0] < 0).astype(int)
    model = hand_made([0.0, -1.0])  # class 1 is less likely where x0 >= 1
    (rule,) = compress(model, X, y, 1).rules
    assert rule.outcome.value < 0


def test_models_without_rules_or_choice_stay_as_they_are():
    """One class, or no rules: nothing to choose, and the note says so."""
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    for model, labels in ((hand_made([]), y), (hand_made([1.0], n_classes=1), 0 * y)):
        small = compress(model, X, labels)
        assert small.summary["compression"]["chosen_by"] == "no rules"
        assert small.scores(X) == pytest.approx(model.scores(X))


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_tiny_tables_are_enough(n_rows):
    """With a row or two there is nothing to leave out, but no error either."""
    X, y = np.array([[0.5], [2.0], [3.0]])[:n_rows], np.array([0, 1, 1])[:n_rows]
    small = compress(hand_made([1.0, 1.0, 1.0]), X, y)
    assert np.all(np.isfinite(small.scores(X)))


def test_costs_stay_and_steps_go():
    """Costs of decisions are kept; calibrated steps belong to the old scores."""
    steps = (IsotonicSteps((0.0,), (0.2, 0.8)),) * 2
    model = hand_made([1.0, 1.0], decision=((0, 1), (5, 0)), steps=steps)
    small = compress(model, np.arange(-5.0, 5)[:, None], np.arange(10) % 2, 2)
    assert small.decision == model.decision
    assert small.steps is None


def test_of_very_many_rows_some_are_enough(learned, monkeypatch):
    """Rules are chosen on a sample, but fitted to all rows."""
    est, X, y = learned
    module = importlib.import_module("rulewright.estimators.folds.folds")
    monkeypatch.setattr(module, "MOST_ROWS", 400)
    small = compress(est, X, y, 5)
    p = softmax(small.scores(X))
    assert p[:, 1].mean() == pytest.approx(y.mean(), abs=1e-5)
    assert log_loss_of(small, X, y) < 0.85 * log_loss_of(est.model_[:0], X, y)
