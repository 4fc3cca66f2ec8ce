import numpy as np
import pytest

from rulewright.experiments.generators import balance_scale, tic_tac_toe
from rulewright.experiments.learners import Learner, RivalWorker, frame_of
from rulewright.experiments.measures import abstention, combiners, judged, posterior, score, stages
from rulewright.experiments.protocol import Folds, Place


def halves(table):
    split = Folds(2).split(table.target.codes, Place(0, 0), 0)
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
    found = judged(table, codes, np.eye(3)[codes])
    assert found.pop("balanced_accuracy") == 1.0
    assert found == {"error": 0.0, "log_loss": 0.0, "brier": 0.0, "auc": 1.0}


def test_rare_classes_count_as_much_as_others_in_balanced_accuracy():
    """Who always says the largest of three classes has a balanced accuracy of a third."""
    table = balance_scale()
    most = np.full(len(table), np.bincount(table.target.codes).argmax(), dtype=np.int32)
    assert judged(table, most, np.eye(3)[most])["balanced_accuracy"] == pytest.approx(1 / 3)


def test_stages_are_errors_of_the_first_rules():
    train, test = halves(tic_tac_toe())
    worker = Learner("x", "mlrules", {"max_rules": 20, "stopping": "none"}).start(0)
    found = stages(worker, train, test, at=[1, 5, 20])
    truth = test.target.classes[test.target.codes]
    for n, error in zip(found["at"], found["errors"], strict=True):
        assert error == pytest.approx(np.mean(worker.estimator.stages_[:n].predict(test) != truth))
    assert found["rules"] == 20


def test_abstention_gives_less_coverage_and_errors_as_the_lead_grows():
    train, test = halves(tic_tac_toe())
    settings = {"max_terms": 2, "n_samples": 3, "max_steps": 200}
    worker = Learner("x", "ruleset-ensemble", settings).start(0)
    thetas = [0.0, 0.5, 1.0, 2.0]
    found = abstention(worker, train, test, thetas, ["flat", "length"])
    assert found["coverages"][0] == 1.0
    assert found["coverages"] == sorted(found["coverages"], reverse=True)
    assert found["joint_errors"] == sorted(found["joint_errors"], reverse=True)
    assert found["joint_errors"][0] == found["error"]
    for prior in ("flat", "length"):
        bound = worker.estimator.certificate(prior).vote.raw
        assert found["bounds"][prior] == bound > found["training_loss"]
        assert found["bounds_mcallester"][prior] >= bound


def test_measures_that_look_into_models_refuse_rivals():
    train, test = halves(balance_scale())
    with pytest.raises(ValueError, match=r"take a learner of this package"):
        stages(RivalWorker(None), train, test, at=[1])


def test_a_frame_has_categories_for_nominal_columns_and_missing_values():
    table = tic_tac_toe()
    frame = frame_of(table)
    assert list(frame.columns) == list(table.names)
    column = frame["top-left-square"]
    assert set(column.cat.categories) == {"b", "o", "x"}
    assert column.iloc[0] == "x"
    assert frame_of(balance_scale())["left-weight"].dtype == float


def test_posteriors_tell_how_many_models_count():
    """The score of an average, and the perplexity of its weights."""
    worker = Learner("bma", "averaging", {"part_size": 120, "combine": "bma"}).start(0)
    found = posterior(worker, *halves(tic_tac_toe()))
    assert found["n_models"] > 2
    assert 1 <= found["kish"] <= found["perplexity"] <= found["n_models"]
    assert 0 < found["error"] < 0.5


def test_combiners_give_an_error_for_each_kind():
    """The model as it is, and its rules combined; only kinds with weights have a perplexity."""
    worker = Learner("rules", "mlrules", {"max_rules": 10}).start(0)
    found = combiners(worker, *halves(tic_tac_toe()), kinds=("bma1", "cn2", "itrule"))
    assert found["errors"].keys() == {"native", "bma1", "cn2", "itrule"}
    assert found["error"] == found["errors"]["native"]
    assert found["perplexities"].keys() == {"bma1", "cn2"}
    assert 0 < found["perplexities"]["bma1"] < found["perplexities"]["cn2"] <= 1
