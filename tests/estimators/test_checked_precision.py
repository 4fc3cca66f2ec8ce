"""Printed precision of rules that all rows chose: corrected by models learned without some."""

import numpy as np
import pytest

from builders import intervals_held, noisy_rows, rule_texts
from rulewright import load_model
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.covers import PackedCovers
from rulewright.estimators import (
    AveragedRulesClassifier,
    C45RulesClassifier,
    CN2Classifier,
    FOILClassifier,
    LRIClassifier,
    PARTClassifier,
    RipperClassifier,
    RISEClassifier,
    RuleSetEnsembleClassifier,
    RumbleClassifier,
    SL2Classifier,
    StumpClassifier,
    cross_fit,
)
from rulewright.estimators.folds import precision
from rulewright.estimators.folds.precision import (
    CoverComparison,
    correct_precision,
    decided_weights,
)
from rulewright.rules import Coverage

pytestmark = pytest.mark.native

SEEDED = {"n_jobs": 1, "random_state": 0}
CHECKED = {
    "ripper": RipperClassifier(**SEEDED),
    "foil": FOILClassifier(**SEEDED),
    "cn2": CN2Classifier(rules_per_class=15, **SEEDED),
    "cn2 list": CN2Classifier(ordered=True, rules_per_class=15, **SEEDED),
    "c45rules": C45RulesClassifier(**SEEDED),
    "part": PARTClassifier(**SEEDED),
    "stump": StumpClassifier(**SEEDED),
    "rise": RISEClassifier(**SEEDED),
    "lri": LRIClassifier(5, **SEEDED),
    "lri refitted": LRIClassifier(5, calibration=None, **SEEDED),
    "rumble": RumbleClassifier(max_candidates=60, cv=3, **SEEDED),
    "rumble refitted": RumbleClassifier(max_candidates=60, calibration=None, **SEEDED),
    "sl2": SL2Classifier(max_rules=3, max_steps=500, cv=3, **SEEDED),
    "sl2 refitted": SL2Classifier(3, size="max", max_steps=500, **SEEDED),
}
each = pytest.mark.parametrize("learner", CHECKED.values(), ids=CHECKED)


@each
def test_nothing_but_the_precision_changes(learner, tmp_path):
    """Rules, supports and answers are the same; precision moves to the share of all rows."""
    X, y = noisy_rows(0, 300, 3)
    est = learner.fit(X, y)
    plain = type(est)(**{**est.get_params(), "precision_cv": None}).fit(X, y)
    assert rule_texts(est.model_) == rule_texts(plain.model_)
    assert [r.outcome for r in est.model_] == [r.outcome for r in plain.model_]
    np.testing.assert_array_equal(est.predict_proba(X), plain.predict_proba(X))
    supports = [[rule.coverage.support for rule in one.model_] for one in (est, plain)]
    assert supports[0] == supports[1]
    assert {rule.coverage.rows for rule in est.model_} == {"corrected"}
    assert not {rule.coverage.rows for rule in plain.model_} & {"corrected", "outside"}
    assert [rule.share for rule in est.model_] != [rule.share for rule in plain.model_]
    for rule, counted in zip(est.model_, plain.model_, strict=True):
        share = np.mean(y == rule.head.first)
        assert not abs(rule.share - share) > abs(counted.share - share) + 1e-12
        assert rule.class_weights == counted.class_weights
        corrected = rule.coverage.corrected
        assert sum(corrected) <= sum(counted.class_weights) * (1 + 1e-12)  # of fewer rows
    assert "training rows, corrected for optimism by cross-validation" in str(est.model_)
    est.model_.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == est.model_


def shares_held(learners, n_tables):
    """Give for each learner the share of printed intervals that hold, and of plain counts."""
    shares = []
    for learner in learners:
        found, plain = [], []
        for seed in range(n_tables):
            X, y = noisy_rows(seed, 8_300, 2 + seed % 2, noise=0.5)
            rows = TrainingSet.of(read_table(X[:300], target=y[:300]))
            model = learner.fit(X[:300], y[:300]).model_
            found += intervals_held(model, X[300:], y[300:])
            counts = decided_weights(model, rows).tolist()
            counted = model.with_coverages([Coverage.of(tuple(line)) for line in counts])
            plain += intervals_held(counted, X[300:], y[300:])
        shares.append((np.mean(found), np.mean(plain)))
    return np.mean(shares, axis=0)


def test_intervals_of_lists_hold_on_new_rows():
    """Over noisy problems, printed intervals hold the precision on new rows of most rules."""
    names = ("ripper", "foil", "cn2", "cn2 list", "c45rules", "part", "stump")
    held, plain = shares_held([CHECKED[name] for name in names], 6)
    assert held >= 0.93
    assert plain < 0.8


def test_intervals_of_others_hold_on_new_rows():
    """So do those of learners whose folds or halves are there anyway, and of nearest rules."""
    few = RuleSetEnsembleClassifier(4, 5, max_steps=1000, **SEEDED)
    learners = [CHECKED[name] for name in ("rise", "rumble", "sl2")]
    held, plain = shares_held([*learners, LRIClassifier(25, **SEEDED), few], 3)
    assert held >= 0.9
    assert plain < 0.8


@each
def test_few_rows_are_counted_as_they_are(learner):
    """Fewer than 50 rows leave none out; the figures say what they are."""
    X, y = noisy_rows(1, 45)
    model = learner.fit(X, y).model_
    assert {rule.coverage.rows for rule in model} <= {"training", "left out"}


