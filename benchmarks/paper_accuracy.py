"""A learner's error beside the printed one: `python benchmarks/paper_accuracy.py sl2 --seeds 0`."""

from __future__ import annotations

import argparse
import traceback
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from accuracy import data_folder, judge, load, summary, ten_folds
from console import setting
from joblib import Parallel, delayed

from rulewright import SL2Classifier, SlipperClassifier

if TYPE_CHECKING:
    from pathlib import Path

    from accuracy import Split


@dataclass(frozen=True)
class Entry:
    """One public two-class set of a paper's table and how it was used there."""

    data: str
    printed: float
    sizes: tuple[int, int] | None = None  # rows to train and to test on; None: ten folds
    test_data: str | None = None  # the set's own test file


# Table 1 of the SLIPPER paper.
SLIPPER = {
    "adult": Entry("adult-train", 0.147, (5000, 16281), "adult-test"),
    "splice-junction": Entry("splice", 0.059, (2190, 1000)),
    "hypothyroid": Entry("hypothyroid", 0.007, (2514, 1258)),
    "breast-wisc": Entry("breast-w", 0.042),
    "bands": Entry("cylinder-bands", 0.228),
    "crx": Entry("credit-a", 0.157),
    "echocardiogram": Entry("echocardiogram", 0.043),
    "german": Entry("credit-g", 0.272),
    "hepatitis": Entry("hepatitis", 0.174),
    "heart-hungarian": Entry("heart-h", 0.194),
    "ionosphere": Entry("ionosphere", 0.077),
    "liver": Entry("liver-disorders", 0.322),
    "horse-colic": Entry("horse-colic-300", 0.150),
    "mushroom": Entry("mushroom", 0.002, (3988, 4136)),
    "vote": Entry("vote", 0.030, (300, 135)),
    "labor": Entry("labor", 0.123),
    "bridges": Entry("bridges", 0.137),
    "promoters": Entry("promoters", 0.189),
    "sonar": Entry("sonar", 0.255),
}
# Table 4.2 of the thesis, protocol P1.
SL2 = {
    "australian": Entry("australian-statlog", 0.146),
    "breast-cancer": Entry("breast-c", 0.299),
    "breast-w": Entry("breast-w", 0.059),
    "german": Entry("credit-g", 0.300),
    "glass (G2)": Entry("glass-g2", 0.284),
    "heart-c": Entry("heart-c", 0.271),
    "heart-h": Entry("heart-h", 0.195),
    "heart-statlog": Entry("heart-statlog", 0.279),
    "hepatitis": Entry("hepatitis", 0.187),
    "horse-colic": Entry("colic", 0.185),
    "ionosphere": Entry("ionosphere", 0.089),
    "kr-vs-kp": Entry("kr-vs-kp", 0.019),
    "labor": Entry("labor", 0.058),
    "mushroom": Entry("mushroom", 0.000),
    "pima-indians": Entry("diabetes", 0.279),
    "sick": Entry("sick", 0.062),
    "sonar": Entry("sonar", 0.364),
    "vote": Entry("vote", 0.057),
}
LEARNERS = {"slipper": (SlipperClassifier, SLIPPER), "sl2": (SL2Classifier, SL2)}


def two_classes(y: np.ndarray) -> np.ndarray:
    """Return the most frequent class against the rest, as the paper did with three or more."""
    names, counts = np.unique(y, return_counts=True)
    return y if len(names) == 2 else np.where(y == names[counts.argmax()], "most frequent", "rest")


def rows_of(folder: Path, entry: Entry) -> tuple[pd.DataFrame, np.ndarray, int]:
    """Return all rows, and how many of them (the first) may be trained on."""
    X, y = load(folder, entry.data)
    n = len(y)
    if entry.test_data:
        X_test, y_test = load(folder, entry.test_data)
        X = pd.concat([X, X_test], ignore_index=True)
        # The two files declare other values of a column, which pandas then takes for text.
        text = X.select_dtypes(include=["object", "string"]).columns
        X = X.astype(dict.fromkeys(text, "category"))
        y = np.concatenate([y, y_test])
    return X, two_classes(y), n


def splits_of(entry: Entry, X: pd.DataFrame, y: np.ndarray, n: int, seed: int) -> list[Split]:
    """Return ten stratified folds, or one random split of the printed sizes."""
    if entry.sizes is None:
        return ten_folds(X, y, seed)
    n_train, n_test = entry.sizes
    order = np.random.default_rng(seed).permutation(n)
    test = np.arange(n, len(y)) if entry.test_data else order[n_train:]
    if len(test) != n_test:
        raise ValueError(f"{entry.data}: {len(test)} test rows instead of {n_test}")
    return [(order[:n_train], test)]


def run(
    folder: Path, learner: str, name: str, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """Return error, log-loss and rule sizes on one set, or the error raised."""
    options = {"random_state": seed, "n_jobs": 1, **settings}
    cls, table = LEARNERS[learner]
    try:
        X, y, n = rows_of(folder, table[name])
        splits = splits_of(table[name], X, y, n, seed)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="missing values in columns without any")
            return judge(X, y, splits, lambda: cls.paper(**options))
    except Exception as error:
        traceback.print_exc()
        return {"problem": f"{type(error).__name__}: {error}"}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("learner", choices=list(LEARNERS))
    parser.add_argument("--sets", nargs="+", help="some of the sets of the table")
    parser.add_argument(
        "--seeds", nargs="+", type=int, default=[0], help="one run of each set each"
    )
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument(
        "--set",
        type=setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="parameter beside the paper's; may be repeated",
    )
    return parser.parse_args()


def main() -> None:
    options = arguments()
    folder, (cls, table) = data_folder(), LEARNERS[options.learner]
    names = options.sets or list(table)
    if unknown := set(names) - set(table):
        raise SystemExit(f"--sets {' '.join(unknown)}: known are {', '.join(table)}")
    tasks = [(name, seed) for name in names for seed in options.seeds]
    found = Parallel(n_jobs=options.jobs)(
        delayed(run)(folder, options.learner, name, seed, dict(options.set)) for name, seed in tasks
    )
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for (name, _), result in zip(tasks, found, strict=True):
        results[name].append(result)
    print(f"\n{cls.__name__}.paper(), the paper's protocol, {len(options.seeds)} seed(s)")
    printed = {name: entry.printed for name, entry in table.items()}
    print("\n".join(summary(results, printed, "printed")), flush=True)


if __name__ == "__main__":
    main()
