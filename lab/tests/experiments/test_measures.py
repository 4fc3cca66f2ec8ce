import numpy as np
import pytest

from rulewright.comparison.learners import Learner, RivalWorker
from rulewright.comparison.trial import FoldProtocol, Place
from rulewright_lab.experiments.generators import balance_scale, tic_tac_toe
from rulewright_lab.experiments.measures import abstention, combiners, posterior, stages


def halves(table):
    split = FoldProtocol(2).split(table.target.codes, Place(0, 0), 0)
    return table.take(split.train), table.take(split.test)


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