@pytest.mark.parametrize("name", ["ripper", "cn2", "rise", "sl2"])
def test_figures_do_not_depend_on_threads_or_on_how_rows_are_given(name):
    """Threads, the order of rows and copies of rows leave all figures as they are."""
    X, y = noisy_rows(2, 90)
    weights = np.random.default_rng(0).integers(1, 3, 90)
    settings = CHECKED[name].get_params()
    if name == "ripper":
        settings["grow_share"] = 1.0  # the split is drawn by the places of rows
    if name == "sl2":
        settings["n_jobs"] = 2  # its search draws rows by their places
        one, two = (
            SL2Classifier(**{**settings, "n_jobs": n}).fit(X, y, sample_weight=weights)
            for n in (1, 2)
        )
        assert one.model_.rules == two.model_.rules
        return
    one = type(CHECKED[name])(**settings).fit(X, y, sample_weight=weights)
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(90), weights))
    two = type(CHECKED[name])(**{**settings, "n_jobs": 2}).fit(X[copies], y[copies])
    for a, b in zip(one.model_, two.model_, strict=True):
        assert a.coverage.class_weights == pytest.approx(b.coverage.class_weights)


@pytest.mark.parametrize("weights", [None, "counts", "importance"])
@pytest.mark.parametrize("balanced", [None, "balanced"])
def test_equal_rows_are_observations_whether_merged_or_not(weights, balanced, monkeypatch):
    """Copies of rows that became weights, to save time, are as much evidence as rows."""
    random = np.random.default_rng(5)
    X = random.integers(0, 2, (240, 2)).astype(float)
    y = np.where(random.random(240) < 0.2 + 0.5 * X[:, 0], "yes", "no")
    given = {}
    if weights is not None:
        numbers = random.integers(1, 4, 240).astype(float)
        given = {"sample_weight": numbers, "weights": weights}
    found = []
    for most in (0, 1000):  # all copies are merged, or none
        monkeypatch.setattr(precision, "MANY_COPIES", most)
        learner = StumpClassifier(class_weight=balanced, **SEEDED).fit(X, y, **given)
        found.append([rule.share_interval for rule in learner.model_])
        assert {rule.coverage.rows for rule in learner.model_} == {"corrected"}
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def learned(monkeypatch, cls):
    """Note down how many rows each model of a class is learned from."""
    sizes, learn = [], cls._learn

    def noted(self, rows):
        sizes.append(rows.n_rows)
        return learn(self, rows)

    monkeypatch.setattr(cls, "_learn", noted)
    return sizes


def test_every_fold_is_learned_without_once(monkeypatch):
    """A fit learns once from all rows and once without each fold; parts learn once."""
    X, y = noisy_rows(3, 200)
    sizes = learned(monkeypatch, PARTClassifier)
    PARTClassifier(precision_cv=4).fit(X, y)
    assert sizes == [200, 150, 150, 150, 150]
    sizes.clear()
    PARTClassifier(precision_cv=None).fit(X, y)
    assert sizes == [200]
    sizes.clear()
    AveragedRulesClassifier("part", 50, random_state=0).fit(X, y)
    assert len(sizes) == 4
    lri = learned(monkeypatch, LRIClassifier)
    cross_fit(LRIClassifier(2, calibration=None, random_state=0).fit(X, y), X, y, cv=2)
    assert sorted(lri) == [100, 100, 133, 133, 134, 200]


def test_of_very_many_rows_some_are_drawn(monkeypatch):
    """Folds are made of no more rows than the most, each class with its share."""
    X, y = noisy_rows(4, 600)
    sizes = learned(monkeypatch, PARTClassifier)
    monkeypatch.setattr(precision, "MOST_ROWS", 300)
    model = PARTClassifier().fit(X, y).model_
    assert sizes == [600, 200, 200, 200]
    assert {rule.coverage.rows for rule in model} == {"corrected"}


def test_a_time_limit_is_kept():
    """A learner that must end in time learns once, and says that training rows were counted."""
    X, y = noisy_rows(5, 200)
    settings = {"max_steps": 200, "time_limit": 60.0, **SEEDED}
    model = SL2Classifier(2, size="max", **settings).fit(X, y).model_
    assert {rule.coverage.rows for rule in model} == {"training"}


def test_published_settings_count_training_rows():
    """Papers know no corrected figures."""
    X, y = noisy_rows(6, 200)
    for cls in (RipperClassifier, FOILClassifier, PARTClassifier, C45RulesClassifier):
        model = cls.paper(**SEEDED).fit(X, y).model_
        assert {rule.coverage.rows for rule in model} == {"training"}


def test_parts_are_counted_on_the_other_parts():
    """The rules of a member of an average have the precision of rows that it has not seen."""
    held = []
    for seed in range(4):
        X, y = noisy_rows(seed, 8_400)
        est = AveragedRulesClassifier("ripper", 100, random_state=0).fit(X[:400], y[:400])
        assert {rule.coverage.rows for rule in est.model_} == {"outside"}
        held += intervals_held(est.model_, X[400:], y[400:])
    assert np.mean(held) >= 0.93


def test_nothing_known_corrects_nothing():
    """Where no rule of the folds covers a row left out, training rows are counted."""
    X, y = noisy_rows(7, 100)
    rows = TrainingSet.of(read_table(X, target=y))
    model = StumpClassifier(precision_cv=None).fit(X, y).model_
    found = CoverComparison.of(model, rows, rows)
    assert correct_precision(model, [], rows) is model
    assert correct_precision(model, [found._replace(unseen=0 * found.unseen)], rows) is model


def test_the_nearest_rule_has_the_rows_that_it_decides():
    """Rows of a rule are those that it is nearest to, whether it covers them or not."""
    X, y = noisy_rows(8, 80)
    model = RISEClassifier(precision_cv=None).fit(X, y).model_
    decided = PackedCovers(model.decided_bits(X), 80).unpack()
    np.testing.assert_array_equal(decided.argmax(axis=0), model.deciders(X))
    assert (decided.sum(axis=0) == 1).all()
