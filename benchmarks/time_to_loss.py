"""How long do rules take to reach the log-loss of LightGBM's defaults? `time_to_loss.py [SET ...]`.

Processor time of one thread. The rules reach the loss of 100 trees of 31 leaves after a number of
rounds; the time to it is that of a fit which ends there.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import lightgbm
import numpy as np
from console import aligned
from problems import make
from sklearn.metrics import log_loss

from rulewright import MLRulesClassifier
from rulewright_lab.experiments.datasets import load_dataset

MADE_UP = (
    "wide-100000x30-2",
    "smooth-100000x20-1",
    "products-100000x15-1",
    "boxes-100000x25-1",
    "sphere-100000x10-1",
)
EVERY = 10
"""The loss is looked at after so many rounds."""


def fitted(make_learner: Any, X: Any, y: np.ndarray, repeat: int) -> tuple[Any, float]:
    """Return a fitted learner and the least processor seconds of its fits."""
    best = np.inf
    for _ in range(repeat):
        learner, start = make_learner(), time.process_time()
        learner.fit(X, y)
        best = min(best, time.process_time() - start)
    return learner, best


def compared(name: str, train: tuple, test: tuple, options: argparse.Namespace) -> list[object]:
    """Fit both and tell losses, seconds, and when the rules reach the loss of the trees."""
    trees, seconds = fitted(
        lambda: lightgbm.LGBMClassifier(n_jobs=1, verbosity=-1, random_state=0),
        *train,
        options.repeat,
    )
    goal = log_loss(test[1], trees.predict_proba(test[0]))
    rules, ours = fitted(
        lambda: MLRulesClassifier(n_jobs=1, random_state=0), *train, options.repeat
    )
    kept = len(rules.stages_.rules)
    reached = next(
        (
            size
            for size, p in enumerate(rules.staged_predict_proba(test[0]))
            if (size % EVERY == 0 or size == kept) and log_loss(test[1], p) <= goal
        ),
        None,
    )
    rounds = len(rules.trace_["train_loss"])
    loss = log_loss(test[1], rules.predict_proba(test[0]))
    ratio = None
    if reached is not None:
        _, spent = fitted(
            lambda: MLRulesClassifier(max_rules=reached, n_jobs=1, random_state=0),
            *train,
            options.repeat,
        )
        ratio = spent / seconds
    return [name, goal, loss, seconds, ours, rounds, reached, ratio]


def split(name: str) -> tuple[tuple, tuple]:
    """Return two thirds of the rows of a data set as a data frame, and the other rows."""
    table = load_dataset(name)
    y, rows = table.known_target.codes, table.part(slice(0, len(table)))
    drawn = np.random.default_rng(0).permutation(len(y)) < 2 * len(y) // 3
    parts = [
        (rows.take(np.flatnonzero(part)).to_frame("pandas"), y[part]) for part in (drawn, ~drawn)
    ]
    return parts[0], parts[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=MADE_UP, help="as in problems.py")
    parser.add_argument("--sets", nargs="*", default=[], help="data sets of the papers")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    columns = ["", "trees", "rules", "trees s", "rules s", "rounds", "reached", "time to loss"]
    body = []
    for name in options.problems:
        n = name.split("-")[1].split("x")[0]
        parts = make(name), make(name.replace(n, "20000") + "@1")
        body.append(compared(name, *parts, options))
    body += [compared(name, *split(name), options) for name in options.sets]
    print("\n".join(aligned(columns, body)))


if __name__ == "__main__":
    main()
