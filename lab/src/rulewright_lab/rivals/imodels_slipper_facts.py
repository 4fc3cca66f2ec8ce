"""What imodels' SlipperClassifier does, shown on small tables: run this file to print it."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from imodels import SlipperClassifier
from imodels.rule_set.slipper_util import SlipperBaseEstimator
from sklearn.base import clone

if TYPE_CHECKING:
    from collections.abc import Callable

Table = tuple[np.ndarray, np.ndarray]
SEEDS = range(20)
MANY_SEEDS = range(100)


class Recorder(SlipperBaseEstimator):
    """The weak learner of imodels, unchanged, that also notes what passes through it."""

    def _grow_rule(self, X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
        self.grow_rows = X
        self.grown = super()._grow_rule(X, y)
        return self.grown

    def _prune_rule(
        self, X: np.ndarray, y: np.ndarray, rule: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        self.pruned = super()._prune_rule(X, y, rule)
        prefixes = [rule[: i + 1] for i in range(len(rule))]
        self.prune_losses = [self._prune_rule_obj(X, y, prefix) for prefix in prefixes]
        return self.pruned

    def default_cover(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the share of the rows that its default rule covers."""
        return float(self._rule_predict(X, self._make_default_rule(X, y)).mean())

    def grown_cover(self, X: np.ndarray) -> int:
        """Return the number of rows that the grown rule covers."""
        return int(self._rule_predict(X, self.grown).sum())

    def confidence(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the smoothed confidence (the paper's equation for C) of its rule."""
        return float(self._sample_weight(*self._get_design_matrices(X, y, self.rule)))


def noisy(seed: int, n: int = 300) -> Table:
    """Three columns, one of them yes/no; the class is a rule of two conditions with 15% noise."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.random(n) < 0.5])
    y = (X[:, 0] > 0) & (X[:, 1] > -0.5)
    return X, (y ^ (rng.random(n) < 0.15)).astype(int)


def pruning() -> str:
    shortened = better = 0
    for seed in SEEDS:
        learner = Recorder(random_state=seed).fit(*noisy(seed))
        shortened += len(learner.pruned) < len(learner.grown)
        better += min(learner.prune_losses) < learner.prune_losses[-1] - 1e-12
    return (
        f"of {len(SEEDS)} grown rules, {better} have a prefix with a smaller pruning loss (its own "
        f"equation 7), {shortened} were shortened"
    )


def alignment() -> str:
    X, y = noisy(0)
    X[:, 2] = np.arange(len(y))
    learner = Recorder(random_state=0).fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    rows = learner.grow_rows[:, 2].astype(int)
    own = int(np.sum(rows == np.arange(len(rows))))
    return f"{own} of {len(rows)} rows of the GrowSet are judged by their own weight"


def consequence() -> str:
    right = 0
    for seed in MANY_SEEDS:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 2))
        heavy = rng.random(300) < 0.5
        y = np.where(heavy, X[:, 0] > 0, X[:, 1] > 0).astype(int)
        weights = np.where(heavy, 1.0, 1e-6)
        learner = Recorder(random_state=seed).fit(X, y, sample_weight=weights / weights.sum())
        right += learner.grown[0]["feature"] == 0
    return (
        "column 0 decides the class of the rows that hold 99.9999% of the weight; the rule's first "
        f"condition is on column 0 in {right} of {len(MANY_SEEDS)} fits"
    )


def n_rules(X: np.ndarray, y: np.ndarray, seed: int) -> int:
    """Return how many rules ten asked rounds give; 0 if the first is worse than random."""
    try:
        model = SlipperClassifier(n_estimators=10, random_state=seed).fit(X, y)
    except ValueError as error:
        if "worse than random" not in str(error):
            raise
        return 0
    return len(model.estimators_)


def rounds() -> str:
    counts = np.array([n_rules(*noisy(seed), seed) for seed in SEEDS])
    kept = counts[counts > 0]
    return (
        f"of {len(counts)} fits with n_estimators=10, {np.sum(counts == 0)} failed, "
        f"{np.sum(counts == 10)} gave ten rules; "
        f"the mean of the fitted ones is {kept.mean():.1f} rules"
    )


def abstention() -> str:
    X, y = noisy(0)
    model = SlipperClassifier(n_estimators=1, random_state=0).fit(X, y)
    model_rule = model.estimators_[0]
    uncovered = X[model_rule.predict(X) == 0][:1]
    learner = Recorder().set_params(random_state=model_rule.random_state)
    learner.fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    return (
        f"a row outside the only rule gets the score {model.decision_function(uncovered)[0]:+.0f}, "
        f"not 0; the rule's weight is {model.estimator_weights_[0]:.3f}, its smoothed confidence "
        f"{learner.confidence(X, y):.3f}"
    )


def default_rule() -> str:
    shares = [Recorder(random_state=seed).default_cover(*noisy(seed)) for seed in SEEDS]
    return (
        f"it covers {min(shares):.0%} to {max(shares):.0%} of the rows, {np.mean(shares):.0%} on "
        "average (one of the three columns is yes/no)"
    )


def negative_default() -> str:
    shares = []
    chosen = 0
    for seed in SEEDS:
        X, y = noisy(seed)
        kept = (y == 0) | (np.random.default_rng(seed).random(len(y)) < 0.3)
        learner = Recorder(random_state=seed).fit(X[kept], y[kept])
        shares.append(y[kept].mean())
        is_default = learner.rule is not learner.pruned
        chosen += is_default and learner.confidence(X[kept], y[kept]) < 0
    return (
        f"with {np.mean(shares):.0%} positive rows, {chosen} of {len(SEEDS)} weak learners are a "
        "default rule of negative confidence, and predict the positive class where it holds"
    )


def thresholds() -> str:
    x = np.arange(1000.0)[:, None]
    learner = Recorder(random_state=0).fit(x, (x[:, 0] >= 970).astype(int))
    return (
        "thirty of 1,000 rows are positive, those with x >= 970; the grown rule covers "
        f"{learner.grown_cover(x)} rows"
    )


def nothing_to_find() -> str:
    X, y = np.zeros((90, 2)), np.repeat([0, 0, 1], 30)
    rare = Recorder(random_state=0).fit(X, y).grown_cover(X)
    try:
        Recorder(random_state=0).fit(X, 1 - y)
        common = "fits"
    except ValueError as error:
        common = f"raises ValueError: {error}"
    return (
        f"constant columns: with a rarer positive class the grown rule covers {rare} rows; with a "
        f"commoner one fit {common}"
    )


def cloning() -> str:
    copy = clone(SlipperClassifier(n_estimators=7, random_state=3, learning_rate=0.5))
    return (
        "a clone of random_state=3, learning_rate=0.5 has "
        f"random_state={copy.random_state}, learning_rate={copy.learning_rate}"
    )


FACTS: dict[str, Callable[[], str]] = {
    "It never prunes: `_prune_rule` compares the loss of the grown rule with itself": pruning,
    "GrowSet and PruneSet are shuffled, the weights are not: rows get others' weights": alignment,
    "So boosting hardly steers it: rows of almost no weight count like the heavy ones": consequence,
    "Boosting ends at a rule whose weighted error reaches 1/2; at the first, fit fails": rounds,
    "Rules do not abstain, and confidences are not used: AdaBoost weighs yes/no votes": abstention,
    "Its default rule (random conditions `> smallest`, `< largest`) covers not all": default_rule,
    "Its default rule votes positive also where its confidence is negative": negative_default,
    "It tries 25 thresholds a column, the percentiles 0, 4, ..., 96 of the GrowSet": thresholds,
    "Where no condition helps, the rule covers nothing or fit fails": nothing_to_find,
    "Only n_estimators is a parameter to scikit-learn; a clone forgets the others": cloning,
}


def main() -> None:
    print(f"imodels {version('imodels')}, scikit-learn {version('scikit-learn')}")
    for claim, show in FACTS.items():
        print(f"- {claim}.\n  Shown: {show()}.", flush=True)


if __name__ == "__main__":
    main()
