"""When a fit ends: the window of the paper, validation, and running out of rules (section 7)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.metrics import log_loss

from builders import mixed_table, mlrules, rule_texts
from rulewright import Formulation, Growth, Validation, Window
from rulewright.encoding.binned import MOST_BINS
from rulewright.estimators import MLRulesClassifier
from rulewright.estimators.mlrules.boosting import Monitor
from rulewright.estimators.mlrules.settings import FORMULATIONS, GROWTHS
from rulewright.kernels import ROW
from rulewright.rules import Head
from rulewright.search import RuleGrower, Subsampler
from rulewright.stopping.boosting import Stopping, Watch
from rulewright.weighting import LogLikelihood

pytestmark = pytest.mark.native


def noise(n_rows=60, n_classes=2, seed=0):
    """Make a table that says nothing about its labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 4)), rng.integers(0, n_classes, n_rows)


def test_the_window_stops_on_noise():
    """Rules that are no better than guessing outside their subsample end the fit."""
    X, y = noise()
    est = mlrules(max_rules=300, subsample=0.5, stopping="window", learning_rate=1.0).fit(X, y)
    assert est.stopped_by_ == "window"
    acceptable = est.trace_["acceptable"]
    judged = acceptable[~np.isnan(acceptable)]
    assert np.count_nonzero(judged[-10:] == 0) >= 8
    counts = [np.count_nonzero(judged[i : i + 10] == 0) for i in range(len(judged) - 10)]
    assert all(count < 8 for count in counts)
    assert len(est.stages_) == len(acceptable) < 300


def test_the_window_lets_good_rules_go_on():
    """On data that rules explain all of them are learned."""
    X, y = mixed_table(np.random.default_rng(1), 400, missing=0.0)
    est = mlrules(max_rules=20, subsample=0.5, stopping="window", max_conditions=1).fit(X, y)
    assert est.stopped_by_ == "max_rules"
    assert len(est.stages_) == 20
    assert est.trace_["acceptable"].mean() > 0.8


@pytest.mark.parametrize("chance", ["uniform", "prior"])
def test_acceptable_is_better_than_guessing(chance, monkeypatch):
    """A rule is judged by the rows outside its subsample: 1/K, or the share of its class."""
    X, y = mixed_table(np.random.default_rng(2), 80, n_classes=3)
    y[:30] = 2
    weights = np.random.default_rng(3).choice([0.5, 1.0, 2.0], 80)
    options = {"max_rules": 30, "subsample": 0.5}
    drawn = []
    watch, draw, last = Monitor.watch, Subsampler.draw, []

    def spy(monitor, *arguments):
        drawn.append(last[0].rows)
        return watch(monitor, *arguments)

    def seen(sampler):
        last[:] = [draw(sampler)]
        return last[0]

    monkeypatch.setattr(Monitor, "watch", spy)
    monkeypatch.setattr(Subsampler, "draw", seen)
    est = mlrules(stopping=Window(40, 8, chance), **options).fit(X, y, weights)
    prior = np.bincount(y, weights) / weights.sum()
    covers = est.stages_.covers(X)
    assert len(est.stages_) == 30
    for rule, cover, rows, found in zip(
        est.stages_.rules, covers.T, drawn, est.trace_["acceptable"], strict=True
    ):
        outside = cover.copy()
        outside[rows] = False
        right = weights[outside & (y == rule.head.first)].sum()
        guess = 1 / 3 if chance == "uniform" else prior[rule.head.first]
        if outside.any():
            assert found == (right / weights[outside].sum() > guess)
        else:
            assert np.isnan(found)


