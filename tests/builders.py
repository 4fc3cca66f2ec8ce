"""Binned columns, statistics, tables and fits for the tests of all rooms."""

import functools
from dataclasses import replace
from typing import NamedTuple, get_args

import numpy as np
import pytest
from hypothesis import strategies as st

import reference
import rulewright
from budget import n_examples
from rulewright import Growth, Window, estimators
from rulewright.encoding.covers import PackedCovers
from rulewright.estimators import (
    AveragedRulesClassifier,
    C45RulesClassifier,
    CN2Classifier,
    CompactRulesClassifier,
    FOILClassifier,
    LRIClassifier,
    MLRulesClassifier,
    PARTClassifier,
    RipperClassifier,
    RISEClassifier,
    RuleCardClassifier,
    RuleFitClassifier,
    RuleSetEnsembleClassifier,
    RumbleClassifier,
    SL2Classifier,
    SlipperClassifier,
    StumpClassifier,
    compress,
)
from rulewright.estimators.contract.base import RuleClassifier
from rulewright.kernels import (
    GROUP,
    ROW,
    STAT,
    CodeColumns,
    Limits,
    Op,
    Score,
    score_names,
)
from rulewright.weighting import CALIBRATIONS, CoordinateDescent, LogLikelihood

SEEDS = st.integers(0, 2**32 - 1)
ALL_OPERATORS = sum(1 << op for op in Op)


