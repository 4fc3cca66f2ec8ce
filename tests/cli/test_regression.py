"""Regression on the command line: chosen by the target, said, validated and saved."""

import numpy as np
import pytest

from rulewright import load_model
from rulewright.evidence import NumberAnswers, score_answers
from rulewright.model import RegressionRules


@pytest.fixture
def numbers(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 120)).round(2)
    lines = [f"{x},{z},{2 * (x > 0) + z:.2f},{int(z > 0)}" for x, z in zip(a, b, strict=True)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,y,flag", *lines]) + "\n")
    return path


def test_fractions_are_learned_as_numbers(cli, numbers, tmp_path):
    """The output says so, shows R2, MAE and RMSE beside the mean, and the model is saved."""
    model = tmp_path / "m.json"
    options = ["--cv", "2", "--set", "max_rules=5", "--model", model]
    text = cli("learn", numbers, "--target", "y", *options).output
    assert "the target is numeric; --task classification treats it as classes" in text
    assert "R2" in text
    assert "RMSE" in text
    assert "baseline" in text
    assert isinstance(load_model(model), RegressionRules)
    shown = cli("predict", model, numbers).output
    assert shown.splitlines()[0] == "prediction"
    assert len(shown.splitlines()) == 121


def test_whole_numbers_of_few_values_stay_classes(cli, numbers):
    """Two whole numbers are two classes, unless regression is asked for."""
    assert "classes: " in cli("learn", numbers, "--target", "flag", "--cv", "0").output
    asked = cli("learn", numbers, "--target", "flag", "--cv", "0", "--task", "regression").output
    assert "numbers: mean" in asked


def test_learners_that_do_not_fit_the_task(cli_failure, numbers):
    """A learner of classes is refused for numbers, with the remedies."""
    text = cli_failure("learn", numbers, "--target", "y", "--learner", "mlrules")
    assert "--learner mlrules does not predict numbers" in text
    assert "Use compact or rulefit, or --task classification" in text


def test_measures_by_hand():
    """R2, mean absolute and root mean squared error, with weights."""
    truth, found = np.array([0.0, 2.0, 4.0]), np.array([0.0, 2.0, 6.0])
    scores = score_answers(NumberAnswers("", truth, found, np.ones(3)))
    expected = {"r2": 1 - (4 / 3) / (8 / 3), "mae": 2 / 3, "rmse": np.sqrt(4 / 3)}
    assert scores == pytest.approx(expected)
    same = NumberAnswers("", np.ones(2), np.zeros(2), np.ones(2))
    assert np.isnan(score_answers(same)["r2"])
    weighted = NumberAnswers("", truth, found, np.array([1.0, 1.0, 0.0]))
    assert score_answers(weighted)["rmse"] == 0.0