@pytest.mark.parametrize(("labels", "acceptable"), [([0, 1, 0, 1], 0.0), ([0, 1, 1, 1], 1.0)])
def test_as_good_as_guessing_is_not_acceptable(labels, acceptable):
    """One right vote of two outside the subsample is what guessing gives."""
    labels = np.array(labels, dtype=np.int32)
    likelihood = LogLikelihood(labels, np.ones(4), np.zeros(2))
    watch = Window(10, 8, "uniform").start([0.9, 0.1], np.nan)
    monitor = Monitor(watch, start_loss=np.log(2))
    outside, _ = likelihood.class_weights(np.array([2, 3], dtype=ROW), np.zeros(4, np.bool_))
    monitor.watch(Head(1, 1), outside, likelihood.loss / 4, np.nan)
    assert monitor.trace()["acceptable"].tolist() == [acceptable]


@pytest.mark.parametrize(("subsample", "n_draws"), [(1.0, 1), (0.5, 10)])
def test_the_search_gives_up(subsample, n_draws, monkeypatch):
    """Without a useful rule all rows are searched once, subsamples ten times."""
    draws = []
    monkeypatch.setattr(RuleGrower, "grow", lambda *arguments: draws.append(arguments))
    est = mlrules(subsample=subsample).fit(*noise())
    assert len(draws) == n_draws
    assert est.stopped_by_ == "no_rule"


def test_the_window_needs_rows_outside():
    """Asking for the window without subsampling is an error that says what to change."""
    X, y = noise()
    with pytest.raises(ValueError, match="subsample < 1"):
        mlrules(subsample=1.0, stopping="window").fit(X, y)
    assert mlrules(subsample=1.0, stopping="auto").fit(X, y).stopped_by_ != "window"


@pytest.mark.parametrize("stopping", ["window", Window(20)])
def test_the_window_needs_rows_that_can_be_spared(stopping):
    """Fewer than 50 rows are taken whole, so the window could never fire: that is an error."""
    X, y = noise(49)
    with pytest.raises(ValueError, match=r"stopping=.* rows outside .* 49 rows .*fewer than 50"):
        MLRulesClassifier(stopping=stopping).fit(X, y)
    assert MLRulesClassifier(3, stopping="auto").fit(X, y).stopped_by_ == "max_rules"
    rows = mixed_table(np.random.default_rng(1), 50)
    assert MLRulesClassifier(3, stopping=stopping).fit(*rows).stopped_by_ == "max_rules"


def test_the_window_of_the_paper():
    """`paper` judges by 1/K and stops at 8 bad rules of 10; other windows are taken as given."""
    assert MLRulesClassifier.paper(stopping="window").stopping == Window(10, 8, "uniform")
    assert MLRulesClassifier.paper(stopping=Window()).stopping == Window(50, None, "prior")
    X, y = noise(120)
    y[:90] = 0  # three of four rows: a rule for them beats 1/K, hardly their share
    good = {
        chance: np.nanmean(est.trace_["acceptable"])
        for chance, est in {
            "uniform": MLRulesClassifier.paper(stopping="window", max_rules=40, random_state=0),
            "prior": MLRulesClassifier.paper(stopping=Window(10, 8), max_rules=40, random_state=0),
        }.items()
        if est.fit(X, y)
    }
    assert good["uniform"] > good["prior"] + 0.2


def test_validation_cuts_back_to_the_best_model():
    """Learning ends so many rules after the lowest validation loss, which the model keeps."""
    X, y = noise(200)
    est = mlrules(
        max_rules=400,
        stopping=Validation(0.3, 5),
        learning_rate=0.5,
    ).fit(X, y)
    losses = est.trace_["validation_loss"]
    assert est.stopped_by_ == "validation"
    assert len(est.stages_) in (0, losses.argmin() + 1)
    assert len(losses) == len(est.stages_) + 5
    assert len(est.trace_["train_loss"]) == len(losses)


def test_validation_learns_what_is_there():
    """On explained data validation keeps rules, and its loss is far below the start."""
    X, y = mixed_table(np.random.default_rng(4), 500, missing=0.0)
    est = mlrules(max_rules=60, stopping=Validation(n_iter_no_change=20), max_conditions=2).fit(
        X, y
    )
    assert len(est.model_) >= 10
    assert est.trace_["validation_loss"].min() < 0.9 * np.log(2)


