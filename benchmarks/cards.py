"""Rule cards against FastRiskScore (imodels) and FasterRisk: same folds, same items.

Numeric columns are cut at their deciles, labels and missing values are items of their own. Every
learner gets the same 0/1 columns, chosen on the training rows of a fold, and the same 5 points up
or down. The rivals need an environment of their own:

    python benchmarks/cards.py prepare DIR [SET ...]
    python benchmarks/cards.py fit DIR rulewright conjunctions
    RIVALS/bin/python benchmarks/cards.py fit DIR fastriskscore fasterrisk
    python benchmarks/cards.py report DIR
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

FOLDS, ITEMS, MOST_POINTS = 5, (5, 10), 5
LEAST_SHARE, MOST_LABELS = 0.01, 20


def binarise(table: Any, train: np.ndarray) -> np.ndarray:
    """Return 0/1 items of all rows, made from the training rows."""
    items = []
    for column in table.columns:
        values = column.values
        if column.schema.type.ordered:
            known = values[train][~np.isnan(values[train])]
            if not len(known):
                continue
            cuts = np.unique(np.quantile(known, np.arange(1, 10) / 10, method="lower"))
            items += [values <= cut for cut in cuts[cuts < known.max()]]
            items.append(np.isnan(values))
        else:
            codes, counts = np.unique(values[train], return_counts=True)
            often = codes[counts >= LEAST_SHARE * len(train)][:MOST_LABELS]
            items += [values == code for code in often.tolist()]
    shares = [item[train].mean() for item in items]
    return np.column_stack([i for i, s in zip(items, shares, strict=True) if 0 < s < 1])


def prepare(folder: Path, sets: list[str]) -> None:
    """Write the items, labels and folds of the two-class sets."""
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 - another environment

    from rulewright_lab.experiments.comparison import suites  # noqa: PLC0415 - another environment
    from rulewright_lab.experiments.datasets import load_dataset  # noqa: PLC0415 - another environment

    folder.mkdir(parents=True, exist_ok=True)
    for name in sets or suites()["uci35"]:
        table = load_dataset(name)
        if len(table.known_target.classes) != 2:
            continue
        y = table.known_target.codes
        splits = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y)
        for fold, (train, test) in enumerate(splits):
            X = binarise(table, train)
            np.savez_compressed(
                folder / f"{name}.{fold}.npz", X=X, y=y.astype(np.int8), train=train, test=test
            )
        print(name, X.shape, flush=True)


def fit_ours(max_conditions: int) -> Any:
    """Return a fit of our cards."""

    def fit(X: np.ndarray, y: np.ndarray, k: int) -> Any:
        from rulewright import RuleCardClassifier  # noqa: PLC0415 - another environment

        card = RuleCardClassifier(
            k, max_points=MOST_POINTS, max_conditions=max_conditions, positive_class=1, n_jobs=1
        )
        return card.fit(X.astype(np.uint8), y).predict_proba

    return fit


def fit_fast(X: np.ndarray, y: np.ndarray, k: int) -> Any:
    """Fit FastRiskScore of imodels."""
    from imodels import FastRiskScoreClassifier  # noqa: PLC0415 - another environment

    card = FastRiskScoreClassifier(k=k, max_points=MOST_POINTS, binarize=False)
    return card.fit(X.astype(float), y).predict_proba


def fit_faster(X: np.ndarray, y: np.ndarray, k: int) -> Any:
    """Fit FasterRisk; of its pool the card with the least loss."""
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer  # noqa: PLC0415 - another environment

    def signed(X: np.ndarray) -> np.ndarray:
        return np.column_stack([np.ones(len(X)), X.astype(float)])

    search = RiskScoreOptimizer(signed(X), 2.0 * y - 1, k=k, lb=-MOST_POINTS, ub=MOST_POINTS)
    search.optimize()
    multipliers, starts, points = search.get_models()
    card = RiskScoreClassifier(multipliers[0], starts[0], points[0])
    return lambda rows: np.column_stack([1 - (p := card.predict_prob(signed(rows))), p])


LEARNERS = {
    "rulewright": fit_ours(1),
    "conjunctions": fit_ours(2),
    "fastriskscore": fit_fast,
    "fasterrisk": fit_faster,
}


def figures(fit: Any, content: Any, k: int) -> dict[str, float]:
    """Fit on the training rows and evaluate on both parts."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - another environment
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - another environment

    X, y, train, test = (content[name] for name in ("X", "y", "train", "test"))
    y = y.astype(int)
    start = time.process_time()
    predict = fit(X[train], y[train], k)
    seconds = time.process_time() - start
    found = {"seconds": seconds}
    for part, rows in (("train", train), ("test", test)):
        p = np.clip(predict(X[rows])[:, 1], 1e-6, 1 - 1e-6)
        if part == "train":  # the objective of all: the best map from totals to probabilities
            odds = np.log(p / (1 - p))[:, np.newaxis]
            p = LogisticRegression(C=1e9, max_iter=1000).fit(odds, y[rows]).predict_proba(odds)
            p = np.clip(p[:, 1], 1e-6, 1 - 1e-6)
        found[f"{part}_loss"] = float(-np.log(np.where(y[rows] == 1, p, 1 - p)).mean())
        found[f"{part}_auc"] = float(roc_auc_score(y[rows], p))
    return found