def packed_columns(codes, n_bins, nominal, dtype=np.uint8):
    """Make CodeColumns from codes of shape (rows, columns)."""
    n_rows, n_columns = codes.shape
    n_groups = -(-n_columns // GROUP)
    packed = np.zeros((n_groups, n_rows, GROUP), dtype=dtype)
    for j in range(n_columns):
        packed[j // GROUP, :, j % GROUP] = codes[:, j]
    return CodeColumns(packed, np.array(n_bins, np.int32), np.array(nominal, np.uint8))


def random_columns(rng, n_rows, n_columns, max_bins=6, dtype=np.uint8):
    """Make random binned columns: numeric and nominal, empty and full, some codes missing."""
    n_bins = rng.integers(0, max_bins + 1, n_columns)
    codes = np.empty((n_rows, n_columns), dtype=np.int64)
    for j, n in enumerate(n_bins):
        codes[:, j] = rng.integers(0, n + 1, n_rows) if rng.random() < 0.7 or n == 0 else n - 1
    return packed_columns(codes, n_bins, rng.integers(0, 2, n_columns), dtype)


class Search(NamedTuple):
    """The arguments of `grow_rule`."""

    columns: CodeColumns
    rows: np.ndarray
    stats: np.ndarray
    score: Score
    limits: Limits


def random_stats(rng, n_rows, n_pairs, tied):
    """Make statistics in pairs (g, h >= 1) and a last lane of weights; small ones make ties."""
    largest = 3 if tied else 2**40
    stats = np.empty((n_rows, 2 * n_pairs + 1), dtype=STAT)
    stats[:, 0:-1:2] = rng.integers(-largest, largest + 1, (n_rows, n_pairs))
    stats[:, 1:-1:2] = rng.integers(1, largest + 1, (n_rows, n_pairs))
    stats[:, -1] = rng.integers(1, 4, n_rows)
    return stats


def random_score(rng, n_pairs, tied):
    """Make any registered score for one or many pairs of lanes, in either or both directions."""
    kind, l2 = str(rng.choice(score_names)), float(rng.choice([0.0, 1.0, 7.5]))
    up, down = [(True, True), (True, False), (False, True)][rng.integers(3)]
    score = Score(kind, unit=1.0 if tied else 2.0**-37, l2=l2, up=up, down=down)
    if reference.SCORES[kind].pairs and (n_pairs == 1 or rng.random() < 0.5):
        return replace(score, n_lanes=2 * n_pairs)
    return replace(score, first_lane=2 * int(rng.integers(n_pairs)))


def free_limits(n_columns, **changed):
    """Make limits that allow everything, but for what is changed."""
    limits = Limits(
        max_conditions=-1,
        tolerance=0.0,
        min_weight=0,
        up_operators=np.full(n_columns, ALL_OPERATORS, np.uint8),
        down_operators=np.full(n_columns, ALL_OPERATORS, np.uint8),
        required=np.zeros(n_columns, np.uint8),
        groups=np.ones(n_columns, np.uint64),
    )
    return replace(limits, **changed)


def random_limits(rng, n_columns):
    """Make limits: most often none, sometimes all of them."""
    free = rng.random((2, n_columns)) < 0.7
    operators = np.where(free, ALL_OPERATORS, rng.integers(0, ALL_OPERATORS + 1, free.shape))
    grouped = rng.random() < 0.3
    required = rng.random(n_columns) < (0.15 if rng.random() < 0.4 else 0)
    return Limits(
        max_conditions=int(rng.choice([-1, -1, 0, 1, 2])),
        tolerance=float(rng.choice([0.0, 1e-8, 0.5])),
        min_weight=int(rng.choice([0, 0, 1, 5, 30])),
        up_operators=operators[0].astype(np.uint8),
        down_operators=operators[1].astype(np.uint8),
        required=required.astype(np.uint8),
        groups=rng.integers(0, 8 if grouped else 1, n_columns).astype(np.uint64) + (not grouped),
        max_labels=int(rng.choice([1, 2, 3, 32])),
        label_smoothing=int(rng.choice([1, 1, 4, 2**40])),
    )


@st.composite
def searches(draw):
    """Draw a search: any columns, scores, row subsets and limits."""
    rng = np.random.default_rng(draw(SEEDS))
    n_rows, n_columns = draw(st.integers(1, 60)), draw(st.integers(1, 2 * GROUP + 1))
    tied, n_pairs = draw(st.booleans()), draw(st.sampled_from([1, 1, 3, 5]))
    dtype = draw(st.sampled_from([np.uint8, np.uint16]))
    columns = random_columns(rng, n_rows, n_columns, draw(st.sampled_from([2, 6, 30])), dtype)
    rows = np.flatnonzero(rng.random(n_rows) < rng.choice([0.5, 1.0])).astype(ROW)
    stats = random_stats(rng, n_rows, n_pairs, tied)
    score, limits = random_score(rng, n_pairs, tied), random_limits(rng, n_columns)
    if not reference.SCORES[score.kind].pairs:  # its lanes are weights
        stats = abs(stats)
    return Search(columns, rows, stats, score, limits)


def random_likelihood(rng, n_rows, n_classes, *, spread=3.0, **options):
    """Make a likelihood with random scores; return it, the scores, the labels and the weights."""
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.choice([0.25, 1.0, 1.0, 3.0], n_rows)
    start = rng.normal(size=(n_rows, n_classes)[rng.integers(2) :])  # of each row, or of all
    state = LogLikelihood(labels, weights, start, **options)
    scores = np.array(np.broadcast_to(start, (n_rows, n_classes)))
    for _ in range(2 * n_classes):
        rows = np.flatnonzero(rng.random(n_rows) < 0.5).astype(ROW)
        head, step = pick(rng, state.heads), float(rng.normal(scale=spread))
        state.add(rows, head, step)
        scores[rows, head.first : head.last + 1] += step
    return state, scores, labels, weights


def softmax(scores):
    """Turn scores into probabilities."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def loss(scores, labels, weights):
    """Sum the weighted negative log-likelihood."""
    log_total = np.logaddexp.reduce(scores, axis=1)
    return float(np.sum(weights * (log_total - scores[np.arange(len(labels)), labels])))


def mixed_table(rng, n_rows, *, n_classes=2, missing=0.1, continuous=False):
    """Make a dict of columns, numeric and nominal with missing values, and labels they explain."""
    a, b = rng.normal(size=n_rows), rng.normal(size=n_rows)
    if not continuous:
        b = np.round(2 * b) / 2
    colors = rng.choice(["red", "green", "blue"], n_rows).astype(object)
    drive = a + (colors == "red") + 0.7 * rng.normal(size=n_rows)
    y = np.searchsorted(np.quantile(drive, np.arange(1, n_classes) / n_classes), drive)
    columns = {"a": a.copy(), "b": b, "color": colors, "c": rng.normal(size=n_rows)}
    for name in ("a", "b"):
        columns[name][rng.random(n_rows) < missing] = np.nan
    colors[rng.random(n_rows) < missing] = None
    return columns, y.astype(np.int64)


class Rows(NamedTuple):
    """A mixed table by its seed and shape, so that fits on it can be kept."""

    seed: int
    n_rows: int
    n_classes: int = 2
    missing: float = 0.1
    continuous: bool = False

    def table(self):
        """Make the columns and the labels."""
        seed, n_rows, *_ = self
        shape = self._asdict()
        del shape["seed"], shape["n_rows"]
        return mixed_table(np.random.default_rng(seed), n_rows, **shape)


@functools.cache
def fitted(make, rows, **options):
    """Fit once and keep the estimator, for laws that only read what was learned."""
    return make(**options).fit(*rows.table())


def noisy_rows(seed, n_rows, n_classes=2, noise=1.0):
    """Draw noisy rows of two or more classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    score = X[:, 0] + X[:, 1] * X[:, 2] + noise * rng.logistic(size=n_rows)
    return X, np.digitize(score, np.linspace(-1, 1, n_classes + 1)[1:-1])


def intervals_held(model, X, y):
    """Tell of each rule whether its printed interval holds its precision on many new rows."""
    found = []
    covers = PackedCovers(model.decided_bits(X), len(X))
    for i, rule in enumerate(model.rules):
        covered, (low, high) = covers[i : i + 1].row_mask(), rule.share_interval
        if covered.sum() >= 20 and not np.isnan(low):
            heads = np.arange(model.n_classes)[rule.head.classes]
            found.append(low <= np.isin(y[covered], heads).mean() <= high)
    return found


def mlrules(**changed):
    """Make a small learner whose parameters are all set: no test depends on the defaults.

    Fields of `Growth` are given like parameters.
    """
    settings = {
        "max_rules": 15,
        "learning_rate": 0.3,
        "subsample": 1.0,
        "criterion": "newton",
        "l2": 1.0,
        "max_conditions": None,
        "min_weight": 0.0,
        "class_choice": "joint",
        "growth": ...,
        "formulation": "corrected",
        "min_evidence": 0.0,
        "prune": False,
        "missing_conditions": False,
        "label_sets": False,
        "other_classes": False,
        "max_bins": None,
        "stopping": "none",
        "ordinal": False,
        "linear": False,
        "column_subsample": 1.0,
        "calibration": None,
        "constraints": None,
        "class_weight": None,
        "warm_start": False,
        "random_state": 0,
        "n_jobs": 1,
    }
    settings |= changed
    grown = {name: settings.pop(name) for name in Growth.DOMAINS}
    if settings["growth"] is ...:
        settings["growth"] = Growth(**grown)
    if settings["stopping"] == "window":
        settings["stopping"] = Window(10, 8, "uniform")
    if settings["calibration"] in tuple(CALIBRATIONS):
        settings["calibration"] = CALIBRATIONS[settings["calibration"]](cv=3)
    return MLRulesClassifier(**settings)


class After:
    """A learner whose model takes a step after each fit: compression or costs."""

    def __init__(self, est, step, **options):
        self.est, self.step, self.options = est, step, options

    def fit(self, X, y, sample_weight=None):
        """Fit, take the step, and give the estimator."""
        est = self.est.fit(X, y, sample_weight)
        est.model_ = self.step(est.model_, X, y, **self.options)
        return est


def compressed(est, n_rules):
    """Give a learner that keeps few rules."""
    return After(est, compress, n_rules=n_rules, n_jobs=est.n_jobs)


def costed(est, costs):
    """Give a learner whose model decides by costs."""
    return After(est, lambda model, X, y: model.with_decision(costs))


def slipper(**changed):
    """Make a small SLIPPER whose parameters are all set: no test depends on the defaults."""
    settings = {
        "max_rules": 8,
        "size": "max",
        "cv": 3,
        "positive_class": None,
        "multiclass": "auto",
        "cost_matrix": None,
        "grow_share": 2 / 3,
        "stratify": True,
        "max_conditions": None,
        "min_weight": 0.0,
        "allow_not_equal": False,
        "missing_conditions": False,
        "cut_points": "observed",
        "max_bins": None,
        "constraints": None,
        "calibration": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return SlipperClassifier(**{**settings, **changed})


def sl2(**changed):
    """Make a small SL2 whose parameters are all set: no test depends on the defaults."""
    settings = {
        "max_rules": 2,
        "size": "max",
        "cv": 3,
        "max_steps": 300,
        "n_restarts": 1,
        "minimise": True,
        "noise": "usual",
        "init": "seeded",
        "allow_thresholds": False,
        "max_bins": 10,
        "time_limit": None,
        "positive_class": None,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return SL2Classifier(**{**settings, **changed})


def ruleset_ensemble(**changed):
    """Make a small ensemble whose parameters are all set: no test depends on the defaults."""
    settings = {
        "max_terms": 2,
        "n_samples": 2,
        "alpha": 0.9,
        "nu": None,
        "vote_weight": "multiplicity",
        "single": False,
        "max_steps": 100,
        "noise": "usual",
        "allow_thresholds": False,
        "max_bins": 10,
        "abstain": 0.0,
        "bagging": False,
        "target_error": None,
        "split_prior": False,
        "time_limit": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return RuleSetEnsembleClassifier(**{**settings, **changed})


def rulefit(**changed):
    """Make a small rule ensemble whose parameters are all set: no test depends on the defaults."""
    settings = {
        "max_candidates": 40,
        "tree_size": 4.0,
        "learning_rate": 0.1,
        "subsample": 1.0,
        "inter_supp": 1.0,
        "rules": None,
        "linear": True,
        "solver": CoordinateDescent(tolerance=1e-12),
        "penalty": 0.02,
        "cv": 3,
        "rule_scale": "none",
        "max_rules": None,
        "max_bins": 255,
        "loss": "logistic",
        "multiclass": "shared",
        "calibration": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return RuleFitClassifier(**{**settings, **changed})


def compact(**changed):
    """Make compact rules whose parameters are all set: no test depends on the defaults."""
    settings = {
        "max_rules": 5,
        "size": "max",
        "cv": 3,
        "l2": 1.0,
        "max_conditions": None,
        "condition_cost": 0.0,
        "min_gain": 0.0,
        "n_subsamples": 0,
        "teacher_share": 0.0,
        "teacher": None,
        "linear": False,
        "ordinal": False,
        "missing_conditions": False,
        "max_bins": 1024,
        "constraints": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return CompactRulesClassifier(**{**settings, **changed})


def cards(**changed):
    """Make a small rule card whose parameters are all set: no test depends on the defaults."""
    settings = {
        "max_rules": 4,
        "max_points": 5,
        "max_conditions": 2,
        "max_range": None,
        "scale": None,
        "positive_class": None,
        "signs": None,
        "use_columns": None,
        "max_bins": 1024,
        "min_weight": 2.0,
        "l2": 0.1,
        "condition_cost": 0.0,
        "shrink": False,
        "missing_conditions": False,
        "max_nodes": 2000,
        "constraints": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return RuleCardClassifier(**{**settings, **changed})


def rumble(**changed):
    """Make a small RUMBLE whose parameters are all set: no test depends on the defaults."""
    settings = {
        "criterion": "mmv",
        "norm": "l1",
        "budget": 1.0,
        "bias": None,
        "max_bins": 6,
        "pairs": "or",
        "max_candidates": None,
        "max_rules": None,
        "max_active": 100,
        "capacity": 0.1,
        "delta": 0.05,
        "bias_share": 0.0,
        "calibration": None,
        "cv": 3,
        "time_limit": None,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return RumbleClassifier(**{**settings, **changed})


def ripper(**changed):
    """Make RIPPER with all parameters set: no test depends on the defaults."""
    settings = {
        "n_optimizations": 2,
        "prune_by": "laplace",
        "grow_share": 2 / 3,
        "max_conditions": None,
        "min_weight": 2.0,
        "allow_not_equal": False,
        "missing_conditions": False,
        "cut_points": "observed",
        "max_bins": None,
        "constraints": None,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return RipperClassifier(**{**settings, **changed})


def foil(**changed):
    """Make FOIL with all parameters set: no test depends on the defaults."""
    settings = {
        "min_accuracy": 0.6,
        "positive_class": None,
        "max_conditions": None,
        "min_weight": 2.0,
        "allow_not_equal": False,
        "missing_conditions": False,
        "cut_points": "observed",
        "max_bins": None,
        "constraints": None,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return FOILClassifier(**{**settings, **changed})


def c45rules(**changed):
    """Make C4.5rules whose parameters are all set: no test depends on the defaults."""
    settings = {
        "confidence": 0.25,
        "min_branch_weight": 2.0,
        "missing_labels": False,
        "exceptions": "release",
        "max_rules": 1000,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return C45RulesClassifier(**{**settings, **changed})


def part(**changed):
    """Make PART whose parameters are all set: no test depends on the defaults."""
    settings = {
        "confidence": 0.25,
        "min_branch_weight": 2.0,
        "missing_labels": False,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return PARTClassifier(**{**settings, **changed})


def stump(**changed):
    """Make a stump whose parameters are all set: no test depends on the defaults."""
    settings = {
        "min_branch_weight": 0.0,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return StumpClassifier(**{**settings, **changed})


def cn2(**changed):
    """Make a CN2 whose parameters are all set: no test depends on the defaults."""
    settings = {
        "ordered": False,
        "criterion": "auto",
        "beam_width": 3,
        "significance": 0.0,
        "rules_per_class": 6,
        "max_conditions": 3,
        "min_weight": 0.0,
        "weighted_covering": None,
        "allow_not_equal": False,
        "missing_conditions": False,
        "max_bins": None,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return CN2Classifier(**{**settings, **changed})


def lri(**changed):
    """Make a small LRI whose parameters are all set: no test depends on the defaults."""
    settings = {
        "rules_per_class": 8,
        "max_conditions": 3,
        "max_disjuncts": 2,
        "freeze": 4,
        "allow_not_equal": False,
        "missing_conditions": False,
        "max_bins": None,
        "calibration": None,
        "cv": 3,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return LRIClassifier(**{**settings, **changed})


def rise(**changed):
    """Make RISE with all its parameters set: no test depends on the defaults."""
    settings = {
        "q": 1.0,
        "max_passes": None,
        "part_size": 500,
        "precision_cv": None,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return RISEClassifier(**{**settings, **changed})


def averaging(**changed):
    """Make a small average whose parameters are all set: no test depends on the defaults."""
    settings = {
        "estimator": mlrules(),
        "part_size": 35,
        "combine": "bmc",
        "evidence": "own",
        "estimates": "model",
        "win_counts": "loo",
        "beta": None,
        "n_draws": 200,
        "n_refits": 3,
        "class_weight": None,
        "random_state": 0,
        "n_jobs": 1,
    }
    return AveragedRulesClassifier(**{**settings, **changed})


LEARNERS = {
    "mlrules": mlrules,
    "slipper": slipper,
    "sl2": sl2,
    "ruleset-ensemble": ruleset_ensemble,
    "rulefit": rulefit,
    "compact": compact,
    "cards": cards,
    "rumble": rumble,
    "ripper": ripper,
    "foil": foil,
    "c45rules": c45rules,
    "part": part,
    "stump": stump,
    "cn2": cn2,
    "lri": lri,
    "rise": rise,
    "averaging": averaging,
}
"""A maker of a small learner for every public estimator, for the laws that all must obey.

Precision is counted on training rows, which is several times as quick as correcting it; those laws
that fits of parts of the rows could break set `precision_cv`.
"""


def public_estimators():
    """Give the estimators that users can import."""
    public = [getattr(rulewright, name) for name in rulewright.__all__]
    types = [found for found in public if isinstance(found, type)]
    return [found for found in types if issubclass(found, RuleClassifier)]


def model_of(cls):
    """Give the form of the models of an estimator."""
    bases = [base for part in cls.__mro__ for base in getattr(part, "__orig_bases__", ())]
    return next(form for base in bases for form in get_args(base) if isinstance(form, type))


MADE = {name: type(make()) for name, make in LEARNERS.items()}
assert dict(estimators.LEARNERS) == MADE, "every learner needs a small maker above"
assert set(MADE.values()) == set(public_estimators()), "every estimator is a learner by name"


def _laws_for(chosen, what):
    assert chosen, f"no learner {what}: the law would be skipped"
    return pytest.mark.parametrize("make", [LEARNERS[name] for name in chosen], ids=chosen)


every_learner = _laws_for(list(LEARNERS), "at all")
"""Run a law for every learner: each call gets its maker as `make`."""


def learners_with(*parameters):
    """Run a law for every learner that has these parameters; there must be one."""
    chosen = [name for name, cls in MADE.items() if set(parameters) <= set(cls.DOMAINS)]
    return _laws_for(chosen, f"has {parameters}")


def learners_of(form):
    """Run a law for every learner whose models have this form; there must be one."""
    return _laws_for(makers_of(form), f"learns {form.__name__}")


def makers_of(form):
    """Give the makers of the learners whose models have this form."""
    chosen = [name for name, cls in MADE.items() if issubclass(model_of(cls), form)]
    return {name: LEARNERS[name] for name in chosen}


def learners_except(**reasons):
    """Run a law for every learner but some, each with the reason why it makes no such promise."""
    reasons = {name.replace("_", "-"): reason for name, reason in reasons.items()}
    assert reasons.keys() <= LEARNERS.keys(), reasons
    return _laws_for([name for name in LEARNERS if name not in reasons], "is left")


def rule_texts(model):
    """Give the rules of a model as (text, class)."""
    return [(str(rule.body), rule.head) for rule in model.rules]


class Fuzz:
    """Seeded cases; each must end in a result or in a ValueError."""

    def __init__(self, n_cases, least=0.05):
        self.n_cases, self.least = min(n_cases, max(100, n_examples(n_cases))), least
        self.results, self.crashes = 0, []

    def run(self, case):
        for seed in range(self.n_cases):
            try:
                case(np.random.default_rng(seed))
                self.results += 1
            except ValueError:
                pass
            except Exception as error:
                self.crashes.append((seed, f"{type(error).__name__}: {error}"[:150]))
        kinds = len({text for _, text in self.crashes})
        assert not self.crashes, f"{len(self.crashes)} crashes, {kinds} kinds: {self.crashes[:8]}"
        told = f"{self.results} of {self.n_cases} cases gave a result"
        assert self.least * self.n_cases < self.results < self.n_cases, told


def pick(rng, pool):
    return pool[rng.integers(len(pool))]


BYTES = b"\n\r,;\t\"'\\\0\xff\xc3\xa9 0123456789.eE+-NA?"


def mutated_bytes(rng, data, most=5):
    """Change, insert, drop or repeat a few bytes."""
    data = bytearray(data)
    for _ in range(rng.integers(1, most + 1)):
        at, turn = int(rng.integers(len(data))), rng.integers(4)
        if turn == 0:
            data[at] = pick(rng, BYTES)
        elif turn == 1:
            data.insert(at, pick(rng, BYTES))
        elif turn == 2 and len(data) > 2:
            del data[at : at + int(rng.integers(1, 5))]
        else:
            data[at:at] = data[at : at + int(rng.integers(1, 12))]
        data = data or bytearray(b"x")
    return bytes(data)


PLAIN = [
    None,
    True,
    0,
    -1,
    1.5,
    1e300,
    2**70,
    "",
    "numeric",
    "x",
    [],
    {},
    [[]],
    [1, "a"],
    {"a": []},
]


def mutate(rng, node):
    """Replace, drop, add or repeat something at a random place of a JSON document."""
    if isinstance(node, dict) and node and rng.random() < 0.9:
        key = pick(rng, list(node))
        turn = rng.random()
        if turn < 0.8:
            return {**node, key: mutate(rng, node[key])}
        if turn < 0.9:
            return {name: value for name, value in node.items() if name != key}
        return {**node, pick(rng, ["extra", "low", "in", "missing"]): pick(rng, PLAIN)}
    if isinstance(node, list) and node and rng.random() < 0.9:
        at = int(rng.integers(len(node)))
        if rng.random() < 0.8:
            return [*node[:at], mutate(rng, node[at]), *node[at + 1 :]]
        return [*node, node[at]] if rng.random() < 0.5 else node[:at] + node[at + 1 :]
    return near(rng, node)


def near(rng, node):
    """Change a leaf a little, or to anything."""
    if rng.random() < 0.6:
        if isinstance(node, bool):
            return not node
        if isinstance(node, int | float):
            return pick(rng, [node + 1, -node, node * 0.5, 1e308, -1e308, 10**20])
        if isinstance(node, str):
            return pick(rng, [node + "x", node.upper(), "color", "\0", "\ud800"])
    return pick(rng, PLAIN)