def test_validation_rows_do_not_train():
    """The weights of all rules come from the rows that were not kept aside."""
    X, y = mixed_table(np.random.default_rng(5), 100)
    est = mlrules(stopping=Validation(0.4, 100)).fit(X, y)
    covers = est.model_.covers(X)
    for cover, rule in zip(covers.T, est.model_.rules, strict=True):
        assert rule.coverage.support <= cover.sum()
    assert sum(r.coverage.support for r in est.model_.rules) < 0.8 * covers.sum()
    assert est.model_.summary["total_weight"] == 60


def test_the_summary_describes_the_kept_model():
    """The training loss that a model tells is that of its own rules, also when it was cut back."""
    X, y = noise(200)
    est = mlrules(
        max_rules=400,
        stopping=Validation(0.3, 5),
        learning_rate=0.5,
    ).fit(X, y)
    n = len(est.stages_)
    losses = est.trace_["train_loss"]
    assert n < len(losses)
    assert est.model_.summary["log_loss"] >= (losses[n - 1] if n else losses[0])


def test_too_few_rows_for_validation():
    """Rows that cannot be split give an error with the remedy."""
    with pytest.raises(ValueError, match="validation_fraction"):
        mlrules(stopping=Validation(0.1)).fit([[0.0], [1.0]], [0, 1])


def test_prefixed_rules_vote_for_the_neediest_class():
    """From a flat start the first prefixed rule votes for the class with the lowest criterion."""
    X, y = mixed_table(np.random.default_rng(6), 90, n_classes=3)
    y[:40] = 2
    for criterion in ("newton", "gradient"):
        flat = {"class_choice": "prefixed", "formulation": Formulation("none")}
        est = mlrules(max_rules=1, criterion=criterion, **flat).fit(X, y)
        assert est.model_.rules[0].head == (2, 2)


def test_prefixed_and_joint_agree_when_one_class_matters():
    """With two classes and one direction of votes both choices grow rules that help."""
    X, y = mixed_table(np.random.default_rng(7), 200, n_classes=4, missing=0.0)
    scores = [
        np.mean(mlrules(max_rules=60, class_choice=choice).fit(X, y).predict(X) == y)
        for choice in ("joint", "prefixed")
    ]
    assert min(scores) > 0.6


