"""Measure which share of the gain compact rules should keep with several classes.

Fits each table three times, on two thirds of its rows, and evaluates the models of all sizes on the
other third. A share of the gain that the chosen size must keep gives a size by the out-of-fold
losses of the fit; the means over the tables say what it costs and gains. None of the tables is in
`uci35`.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import numpy as np
from console import aligned
from problems import make
from sklearn.datasets import (
    load_digits,
    load_wine,
    make_classification,
    make_gaussian_quantiles,
)
from sklearn.model_selection import StratifiedKFold

from rulewright import CompactRulesClassifier, read_table
from rulewright.estimators.compact import settings, sizes
from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Coverage, Rule
from rulewright_lab.experiments.datasets import load_dataset

if TYPE_CHECKING:
    from rulewright.data import Table

REAL = (
    *("zoo", "lymph", "autos", "bridges-type", "audiology", "primary-tumor"),
    *("hypothyroid", "splice", "waveform-21", "wine", "digits"),
)
GENERATED = (
    *("wide-1500x12-3", "wide-3000x15-5", "blobs-1000x12-4-1", "blobs-900x14-6-2"),
    *("blobs-400x12-5-4", "blobs-3000x16-7-5", "blobs-2300x18-7-6", "rings-1200x6-4-3"),
    *("rings-900x5-3-7", "labels-1500x6-4-1", "labels-900x8-5-2", "labels-400x7-3-3"),
    "labels-1800x6-4-5",
)
TRIED = ((0.95, 0.05), (0.98, 0.05), (0.99, 0.05), (0.995, 0.05), (0.995, 0.01), (1.0, 0.0))
"""Share of the gain that the size keeps, and share by which the loss may exceed the lowest one."""


class Outcome(NamedTuple):
    """Out-of-fold losses (sizes, rows) of a fit; error, log-loss and rules of each size."""

    losses: np.ndarray
    of_size: np.ndarray


def load(name: str) -> Table:
    """Return a table by its name: of a file, of scikit-learn, or KIND-ROWSxCOLUMNS-CLASSES-SEED."""
    if name in REAL[:-2]:
        return load_dataset(name)
    if name in ("wine", "digits"):
        X, y = {"wine": load_wine, "digits": load_digits}[name](return_X_y=True)
    elif name.startswith("wide"):
        X, y = make(name)
    else:
        kind, size, *rest = name.split("-")
        draw = {"blobs": draw_blobs, "rings": draw_rings, "labels": draw_labels}[kind]
        X, y = draw(*map(int, [*size.split("x"), *rest]))
    return read_table(X, target=y)


def draw_blobs(n: int, m: int, n_classes: int, seed: int) -> Any:
    """Draw overlapping clusters, some columns of noise, and 3 % wrong labels."""
    return make_classification(
        n,
        m,
        n_informative=max(4, m // 2),
        n_redundant=2,
        n_classes=n_classes,
        class_sep=1.2,
        flip_y=0.03,
        random_state=seed,
    )


def draw_rings(n: int, m: int, n_classes: int, seed: int) -> Any:
    """Draw classes around one another."""
    return make_gaussian_quantiles(
        n_samples=n, n_features=m, n_classes=n_classes, random_state=seed
    )


def draw_labels(n: int, m: int, n_classes: int, seed: int) -> Any:
    """Draw nominal columns, five of which decide with hardly any noise; classes are unequal."""
    rng = np.random.default_rng([seed, 99])
    codes = rng.integers(0, 4, size=(n, m))
    score = sum(rng.normal(size=4)[codes[:, j]] for j in range(5))
    score = score + ((codes[:, 0] >= 2) & (codes[:, 1] <= 1)) + 0.15 * rng.normal(size=n)
    ends = np.cumsum(rng.dirichlet(np.full(n_classes, 2.0)))[:-1]
    y = np.searchsorted(np.quantile(score, ends), score)
    kept = np.isin(y, np.flatnonzero(np.bincount(y) >= 6))
    labels = np.array(list("abcd"))
    return {f"c{j}": labels[codes[kept, j]] for j in range(m)}, y[kept]


def fit(table: Table, train: np.ndarray, test: np.ndarray, share: float | None) -> Outcome:
    """Fit on some rows, follow the final search to the end, and evaluate all sizes on others."""
    found: dict[str, Any] = {}
    most = max(20, min(5 * len(table.known_target.classes), 60))  # the default
    est = CompactRulesClassifier(most, teacher_share=share, random_state=0)

    def follow(search: Any, _: int) -> Any:
        found["path"], found["loss"] = sizes.follow_search(search, most), search.loss
        return found["path"]

    with mock.patch.object(settings, "follow_search", follow):
        est.fit(table.take(train))
    losses, classes = est.size_.losses, len(est.classes_)
    y, rows, of_size = table.known_target.codes[test], table.take(test), []
    for size in range(len(losses)):
        model = found["path"][size].settle(found["loss"], est.size_.variant.fits_labels)
        empty = Coverage.of((1.0,) * classes)
        pairs = zip(model.members, model.fitted.responses.tolist(), strict=True)
        rules = tuple(Rule(one.body, Adds(one.head, r), empty) for one, r in pairs if r)
        starts = tuple(model.fitted.intercepts.tolist())
        p = AdditiveRules(est.model_.schema, est.classes_, starts, rules).predict_proba(rows)
        own = np.maximum(p[np.arange(len(y)), y], 1e-15)
        of_size.append([np.mean(p.argmax(axis=1) != y), -np.log(own).mean(), len(rules)])
    return Outcome(losses, np.array(of_size))


def main() -> None:
    """Fit all tables, then choose sizes by each share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=[*REAL, *GENERATED])
    parser.add_argument("--share", type=float, help="share of the teachers in the targets")
    options = parser.parse_args()
    outcomes = []
    for name in options.sets:
        table = load(name)
        y = table.known_target.codes
        folds = StratifiedKFold(3, shuffle=True, random_state=5).split(y, y)
        outcomes.append([fit(table, train, test, options.share) for train, test in folds])
        print(name, flush=True)
    body = []
    best = [np.mean([one.of_size[:, 1].min() for one in own]) for own in outcomes]
    for kept, rise in TRIED:
        with mock.patch.multiple(sizes, KEPT_OF_MANY=kept, RISE_OF_MANY=rise):
            by_fit = [[one.of_size[choose(one)] for one in own] for own in outcomes]
        chosen = np.mean(by_fit, axis=1)
        above = [math.log(row[1] / least) for row, least in zip(chosen, best, strict=True)]
        body.append([kept, rise, *chosen.mean(axis=0), np.mean(above)])
    heads = ["kept", "rise", "error", "log-loss", "rules", "log-loss above the best size"]
    print("\n".join(aligned(heads, body)))


def choose(outcome: Outcome) -> int:
    """Choose the size of a fit by its out-of-fold losses."""
    return sizes.choose_size(outcome.losses, np.ones(outcome.losses.shape[1]), n_outputs=3)


if __name__ == "__main__":
    main()
