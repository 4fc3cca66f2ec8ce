"""Few rate rules against other learners of counts: `counts.py [--rows N]`.

Mean Poisson deviance per unit of exposure on test rows (lower is better): insurance-like rows with
exposure, made here, and the set `randhie` of statsmodels (doctor visits). It needs statsmodels and
LightGBM.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import pandas as pd
import statsmodels.api as sm
from console import aligned
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import KFold
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from rulewright import CompactRulesCounts

MOST_RULES, N_FOLDS = 15, 5


class Counted(NamedTuple):
    """Columns, counts and exposure."""

    X: pd.DataFrame
    counts: np.ndarray
    exposure: np.ndarray


def insurance(n_rows: int) -> Counted:
    """Draw policies whose claims depend on age, car, region and mileage; most have none."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 85, n_rows),
            "power": rng.integers(40, 250, n_rows),
            "car_age": rng.integers(0, 25, n_rows),
            "mileage": rng.gamma(3, 4, n_rows).round(1),
            "region": rng.choice(["city", "suburb", "coast", "country"], n_rows),
            "fuel": rng.choice(["petrol", "diesel", "electric"], n_rows),
            "claim_free": rng.integers(0, 12, n_rows),
        }
    )
    score = 0.9 * (X.age < 25) + 0.3 * (X.age > 72) + 0.02 * X.mileage
    score += 0.4 * (X.region == "city") - 0.2 * (X.region == "country")
    score += 0.5 * ((X.power > 150) & (X.age < 35)) - 0.06 * X.claim_free
    exposure = rng.uniform(0.05, 1.0, n_rows)
    return Counted(X, rng.poisson(0.08 * np.exp(score) * exposure).astype(float), exposure)


def randhie() -> Counted:
    """Read the visits to doctors of the RAND health insurance experiment."""
    frame = sm.datasets.randhie.load_pandas().data
    return Counted(frame.drop(columns="mdvis"), frame["mdvis"].to_numpy(float), np.ones(len(frame)))


def encode(X: pd.DataFrame) -> np.ndarray:
    """Encode labels as indicators, for learners of numbers."""
    labels = X.select_dtypes(exclude="number")
    numbers = X.select_dtypes("number").to_numpy(float)
    if labels.empty:
        return numbers
    return np.hstack([numbers, OneHotEncoder(sparse_output=False).fit_transform(labels)])


def learn_rules(data: Counted, train: Any, test: Any) -> tuple[np.ndarray, int]:
    """Learn rate rules."""
    est = CompactRulesCounts(MOST_RULES, random_state=0)
    est.fit(data.X.iloc[train], data.counts[train], exposure=data.exposure[train])
    return est.predict(data.X.iloc[test]), len(est.model_)


def learn_lightgbm(data: Counted, train: Any, test: Any) -> tuple[np.ndarray, float]:
    """Learn boosted trees with Poisson's loss: rates weighted by the exposure."""
    X = encode(data.X)
    est = lightgbm.LGBMRegressor(
        objective="poisson",
        n_estimators=200,
        learning_rate=0.05,
        num_leaves=15,
        verbose=-1,
        n_jobs=1,
    )
    rates = data.counts[train] / data.exposure[train]
    est.fit(X[train], rates, sample_weight=data.exposure[train])
    return est.predict(X[test]), np.nan


def learn_tree(data: Counted, train: Any, test: Any) -> tuple[np.ndarray, float]:
    """Learn a tree of as many leaves as there may be rules."""
    X = encode(data.X)
    est = DecisionTreeRegressor(criterion="poisson", max_leaf_nodes=MOST_RULES, random_state=0)
    est.fit(X[train], data.counts[train] / data.exposure[train], data.exposure[train])
    return np.maximum(est.predict(X[test]), 1e-6), est.get_n_leaves()


def learn_linear(data: Counted, train: Any, test: Any) -> tuple[np.ndarray, float]:
    """Learn a linear Poisson regression."""
    X = StandardScaler().fit_transform(encode(data.X))
    est = PoissonRegressor(alpha=1e-4, max_iter=1000)
    est.fit(X[train], data.counts[train] / data.exposure[train], data.exposure[train])
    return est.predict(X[test]), np.nan


LEARNERS = {
    "rules": learn_rules,
    "LightGBM": learn_lightgbm,
    "tree": learn_tree,
    "linear": learn_linear,
}


def deviance(counts: np.ndarray, expected: np.ndarray) -> float:
    """Return the sum of the Poisson deviances."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(counts > 0, counts * np.log(counts / expected), 0.0)
    return float(2 * (logs - counts + expected).sum())


def run(data: Counted) -> list[list[Any]]:
    """Return the lines of the table of a set."""
    folds = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(data.X))
    lines = []
    for name, learn in LEARNERS.items():
        total, sizes, start = 0.0, [], time.process_time()
        for train, test in folds:
            rates, size = learn(data, train, test)
            total += deviance(data.counts[test], rates * data.exposure[test])
            sizes.append(size)
        seconds = time.process_time() - start
        lines.append([name, total / data.exposure.sum(), float(np.mean(sizes)), seconds])
    best = next(line[1] for line in lines if line[0] == "LightGBM")
    return [
        [name, f"{own:.4f}", f"{100 * (own / best - 1):+.2f} %", f"{size:.1f}", f"{seconds:.0f}"]
        for name, own, size, seconds in lines
    ]


def main() -> None:
    """Print a table of each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60_000, help="rows of the made-up set")
    warnings.simplefilter("ignore")
    for name, data in (("insurance", insurance(parser.parse_args().rows)), ("randhie", randhie())):
        events = f"{int(data.counts.sum()):,} events in {len(data.X):,} rows"
        print(f"\n{name}: {events}")
        head = ["learner", "deviance", "against LightGBM", "rules or leaves", "seconds"]
        print(*aligned(head, run(data)), sep="\n")


if __name__ == "__main__":
    main()