def test_missing_conditions_are_used_only_when_allowed():
    """Labels that depend on gaps are learned by `is missing`, which is off otherwise."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=100)
    x[::2] = np.nan
    X, y = {"x": x, "z": rng.normal(size=100)}, np.isnan(x).astype(int)
    allowed = mlrules(missing_conditions=True).fit(X, y)
    assert "x is missing" in dict(rule_texts(allowed.model_))
    np.testing.assert_array_equal(allowed.predict(X), y)
    texts = [text for text, _ in rule_texts(mlrules().fit(X, y).model_)]
    assert not any("missing" in text or "known" in text for text in texts)


def test_the_published_settings():
    """`paper()` gives the settings of section 5, and takes overrides."""
    paper = MLRulesClassifier.paper().get_params()
    published = {
        "max_rules": 500,
        "learning_rate": 0.1,
        "subsample": 0.5,
        "l2": 0.0,
        "max_conditions": None,
        "min_weight": 0.0,
        "growth": "published",
        "formulation": "published",
        "missing_conditions": False,
        "max_bins": MOST_BINS,
        "stopping": "none",
    }
    assert {name: paper[name] for name in published} == published
    assert GROWTHS["published"]() == Growth("newton", False, "joint", 1.0, False, False, 0.0)
    assert FORMULATIONS["published"]() == Formulation("newton", False, "observed")
    X, y = mixed_table(np.random.default_rng(9), 60)
    est = MLRulesClassifier.paper(max_rules=20, random_state=0).fit(X, y)
    assert len(est.stages_) == 20
    thresholds = {
        bound
        for rule in est.stages_.rules
        for condition in rule.body
        for bound in (getattr(condition, "low", np.inf), getattr(condition, "high", np.inf))
        if np.isfinite(bound)
    }
    assert thresholds <= set(X["a"]) | set(X["b"]) | set(X["c"])


def test_verbose_draws_on_standard_error(capsys):
    """A progress bar never mixes with results."""
    mlrules(verbose=1).fit(*noise())
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("n_rows", [30, 200])
def test_the_defaults_do_not_learn_noise_by_heart(n_rows):
    """On labels that mean nothing, new rows are predicted not much worse than by their shares."""
    X, y = noise(n_rows + 1000, seed=1)
    new = slice(n_rows, None)

    def loss_of(**options):
        est = MLRulesClassifier(random_state=0, **options).fit(X[:n_rows], y[:n_rows])
        return log_loss(y[new], est.predict_proba(X[new]))

    assert loss_of() < 0.75
    assert loss_of() < loss_of(growth=Growth(prune=False, min_evidence=0.0), stopping="none") - 0.05


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_classes_get_more_rules(n_classes):
    X, y = noise(60, n_classes)
    options = {"stopping": "none", "max_conditions": 1, "growth": Growth(prune=False)}
    est = MLRulesClassifier(random_state=0, **options).fit(X, y)
    assert len(est.stages_) == 250 * n_classes
    assert est.stopped_by_ == "max_rules"


@pytest.mark.parametrize(
    ("n_rows", "options", "asked"),
    [
        (40, {}, 1.0),
        (60, {}, 0.0),
        (60, {"subsample": 1.0}, 1.0),
        (40, {"stopping": "none"}, 0.0),
    ],
)
def test_evidence_is_asked_for_where_no_row_tests_the_rules(n_rows, options, asked):
    X, y = mixed_table(np.random.default_rng(3), n_rows)

    def learned(**more):
        est = MLRulesClassifier(60, random_state=0, **options, **more)
        return rule_texts(est.fit(X, y).model_)

    assert learned() == learned(growth=Growth(min_evidence=asked))
    assert learned() != learned(growth=Growth(min_evidence=1.0 - asked))


def test_every_rule_has_the_evidence_asked_for():
    """The evidence of each rule on all rows, at the scores it met, reaches the minimum."""
    X, y = mixed_table(np.random.default_rng(8), 120)
    est = mlrules(max_rules=200, min_evidence=2.0, l2=1.0, learning_rate=1.0).fit(X, y)
    assert 0 < len(est.stages_) < 200
    assert est.stopped_by_ == "no_rule"
    stages = est.staged_predict_proba(X)
    for p, cover, rule in zip(stages, est.stages_.covers(X).T, est.stages_.rules, strict=False):
        p, hit = p[cover, rule.head.first], y[cover] == rule.head.first
        g, h = np.sum(p - hit), np.sum(p * (1 - p))
        assert -g / np.sqrt(h + 1.0) > 2.0 - 1e-6


@dataclass(frozen=True)
class AtLoss(Stopping):
    """Stop when the loss of a few rows kept aside is below a limit."""

    limit: float = 0.5
    name: ClassVar[str] = "limit"

    @property
    def kept_aside(self):
        return 0.2

    def start(self, shares, loss):
        watch = Watch()
        watch.stop_after = lambda progress: progress.validation_loss < self.limit
        return watch


def test_a_stopping_rule_of_ones_own():
    """Any object of the interface works; the fit knows none of them."""
    X, y = mixed_table(np.random.default_rng(4), 500, missing=0.0)
    est = mlrules(max_rules=300, stopping=AtLoss(0.55)).fit(X, y)
    assert est.stopped_by_ == "limit"
    assert 0 < len(est.model_) == len(est.trace_["train_loss"]) < 300
