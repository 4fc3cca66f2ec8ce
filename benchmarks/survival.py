"""Few hazard rules against survival learners on the same folds: `survival.py [--sets NAME ...]`.

Concordance (higher is better) and integrated Brier score (lower is better), averaged over five
folds, on sets that lifelines and scikit-survival carry. It needs both packages.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from console import aligned
from lifelines import datasets as lifelines_sets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sksurv import datasets
from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored, integrated_brier_score
from sksurv.tree import SurvivalTree
from sksurv.util import Surv

from rulewright import CompactRulesSurvival

if TYPE_CHECKING:
    import pandas as pd

MOST_RULES, N_FOLDS = 10, 5


def of_lifelines(frame: pd.DataFrame, time_name: str, event: str) -> tuple[pd.DataFrame, Any]:
    """Split a frame of lifelines into columns and target."""
    frame = frame.dropna(subset=[time_name, event])
    y = Surv.from_arrays(frame[event].astype(bool), frame[time_name].astype(float))
    return frame.drop(columns=[time_name, event]).reset_index(drop=True), y


def lung() -> tuple[pd.DataFrame, Any]:
    """Read the lung cancer set; status 1 of lifelines' file is a death."""
    frame = lifelines_sets.load_lung()
    frame["status"] = frame["status"] == frame["status"].max()
    return of_lifelines(frame, "time", "status")


SETS = {
    "rossi": lambda: of_lifelines(lifelines_sets.load_rossi(), "week", "arrest"),
    "gbsg2": datasets.load_gbsg2,
    "whas500": datasets.load_whas500,
    "veterans": datasets.load_veterans_lung_cancer,
    "flchain": datasets.load_flchain,
    "lung": lung,
    "aids": datasets.load_aids,
}


def prepared(learner: Any) -> Any:
    """Put encoding and imputation before a learner that needs both."""
    encoder = OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    labels = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
    parts = make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (labels, make_column_selector(dtype_exclude=np.number)),
    )
    return make_pipeline(parts, learner)


LEARNERS = {
    "rules": lambda: CompactRulesSurvival(MOST_RULES, random_state=0),
    "Cox": lambda: prepared(CoxPHSurvivalAnalysis(alpha=0.1)),
    "tree": lambda: prepared(SurvivalTree(min_samples_leaf=20, max_depth=4, random_state=0)),
    "forest": lambda: prepared(
        RandomSurvivalForest(200, min_samples_leaf=10, max_features="sqrt", random_state=0)
    ),
    "boosting": lambda: prepared(GradientBoostingSurvivalAnalysis(random_state=0)),
}


def fields_of(y: Any) -> tuple[str, str]:
    """Return the names of the fields of events and of times."""
    event, times = y.dtype.names
    return (event, times) if y.dtype[event].kind == "b" else (times, event)


def measure(learner: Any, X: pd.DataFrame, y: Any, train: Any, test: Any) -> list[float]:
    """Return concordance, integrated Brier score, number of rules and seconds of one fold."""
    event, when = fields_of(y)
    start = time.process_time()
    est = learner.fit(X.iloc[train], y[train])
    seconds = time.process_time() - start
    test = test[y[test][when] < y[train][when].max()]  # the Brier score needs times in training
    known, own = X.iloc[test], y[test]
    risks = est.predict(known)
    found = [concordance_index_censored(own[event], own[when], risks)[0]]
    times = own[when][own[event]]
    low, high = np.quantile(times, [0.1, 0.8])
    high = min(high, y[train][when].max() * 0.99, own[when].max() * 0.99)
    grid = np.linspace(low, high, 20)
    curves = est.predict_survival_function(known)
    survival = np.array([curve(grid) for curve in curves])
    found.append(integrated_brier_score(y[train], own, survival, grid))
    n_rules = len(est.model_) if hasattr(est, "model_") else np.nan
    return [*found, n_rules, seconds]


def run(name: str) -> dict[str, np.ndarray]:
    """Return the figures of all learners on a set, averaged over the folds."""
    X, y = SETS[name]()
    event, when = fields_of(y)
    times = np.maximum(y[when].astype(float), 0.5)
    y = Surv.from_arrays(y[event], times)
    X = X.apply(lambda column: column if column.dtype.kind in "if" else column.astype(str))
    event, _ = fields_of(y)
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y[event]))
    found = {}
    for learner, make in LEARNERS.items():
        parts = [measure(make(), X, y, train, test) for train, test in folds]
        found[learner] = np.mean(parts, axis=0)
    return found


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    warnings.simplefilter("ignore")
    found = {name: run(name) for name in parser.parse_args().sets}
    for place, title in enumerate(("concordance", "integrated Brier score")):
        rows = [
            [name, *(f"{one[learner][place]:.3f}" for learner in LEARNERS)]
            for name, one in found.items()
        ]
        means = [np.mean([one[learner][place] for one in found.values()]) for learner in LEARNERS]
        rows.append(["mean", *(f"{mean:.3f}" for mean in means)])
        print(f"\n{title}", *aligned(["set", *LEARNERS], rows), sep="\n")
    rules = [f"{name} {one['rules'][2]:.1f}" for name, one in found.items()]
    print(f"\nrules: {', '.join(rules)}")
    seconds = {
        learner: sum(one[learner][3] for one in found.values()) * N_FOLDS for learner in LEARNERS
    }
    print("seconds:", ", ".join(f"{name} {own:.0f}" for name, own in seconds.items()))


if __name__ == "__main__":
    main()
