import numpy as np
import pytest

from rulewright.comparison.learners import Learner, frame_of
from rulewright.comparison.trial import FoldProtocol, Place, judge_answers, score
from rulewright_lab.experiments.generators import balance_scale, tic_tac_toe


def halves(table):
    split = FoldProtocol(2).split(table.target.codes, Place(0, 0), 0)
    return table.take(split.train), table.take(split.test)


def test_scores_agree_with_the_estimator():
    train, test = halves(tic_tac_toe())
    worker = Learner("x", "mlrules", {"max_rules": 30}).start(seed=3)
    found = score(worker, train, test)
    estimator = worker.estimator
    truth = test.target.classes[test.target.codes]
    assert estimator.random_state == 3
    assert found["error"] == pytest.approx(1 - estimator.score(test, truth))
    shares = estimator.predict_proba(test)
    given = shares[np.arange(len(truth)), test.target.codes]
    assert found["log_loss"] == pytest.approx(-np.log(given).mean())
    assert found["rules"] == len(estimator.model_)
    assert found["conditions"] == sum(len(rule.body) for rule in estimator.model_.rules)


def test_a_figure_that_is_right_about_everything():
    table = balance_scale()
    codes = table.target.codes
    found = judge_answers(table, codes, np.eye(3)[codes])
    assert found.pop("balanced_accuracy") == 1.0
    assert found == {"error": 0.0, "log_loss": 0.0, "brier_score_loss": 0.0, "auc": 1.0}


def test_rare_classes_count_as_much_as_others_in_balanced_accuracy():
    """Who always says the largest of three classes has a balanced accuracy of a third."""
    table = balance_scale()
    most = np.full(len(table), np.bincount(table.target.codes).argmax(), dtype=np.int32)
    assert judge_answers(table, most, np.eye(3)[most])["balanced_accuracy"] == pytest.approx(1 / 3)


def test_a_frame_has_categories_for_nominal_columns_and_missing_values():
    table = tic_tac_toe()
    frame = frame_of(table)
    assert list(frame.columns) == list(table.names)
    column = frame["top-left-square"]
    assert set(column.cat.categories) == {"b", "o", "x"}
    assert column.iloc[0] == "x"
    assert frame_of(balance_scale())["left-weight"].dtype == float
