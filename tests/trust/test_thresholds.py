"""What thresholds find, miss and cost, by hand and against the predictions of models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from builders import mixed_table, mlrules
from rulewright import compare_thresholds, load_model, with_decision
from rulewright.evidence import choose_thresholds, measure_thresholds

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def est():
    """Give a learner with many different probabilities."""
    X, y = mixed_table(np.random.default_rng(0), 400)
    return mlrules(max_rules=20, decision=0.3).fit(X, np.array(["no", "yes"])[y])


@pytest.fixture(scope="module")
def rows():
    """Give rows that were not learned from."""
    X, y = mixed_table(np.random.default_rng(1), 300)
    return X, np.array(["no", "yes"])[y]


def test_by_hand():
    """Four rows: every threshold between them is counted."""
    figures = measure_thresholds(
        np.array([0.1, 0.4, 0.4, 0.81]),
        np.array([False, True, False, True]),
        np.ones(4),
        (5.0, 1.0),
    )
    assert figures.threshold.tolist() == [0.1, 0.4, 0.8, 0.9]
    assert figures.predicted.tolist() == [1.0, 0.75, 0.25, 0.0]
    assert figures.recall.tolist() == [1.0, 1.0, 0.5, 0.0]
    np.testing.assert_allclose(figures.precision, [0.5, 2 / 3, 1.0, np.nan])
    assert figures.false_positive_rate.tolist() == [1.0, 0.5, 0.0, 0.0]
    assert figures.accuracy.tolist() == [0.5, 0.75, 0.75, 0.5]
    assert figures.balanced_accuracy.tolist() == [0.5, 0.75, 0.75, 0.5]
    assert figures.cost.tolist() == [500.0, 250.0, 1250.0, 2500.0]
    assert figures.best() == {"accuracy": 1, "balanced accuracy": 1, "cost": 1}


def test_figures_are_those_of_the_model_with_the_threshold(est, rows):
    """A line says what the model does when it decides by its threshold."""
    X, y = rows
    found = compare_thresholds(est, X, y, costs={"yes": {"no": 4}}, max_thresholds=None).to_table()
    for i in range(0, len(found["threshold"]), 7):
        predicted = with_decision(est, {"yes": found["threshold"][i]}).predict(X)
        assert np.mean(predicted == "yes") == pytest.approx(found["predicted"][i])
        assert metrics.accuracy_score(y, predicted) == pytest.approx(found["accuracy"][i])
        balanced = metrics.balanced_accuracy_score(y, predicted)
        assert balanced == pytest.approx(found["balanced_accuracy"][i])
        wrong = (y == "yes") & (predicted == "no"), (y == "no") & (predicted == "yes")
        assert 1000 * (4 * wrong[0] + wrong[1]).mean() == pytest.approx(found["cost"][i])


def test_the_best_are_among_few_lines(est, rows, tmp_path):
    """A saved model gives the same lines; the best thresholds are those of all lines."""
    X, y = rows
    every = compare_thresholds(est, X, y, max_thresholds=None)
    est.model_.save(tmp_path / "m.json")
    few = compare_thresholds(load_model(tmp_path / "m.json"), X, y, max_thresholds=8)
    assert len(few) <= 8 < len(every)
    assert few.best == every.best
    assert set(few.best) == {"accuracy", "balanced accuracy"}
    text = str(few)
    assert text.startswith("thresholds for the probability of yes, on 300 rows (")
    assert "predicted yes" in text
    assert text.endswith("expect slightly worse figures on new rows")
    assert list(few.to_frame("pandas")["best"]).count("accuracy") <= 1
    assert "<table" in few._repr_html_()


def test_costs_are_those_of_the_model(est, rows):
    """A model that decides by costs is compared by them; the other class can be asked for."""
    X, y = rows
    dear = with_decision(est, [[0, 1], [6, 0]])
    found = compare_thresholds(dear, X, y)
    assert 0 < found.best["cost"] < 0.5
    other = compare_thresholds(dear, X, y, positive="no")
    assert other.class_name == "no"
    assert 0.5 < other.best["cost"] < 1


def test_weights_count(est, rows):
    """A weight of two is a row twice."""
    X, y = rows
    weights = np.arange(300) % 3
    twice = np.repeat(np.arange(300), weights)
    one = compare_thresholds(est, X, y, sample_weight=weights)
    two = compare_thresholds(est, {n: np.asarray(v)[twice] for n, v in X.items()}, y[twice])
    np.testing.assert_allclose(one.figures.accuracy, two.figures.accuracy)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12, unique=True))
def test_thresholds_part_neighbours(values):
    """Each probability has a threshold at or below it that the one before does not reach."""
    values = np.sort(np.array(values) + 0.0)
    found = choose_thresholds(values)
    assert np.all((found > 0) & (found < 1))
    parted = {tuple(values >= one) for one in found}
    wanted = [at for at in values if at > 0] + ([np.inf] if values[-1] < 0.99 else [])
    for at in wanted:
        if at < 1 or (values < 1).any():
            assert tuple(values >= at) in parted or at == 1


def test_wrong_input_is_refused(est, rows):
    """Errors say what is needed."""
    X, y = rows
    with pytest.raises(ValueError, match="positive='maybe': 'maybe' is not a class"):
        compare_thresholds(est, X, y, positive="maybe")
    with pytest.raises(ValueError, match="no row of the class 'yes'"):
        compare_thresholds(est, X, np.full(len(y), "no"))
    three = mlrules().fit(*mixed_table(np.random.default_rng(0), 90, n_classes=3))
    with pytest.raises(ValueError, match="needs two classes, but the model has 3"):
        compare_thresholds(three, X, y)


@pytest.mark.parametrize(("rarer", "other"), [("no", "yes"), ("yes", "no")])
def test_the_rarer_class_is_compared_unless_another_is_named(rows, rarer, other):
    """The model notes which class is rarer in its training rows; a name goes first."""
    X, y = rows
    few = (y == other) | (np.arange(len(y)) % 4 == 0)
    model = mlrules(max_rules=3).fit({k: np.asarray(v)[few] for k, v in X.items()}, y[few]).model_
    assert compare_thresholds(model, X, y).label == rarer
    found = compare_thresholds(model, X, y, positive=other)
    assert found.label == other
    assert found.share == pytest.approx(np.mean(y == other))
