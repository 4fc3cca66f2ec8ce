"""Figures and curves of answers, by hand, by resampling and by scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

from rulewright.evidence import (
    ClassAnswers,
    NumberAnswers,
    figures_of,
    measures,
    rank_interest,
    score_answers,
)
from rulewright.report.curves import (
    calibration_curve,
    confusion,
    gain_curve,
    precision_curves,
    risk_curve,
    roc_curves,
)


def answers_of(codes, probabilities, weights=None, names=None):
    """Make answers whose predicted class is the most probable one."""
    codes, probabilities = np.array(codes), np.array(probabilities, np.float64)
    weights = np.ones(len(codes)) if weights is None else np.array(weights, np.float64)
    names = names or tuple("abcdefgh"[: probabilities.shape[1]])
    return ClassAnswers("rows", names, codes, probabilities, probabilities.argmax(axis=1), weights)


def two_classes(p, codes, weights=None):
    """Make answers of two classes from the probability of the second."""
    p = np.array(p, np.float64)
    return answers_of(codes, np.column_stack([1 - p, p]), weights)


def noisy(rng, n, n_classes=2):
    """Make answers that are right more often than not."""
    codes = rng.integers(0, n_classes, n)
    scores = rng.normal(size=(n, n_classes)) + 1.2 * (codes[:, None] == np.arange(n_classes))
    e = np.exp(scores)
    return answers_of(codes, e / e.sum(axis=1, keepdims=True))


def by_name(answers):
    """Give the figures by their names."""
    return {figure.name: figure for figure in measures(answers)}


def resampled(answers, name, rng, n=400):
    """Give the standard deviation of a figure over resampled rows."""
    found = []
    for _ in range(n):
        rows = rng.integers(0, len(answers.weights), len(answers.weights))
        parts = {
            key: value[rows] if isinstance(value, np.ndarray) else value
            for key, value in vars(answers).items()
        }
        found.append(by_name(type(answers)(**parts))[name].value)
    return np.std(found)


def test_accuracy_by_hand():
    """8 of 10 are right: Clopper and Pearson's interval is 0.444 to 0.975, the baseline 0.6."""
    p = [0.9, 0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.9]
    figure = by_name(two_classes(p, [1, 1, 1, 1, 1, 0, 0, 0, 1, 0]))["Accuracy"]
    assert figure.value == pytest.approx(0.8)
    assert (figure.low, figure.high) == pytest.approx((0.44390, 0.97479), abs=1e-5)
    assert figure.baseline == pytest.approx(0.6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_figures_are_those_of_scikit_learn(n_classes):
    """Log-loss and AUC agree with the library that everybody knows."""
    answers = noisy(np.random.default_rng(0), 200, n_classes)
    found, p = by_name(answers), answers.probabilities
    assert found["Log-loss"].value == pytest.approx(log_loss(answers.codes, p))
    scores = p[:, 1] if n_classes == 2 else p
    area = roc_auc_score(answers.codes, scores, multi_class="ovr")
    assert found["AUC"].value == pytest.approx(area)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", ["accuracy", "log_loss", "brier_score_loss", "auc"])
def test_intervals_of_classes_are_as_wide_as_resampling_says(name, n_classes):
    """An interval is about twice 1.96 standard deviations of the figure over resampled rows."""
    rng = np.random.default_rng(1)
    answers = noisy(rng, 300, n_classes)
    (figure,) = (one for one in measures(answers) if one.key == name)
    assert figure.low < figure.value < figure.high
    width = 2 * 1.96 * resampled(answers, figure.name, rng)
    assert figure.high - figure.low == pytest.approx(width, rel=0.15)


@pytest.mark.parametrize("name", ["R2", "MAE", "RMSE"])
def test_intervals_of_numbers_are_as_wide_as_resampling_says(name):
    """The same for numbers."""
    rng = np.random.default_rng(2)
    truth = rng.normal(size=300)
    answers = NumberAnswers("rows", truth, truth + rng.normal(size=300) / 2, np.ones(300))
    figure = by_name(answers)[name]
    width = 2 * 1.96 * resampled(answers, name, rng)
    assert figure.high - figure.low == pytest.approx(width, rel=0.15)


def test_numbers_by_hand():
    """Errors of 1 and -1 on numbers 0, 2, 4, 6: R2 is 1 - 1 / 5."""
    found = by_name(
        NumberAnswers("", np.array([0.0, 2, 4, 6]), np.array([1.0, 1, 5, 5]), np.ones(4))
    )
    assert (found["R2"].value, found["MAE"].value, found["RMSE"].value) == (0.8, 1.0, 1.0)
    assert found["RMSE"].baseline == pytest.approx(5**0.5)


def test_a_perfect_ranking_has_an_interval():
    """With 3 rows of the rarer class all pairs may be right by chance: the exact end is told."""
    figure = by_name(two_classes([0.9, 0.8, 0.7, 0.2, 0.1, 0.3, 0.1], [1, 1, 1, 0, 0, 0, 0]))["AUC"]
    assert (figure.value, figure.high) == (1.0, 1.0)
    assert figure.low == pytest.approx(0.025 ** (1 / 3))


def test_weight_two_everywhere_changes_nothing():
    """Weights count by their effective number."""
    answers = noisy(np.random.default_rng(3), 60)
    twice = answers_of(answers.codes, answers.probabilities, np.full(60, 2.0))
    for one, two in zip(measures(answers), measures(twice), strict=True):
        assert one[1:5] == pytest.approx(two[1:5])


def test_a_class_that_the_model_does_not_know_is_an_error():
    """Such rows count in the accuracy and in no other figure."""
    known = two_classes([0.9, 0.2, 0.8, 0.4], [1, 0, 1, 0])
    more = two_classes([0.9, 0.2, 0.8, 0.4, 0.5], [1, 0, 1, 0, -1])
    assert by_name(more)["Accuracy"].value == pytest.approx(0.8)
    assert by_name(more)["Log-loss"] == by_name(known)["Log-loss"]


def test_one_class_only_has_no_area():
    """Where all rows are of one class nothing can be ranked, and no curve is drawn."""
    answers = two_classes([0.9, 0.2], [1, 1])
    assert "AUC" not in by_name(answers)
    assert roc_curves(answers) == []


def test_roc_curve_is_that_of_scikit_learn():
    """The points lie on scikit-learn's curve."""
    answers = replace(noisy(np.random.default_rng(4), 100), positive=1)
    (curve,) = roc_curves(answers)
    x, y, _ = roc_curve(answers.codes, answers.probabilities[:, 1], drop_intermediate=False)
    np.testing.assert_allclose((curve.x, curve.y), (x, y))


def test_the_area_under_precision_is_the_average_precision():
    """Steps of precision over recall add up to the average precision."""
    answers = replace(noisy(np.random.default_rng(5), 100), positive=1)
    (curve,) = precision_curves(answers)
    area = float(np.diff(curve.x) @ curve.y[1:])
    expected = average_precision_score(answers.codes, answers.probabilities[:, 1])
    assert area == pytest.approx(expected)


def test_calibration_by_hand():
    """Two probabilities make two groups, each with its share of rows of the class."""
    curve = calibration_curve(two_classes([0.25] * 4 + [0.75] * 4, [1, 0, 0, 0, 1, 1, 0, 1]))
    np.testing.assert_allclose(curve.x, [0.25, 0.75])
    np.testing.assert_allclose(curve.y, [0.25, 0.75])
    assert (curve.low < curve.y).all()


def test_risk_falls_with_coverage_where_certain_answers_are_right():
    """The most certain answers come first; at full coverage the risk is the error."""
    p = np.linspace(0.51, 1, 100)
    answers = two_classes(p, (p > 0.6).astype(int))
    curve = risk_curve(answers)
    assert curve.x[-1] == 1.0
    assert curve.y[-1] == pytest.approx(np.mean(answers.wrong))
    assert (np.diff(curve.y) >= 0).all()


def test_confusion_by_hand():
    """Rows are true classes, columns predicted ones; others come last."""
    answers = answers_of([0, 0, 1, 2], np.eye(3)[[0, 1, 1, 2]], names=("a", "b", "c"))
    table = confusion(answers, np.array([0, 1]))
    np.testing.assert_array_equal(table, [[1, 1, 0], [0, 1, 0], [0, 0, 1]])


def test_scores_are_the_values_of_the_measures():
    """Values without intervals are the same numbers; a figure that there is not is NaN."""
    answers = noisy(np.random.default_rng(0), 80, 3)
    scores = score_answers(answers)
    assert {one.key: one.value for one in measures(answers)} == pytest.approx(
        {name: value for name, value in scores.items() if name != "ece"}
    )
    constant = NumberAnswers("rows", np.ones(4), np.arange(4.0), np.ones(4))
    assert np.isnan(score_answers(constant)["r2"])
    assert "R2" not in by_name(constant)


def test_better_estimates_move_the_interval():
    """Known estimates are the values; intervals have the same width, and shares stay shares."""
    answers = two_classes([0.2, 0.4, 0.6, 0.8] * 10, [0, 0, 1, 1] * 10)
    plain = by_name(answers)
    moved = by_name(replace(answers, estimates={"log_loss": 0.9, "accuracy": 0.99}))
    assert (moved["Log-loss"].value, moved["Accuracy"].value) == (0.9, 0.99)
    width = moved["Log-loss"].high - moved["Log-loss"].low
    assert width == pytest.approx(plain["Log-loss"].high - plain["Log-loss"].low)
    assert moved["Accuracy"].high <= 1.0
    assert moved["AUC"] == plain["AUC"]


def rare(rng, n=400, share=0.1, weights=None):
    """Make answers of two classes of which the second has this share."""
    codes = (rng.random(n) < share).astype(int)
    p = 1 / (1 + np.exp(-(rng.normal(size=n) + 2 * codes - 1.5)))
    return two_classes(p, codes, weights)


def test_figures_of_a_rare_class_are_those_of_scikit_learn():
    """Average precision, recall, precision and the Brier score of two classes, with weights."""
    rng = np.random.default_rng(6)
    answers = rare(rng, weights=rng.integers(1, 4, 400))
    found = {one.key: one for one in measures(answers)}
    codes, p, weights = answers.codes, answers.probabilities[:, 1], answers.weights
    given = {"sample_weight": weights}
    expected = {
        "average_precision": average_precision_score(codes, p, **given),
        "recall": recall_score(codes, answers.chosen, **given),
        "precision": precision_score(codes, answers.chosen, **given),
        "brier_score_loss": brier_score_loss(codes, p, **given),
        "gini": 2 * roc_auc_score(codes, p, **given) - 1,
    }
    assert {key: found[key].value for key in expected} == pytest.approx(expected)
    share = np.average(codes, weights=weights)
    baselines = {"average_precision": share, "precision": share, "recall": 0.0, "auc": 0.5}
    assert {key: found[key].baseline for key in baselines} == pytest.approx(baselines)
    for one in found.values():
        assert one.low <= one.value <= one.high


@pytest.mark.parametrize("key", ["average_precision", "recall", "precision", "ks", "gini"])
def test_intervals_of_a_rare_class_are_about_as_wide_as_resampling_says(key):
    """They are exact or asymptotic: within two thirds and three halves of the resampled width."""
    rng = np.random.default_rng(7)
    answers = rare(rng, 600, 0.15)
    (figure,) = (one for one in measures(answers) if one.key == key)
    width = 2 * 1.96 * resampled(answers, figure.name, rng)
    assert 2 / 3 < (figure.high - figure.low) / width < 3 / 2


@pytest.mark.parametrize("place", [0, 1])
def test_the_rarer_class_is_of_interest(place):
    """Whichever place it has; equally frequent classes leave the second; a name goes first."""
    codes = np.array([place] * 20 + [1 - place] * 80)
    answers = two_classes(np.linspace(0.1, 0.9, 100), codes)
    assert answers.interest == place
    assert answers.interest_share == pytest.approx(0.2)
    assert replace(answers, positive=1 - place).interest == 1 - place
    assert two_classes([0.2, 0.7], [0, 1]).interest == 1
    assert answers_of([0, 1, 2], np.eye(3)).interest is None


def test_a_rare_class_opens_with_ranks():
    """Below 20 % the headline has no accuracy; from there on it starts with it."""
    rng = np.random.default_rng(8)
    few, many = rare(rng, share=0.1), rare(rng, share=0.35)
    assert [one.key for one in measures(few)][:3] == ["auc", "average_precision", "recall"]
    assert measures(many)[0].key == "accuracy"


def test_a_class_that_is_never_predicted_has_no_precision():
    """Its recall is 0; the precision has no value, in plain data None."""
    answers = two_classes([0.1, 0.2, 0.3, 0.1, 0.4], [0, 0, 0, 0, 1])
    noted = figures_of(answers)
    assert (noted["positive"], noted["positive_share"]) == ("b", pytest.approx(0.2))
    assert noted["figures"]["recall"]["value"] == 0.0
    assert noted["figures"]["precision"]["value"] is None


def test_the_gain_curve_ends_at_all_rows():
    """The most probable tenth of the rows holds the share that the decile table prints."""
    answers = rare(np.random.default_rng(9))
    curve, ranking = gain_curve(answers), rank_interest(answers)
    assert (curve.x[-1], curve.y[-1]) == (1.0, 1.0)
    assert curve.at(0.1) == pytest.approx(ranking.deciles()[0].gain, abs=0.01)