def run(folder: Path, learners: list[str]) -> None:
    """Fit learners to all folds; finished fits are not repeated."""
    for name in learners:
        path = folder / f"{name}.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        known = {tuple(json.loads(line)["cell"]) for line in lines}
        files = sorted(folder.glob("*.npz"))
        with np.load(files[0]) as content:  # compiles what is compiled once
            figures(LEARNERS[name], content, 5)
        for file in files:
            for k in ITEMS:
                cell = (*file.stem.rsplit(".", 1), k)
                if cell in known:
                    continue
                with np.load(file) as content, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    line = {"cell": cell, **figures(LEARNERS[name], content, k)}
                with path.open("a") as out:
                    out.write(json.dumps(line) + "\n")


def report(folder: Path) -> None:
    """Print means over the fits that all learners have, and wins against each rival."""
    found: dict[str, dict[tuple[Any, ...], dict[str, float]]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        lines = map(json.loads, path.read_text().splitlines())
        found[path.stem] = {tuple(line["cell"]): line for line in lines}
    shared = sorted(set.intersection(*(set(cells) for cells in found.values())))
    for k in ITEMS:
        cells = [cell for cell in shared if cell[2] == k]
        n_sets = len({cell[0] for cell in cells})
        print(f"\n{k} items, {n_sets} sets, {len(cells)} fits")
        print("learner        train loss  test loss  test AUC  seconds (geometric mean)")
        for name, lines in found.items():
            get = {
                key: np.array([lines[cell][key] for cell in cells])
                for key in ("train_loss", "test_loss", "test_auc", "seconds")
            }
            seconds = np.exp(np.log(np.maximum(get["seconds"], 1e-4)).mean())
            print(
                f"{name:14} {get['train_loss'].mean():10.4f} {get['test_loss'].mean():10.4f} "
                f"{get['test_auc'].mean():9.4f} {seconds:8.3f}"
            )
        for rival in found.keys() - {"rulewright", "conjunctions"}:
            ours, theirs = found["rulewright"], found[rival]
            gaps = [ours[c]["train_loss"] - theirs[c]["train_loss"] for c in cells]
            share = np.mean(np.array(gaps) <= 1e-6)
            ratios = [ours[c]["seconds"] / theirs[c]["seconds"] for c in cells]
            print(
                f"training loss not above {rival}: {share:.1%}; time: geometric mean "
                f"{np.exp(np.log(ratios).mean()):.2f} times"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=("prepare", "fit", "report"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.task == "prepare":
        prepare(options.folder, options.names)
    elif options.task == "fit":
        run(options.folder, options.names or list(LEARNERS))
    else:
        report(options.folder)


if __name__ == "__main__":
    main()
