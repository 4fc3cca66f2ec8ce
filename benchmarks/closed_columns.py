"""What does it change that columns of refused rules are closed? `closed_columns.py [PROBLEM ...]`.

Log-loss of 20,000 other rows and processor seconds of one thread: columns are never closed, or
after 1, 4 and 10 rules refused in turn. Problems are `labels-ROWS-SEED` (`label_sets.py`),
`census-ROWS-SEED` (numbers with ties, labels that hang together, two columns of noise) and those of
`problems.py`.
"""

from __future__ import annotations

import sys
import time

import lightgbm
import numpy as np
import pandas as pd
from console import aligned
from label_sets import make_labels
from problems import make
from sklearn.metrics import log_loss

from rulewright import MLRulesClassifier
from rulewright.estimators.mlrules import pruning

PROBLEMS = (
    *("census-20000-0", "census-20000-1", "census-50000-2"),
    *("labels-20000-10", "labels-20000-11", "labels-50000-12", "labels-50000-13"),
    *("smooth-50000x20-5", "products-50000x15-5", "boxes-50000x25-5", "sphere-50000x10-5"),
    *("wide-50000x26-2", "wide-30000x12-3"),
)
NEVER = 10**9
SIZES = (7, 14, 6, 5, 2, 40, 8, 16)
N_TEST = 20_000


def make_census(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Create a table like one of people: four hidden traits shape numbers, labels and the class."""
    rng = np.random.default_rng([77, seed])
    traits = rng.normal(size=(n_rows, 4))
    age = np.round(40 + 13 * traits[:, 0] + 4 * rng.normal(size=n_rows)).clip(17, 90)
    school = np.round(10 + 2.5 * traits[:, 1]).clip(1, 16)
    hours = np.round(40 + 12 * np.tanh(traits[:, 2] + 0.5 * rng.normal(size=n_rows)))
    gain = np.exp(7 + 1.5 * rng.normal(size=n_rows) + 0.5 * traits[:, 1])
    gain = np.where(rng.random(n_rows) < 0.08, np.round(gain), 0)
    noise = np.round(np.exp(12 + 0.5 * rng.normal(size=n_rows)))
    numbers = {"age": age, "school": school, "hours": hours, "gain": gain, "noise": noise}
    numbers["more_noise"] = rng.normal(size=n_rows)
    codes = []
    for n in SIZES:
        lean = 0.7 * traits @ rng.normal(size=(4, n))
        codes.append((lean + rng.gumbel(size=(n_rows, n))).argmax(axis=1))
    score = -1.6 - 0.0015 * (age - 48) ** 2 + 0.28 * (school - 10) + 0.03 * (hours - 40)
    score += 2.2 * (gain > 5000) + 0.8 * (gain > 1500)
    score += sum(0.45 * rng.normal(size=SIZES[j])[codes[j]] for j in (0, 1, 2, 5, 6))
    score += 0.8 * ((codes[2] < 2) & (school >= 12)) - 0.7 * ((age < 28) & (codes[0] > 3))
    score += 0.4 * rng.normal(size=(SIZES[1], SIZES[4]))[codes[1], codes[4]]
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(int)
    names = {j: [f"v{i}" for i in range(n)] for j, n in enumerate(SIZES)}
    labels = {f"n{j}": pd.Categorical.from_codes(own, names[j]) for j, own in enumerate(codes)}
    return pd.DataFrame({**numbers, **labels}), y


def parts(name: str) -> tuple[tuple, tuple]:
    """Return the training rows and the other rows of a problem."""
    kind, size, *rest = name.split("-")
    if kind not in ("census", "labels"):
        return make(name), make(name.replace(size.split("x")[0], str(N_TEST)) + "@1")
    n_rows, maker = int(size), {"census": make_census, "labels": make_labels}[kind]
    X, y = maker(n_rows + N_TEST, int(rest[0]))
    text = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    X = X.astype(dict.fromkeys(text, "category"))
    return (X[:n_rows], y[:n_rows]), (X[n_rows:], y[n_rows:])


def main() -> None:
    body = []
    for name in sys.argv[1:] or PROBLEMS:
        train, test = parts(name)
        learners = {"LightGBM": lightgbm.LGBMClassifier(n_jobs=1, verbosity=-1, random_state=0)}
        for limit in (NEVER, 1, 4, 10):
            learners[str(limit)] = MLRulesClassifier(n_jobs=1, random_state=0)
        line: list[object] = [name]
        for limit, learner in learners.items():
            pruning.MOST_ALIKE = int(limit) if limit.isdigit() else pruning.MOST_ALIKE
            start = time.process_time()
            learner.fit(*train)
            seconds = time.process_time() - start
            loss = log_loss(test[1], learner.predict_proba(test[0]))
            line.append(f"{loss:.4f} ({seconds:.1f})")
        body.append(line)
    print("\n".join(aligned(["", "LightGBM", "never", "1", "4", "10"], body)))


if __name__ == "__main__":
    main()
