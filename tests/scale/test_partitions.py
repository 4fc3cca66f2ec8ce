"""Fits on partitions in one process: the same model for any partitioning, and the right one."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from rulewright import CompactRulesClassifier, Growth, MLRulesClassifier, RuleFitRegressor
from rulewright.data import DataWarning, TrainingSet, read_table
from rulewright.estimators import CompactRulesRegressor
from rulewright.estimators.mlrules.memory import start_boosting
from rulewright.kernels import ROW, Subsample
from rulewright.rules import Adds
from rulewright.scale import fit_partitions, questions
from rulewright.scale.partition import BLOCKS
from rulewright.scale.parts import LocalParts
from rulewright.scale.survey import row_hashes, salt_hashes
from scale.tables import content_hash, mixed_table, parted

THREE = ("high", "low", "medium")
SETTINGS = {
    "default": ({}, ("no", "yes")),
    "validation": ({"stopping": "validation"}, ("no", "yes")),
    "pruned": ({"growth": Growth(prune="prefix")}, ("no", "yes")),
    "three classes": ({"min_weight": 5.0, "growth": Growth(column_subsample=0.6)}, THREE),
    "prefixed": ({"growth": Growth(class_choice="prefixed"), "class_weight": "balanced"}, THREE),
    "ordinal": ({"ordinal": ["low", "medium", "high"], "missing_conditions": True}, THREE),
}


def learner(**settings):
    return MLRulesClassifier(max_rules=8, random_state=0, **settings)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("sample_rows", [100_000, 300])
def test_partitions_do_not_change_the_model(name, sample_rows, tmp_path):
    """One part, several, and shuffled ones give the same file, bins from a sample or not."""
    settings, classes = SETTINGS[name]
    frame = mixed_table(classes=classes)
    hashes = {
        content_hash(
            fit_partitions(learner(**settings), parts, "y", sample_rows=sample_rows).model_,
            tmp_path,
        )
        for parts in ([frame], parted(frame, 3), parted(frame, 7, seed=1))
    }
    assert len(hashes) == 1


def test_parts_of_a_dataframe_may_keep_its_index(tmp_path):
    """Row names of pandas parts are no positions, and do not change the model."""
    frame = mixed_table()
    parts = [frame.iloc[550:], frame.iloc[:550]]
    whole, divided = (
        content_hash(fit_partitions(learner(), one, "y").model_, tmp_path)
        for one in ([frame], parts)
    )
    assert whole == divided


def test_weights_that_are_no_whole_numbers_do_not_depend_on_partitions(tmp_path):
    """Sums of weights are exact for any partitioning, and weight 0 leaves a row out."""
    frame = mixed_table()
    frame["w"] = np.random.default_rng(1).gamma(1.0, size=len(frame)) * (frame["x0"] < 2)
    hashes = {
        content_hash(fit_partitions(learner(n_jobs=2), parts, "y", "w").model_, tmp_path)
        for parts in ([frame], parted(frame, 4), parted(frame, 5, seed=1))
    }
    assert len(hashes) == 1


@pytest.mark.parametrize("size", [2.0**-11, 2.0**60])
def test_weights_that_are_proportions_are_scaled(size):
    """Weights that no number of rows can be give the rules of weights of one, with a warning."""
    frame = mixed_table(1024)
    whole = fit_partitions(learner(subsample=1.0), parted(frame, 3), "y").model_
    frame["w"] = size
    with pytest.warns(DataWarning, match="MLRulesClassifier: .* weights of 1024 rows"):
        scaled = fit_partitions(learner(subsample=1.0), parted(frame, 3), "y", "w").model_
    assert scaled.rules == whole.rules
    assert scaled.summary["total_weight"] == 1024


@pytest.mark.parametrize("n_rows", [700, 5000])
@pytest.mark.parametrize(
    ("classes", "choice"), [(("no", "yes"), "joint"), (("no", "yes"), "prefixed"), (THREE, "joint")]
)
def test_without_subsamples_the_rules_are_those_of_a_fit_in_memory(classes, choice, n_rows):
    """Nothing is drawn, and the sample has all rows: not a bit differs, coarse statistics or not.

    In memory, several classes whose rules are prefixed take turns by what their rows lack.
    """
    frame = mixed_table(n_rows, classes=classes)
    ours, twin = (
        learner(subsample=1.0, decision="balanced", growth=Growth(class_choice=choice, prune=prune))
        for prune in ("auto", False)
    )
    ours = fit_partitions(ours, parted(frame, 3, seed=0), "y").model_
    twin = twin.fit(frame, "y").model_
    assert ours.rules == twin.rules
    assert ours.intercepts == twin.intercepts
    np.testing.assert_allclose(ours.decision.shares, twin.decision.shares, rtol=1e-12)
    assert ours.summary["log_loss"] == pytest.approx(twin.summary["log_loss"], abs=1e-12)
    assert ours.summary["reliability"] == pytest.approx({**twin.summary["reliability"]}, abs=1e-12)


def test_traffic_is_that_of_the_cost_model(monkeypatch):
    """A rule costs a histogram for each condition and one set of sums, whatever the rows."""
    sent, n_histograms = [], 0

    class Counted(LocalParts):
        def total(self, function, *args):
            nonlocal n_histograms
            n_histograms += function is questions.histogram
            answer = super().total(function, *args)
            sent.append(len(pickle.dumps(answer)))
            return answer

    monkeypatch.setattr("rulewright.scale.fitting.LocalParts", Counted)
    est = fit_partitions(
        learner(max_conditions=2, stopping="none"), parted(mixed_table(2000), 3), "y"
    )
    n_rules, n_codes = len(est.stages_), boosted_codes(mixed_table(2000))
    assert n_rules <= n_histograms <= 2 * n_rules + 2
    assert sum(sent) == pytest.approx(n_histograms * n_codes * 2 * 8, rel=0.1)


def boosted_codes(frame):
    """Count the codes of a table whose bins are exact, one for missing values of each column."""
    return sum(frame[name].nunique() + 1 for name in frame if name != "y")


class DrawnBlocks:
    """Draws the rows of a fit in memory as a fit on partitions does."""

    takes_all = False

    def __init__(self, table, random):
        seed = int.from_bytes(random.bytes(8), "little") >> 1
        self.blocks = salt_hashes(row_hashes(table), seed) >> np.uint64(59)
        self.random = random

    def draw(self):
        chosen = self.random.permutation(BLOCKS)[: BLOCKS // 2]
        drawn = np.isin(self.blocks, chosen.astype(np.uint64))
        return Subsample(np.flatnonzero(drawn).astype(ROW), drawn)


@pytest.mark.parametrize("prune", [False, "prefix"])
def test_subsampled_rules_are_those_of_a_fit_in_memory_that_draws_the_same_rows(prune):
    """Growth, pruning, responses and coverage agree to the bit with the ordinary boosting."""
    table = read_table(mixed_table(), target="y")
    random, est = np.random.RandomState(0), learner(growth=Growth(prune=prune))
    rows = TrainingSet.of(table)
    subsampler = DrawnBlocks(table, random)
    settings = est._settings(rows, est._checked_constraints(rows))
    twin = start_boosting(settings, rows, np.random.RandomState(1), 1)
    twin.rows.draws.sampler = subsampler
    twin.run(8, lambda: None)
    ours = fit_partitions(est, parted(mixed_table(), 3), "y").stages_
    assert ours.rules == twin.kept_rules()


@pytest.mark.parametrize("classes", [("no", "yes"), THREE])
def test_compact_models_do_not_depend_on_partitions(classes, tmp_path):
    """Rules come from a sample by hashes, points and counts from all rows."""
    frame = mixed_table(1500, classes=classes)
    hashes, models = set(), []
    for parts in ([frame], parted(frame, 3, seed=1)):
        est = CompactRulesClassifier(3, size="max", random_state=0, teacher_share=0.0, cv=2)
        models.append(fit_partitions(est, parts, "y", sample_rows=500).model_)
        hashes.add(content_hash(models[-1], tmp_path))
    assert len(hashes) == 1
    model, rule = models[0], models[0].rules[0]
    assert rule.coverage.support == rule.body.holds(read_table(frame)).sum()
    assert model.summary["n_rows"] == 1500 > model.summary["sample_rows"]
    labels = read_table(frame, target="y").target.codes

    def penalised(model):
        own = model.predict_proba(frame)[np.arange(len(frame)), labels]
        return -np.log(own).sum() + 0.2 * sum(rule.outcome.value**2 for rule in model.rules)

    for step in (-0.05, 0.05):  # the points of all rows are the best ones
        moved = replace(rule, outcome=Adds(rule.outcome.head, rule.outcome.value + step))
        assert penalised(replace(model, rules=(moved, *model.rules[1:]))) > penalised(model)


def test_shares_are_scaled_before_points_are_fitted_to_all_rows():
    """Rules of a sample get the counts of weights of one, and points of the same size."""
    frame = mixed_table(1500)
    est = CompactRulesClassifier(3, size="max", random_state=0, teacher_share=0.0, cv=2)
    counted = fit_partitions(est, [frame], "y", sample_rows=500).model_
    frame["w"] = 2.0**-11
    with pytest.warns(DataWarning, match="they are scaled"):
        model = fit_partitions(est, parted(frame, 3), "y", "w", sample_rows=500).model_
    for rule in model.rules:
        assert rule.coverage.support == rule.body.holds(read_table(frame)).sum()
    largest = [max(abs(rule.outcome.value) for rule in one.rules) for one in (counted, model)]
    assert largest[1] == pytest.approx(largest[0], rel=0.5)


@pytest.mark.parametrize(
    "est", [CompactRulesRegressor(3, size="max", cv=2), RuleFitRegressor(max_candidates=30, cv=2)]
)
def test_numbers_do_not_depend_on_partitions(est, tmp_path):
    """The coverage of rules has the mean and the deviation of all rows."""
    frame = mixed_table(900)
    frame["y"] = frame["x0"] * 3 + (frame["color"] == "red") * 7 + 100
    est.set_params(random_state=0)
    models = [
        fit_partitions(est, parts, "y", sample_rows=400).model_
        for parts in ([frame], parted(frame, 3, seed=1))
    ]
    assert content_hash(models[0], tmp_path) == content_hash(models[1], tmp_path)
    rule = models[0].rules[0]
    own = frame["y"].to_numpy()[rule.body.holds(read_table(frame.drop(columns="y")))]
    assert rule.coverage.support == len(own)
    assert rule.coverage.mean == pytest.approx(own.mean(), rel=1e-12)
    assert rule.coverage.deviation == pytest.approx(own.std(), rel=1e-9)


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("learner", [MLRulesClassifier, CompactRulesClassifier])
def test_models_note_what_all_rows_are(learner, weights):
    """Missing values, ends of scales, weights and base rates are those of all rows."""
    frame = mixed_table()
    frame["w"] = np.random.default_rng(1).integers(1, 3, len(frame)) if weights else 1
    drop = [] if weights else ["w"]
    est = learner(max_rules=6, random_state=0)
    found = fit_partitions(est, parted(frame, 3), "y", weights, sample_rows=300, drop=drop)
    summary, columns = found.model_.summary, found.model_.columns
    own = frame["w"] if weights else np.ones(len(frame))
    assert summary["total_weight"] == own.sum()
    is_yes = np.average(frame["y"] == "yes", weights=own)
    assert summary["class_shares"] == pytest.approx([1 - is_yes, is_yes])
    notes = summary["training"]
    assert notes["missing"] == [name for name in columns if frame[name].isna().any()]
    assert notes["whole"] == ({"count": [0.0, 4.0]} if "count" in columns else {})
    assert notes.get("weighted", False) is (weights is not None)
    assert ("weighted" in str(found.model_)) is (weights is not None)


def test_numbers_note_their_mean():
    """The mean of the target is that of all rows."""
    frame = mixed_table()
    frame["y"] = frame["x0"] * 2 + frame["count"]
    est = CompactRulesRegressor(max_rules=4, random_state=0)
    model = fit_partitions(est, parted(frame, 3), "y", sample_rows=300).model_
    assert model.summary["training"]["mean"] == pytest.approx(frame["y"].mean())
    assert model.summary["total_weight"] == len(frame)
