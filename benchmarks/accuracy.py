"""Cross-validated error beside the printed one: `python benchmarks/accuracy.py --seeds 0 1`."""

from __future__ import annotations

import argparse
import json
import os
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from console import aligned, setting
from joblib import Parallel, delayed
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from rulewright import MLRulesClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

Split = tuple[np.ndarray, np.ndarray]

# The ML.N column (Newton variant) of Table 1 of the MLRules paper.
PRINTED = {
    "haberman": 0.249, "breast-c": 0.273, "diabetes": 0.253, "credit-g": 0.260,
    "credit-a": 0.130, "ionosphere": 0.063, "colic": 0.133, "hepatitis": 0.201,
    "sonar": 0.154, "heart-statlog": 0.174, "liver-disorders": 0.278, "vote": 0.037,
    "heart-c": 0.155, "heart-h": 0.170, "breast-w": 0.034, "sick": 0.012,
    "tic-tac-toe": 0.003, "spambase": 0.046, "cylinder-bands": 0.193, "kr-vs-kp": 0.005,
    "anneal": 0.006, "balance-scale": 0.091, "ecoli": 0.140, "glass": 0.248, "iris": 0.053,
    "letter": 0.088, "segment": 0.020, "soybean": 0.067, "vehicle": 0.216, "vowel": 0.104,
    "car": 0.028, "cmc": 0.439, "dermatology": 0.024, "optdigits": 0.021, "pendigits": 0.010,
}  # fmt: skip
SANITY = ["sonar", "diabetes", "credit-g", "vote", "glass", "vehicle", "car", "tic-tac-toe"]
PRESETS = {"paper": MLRulesClassifier.paper, "default": MLRulesClassifier}
TOLERANCE = 0.015


@dataclass(frozen=True)
class Task:
    """One 10-fold cross-validation."""

    name: str
    preset: str
    seed: int
    settings: dict[str, Any]


def data_folder() -> Path:
    """Return the folder of the data sets or say what to set."""
    text = os.environ.get("RULEWRIGHT_DATA")
    if not text or not (Path(text) / "manifest.json").exists():
        raise SystemExit(
            "accuracy.py needs the data sets: set the environment variable RULEWRIGHT_DATA to the "
            f"folder that holds manifest.json (it is {text!r} now)"
        )
    return Path(text)


def load(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read a set with the manifest's types; nominal columns keep all their declared values."""
    manifest = json.loads((folder / "manifest.json").read_text())
    entry = next(d for d in manifest["datasets"] if d["name"] == name)
    frame = pd.read_csv(folder / entry["path"], dtype=str, keep_default_na=False, na_values=[""])
    for column in entry["columns"]:
        key = column["name"]
        if column["type"] == "numeric":
            frame[key] = pd.to_numeric(frame[key])
        elif column.get("role") != "class":
            frame[key] = pd.Categorical(frame[key], categories=column.get("values"))
    return frame.drop(columns="class"), frame["class"].to_numpy(dtype=str)


def cross_validate(folder: Path, task: Task) -> dict[str, Any]:
    """Return error, log-loss and rule sizes over ten stratified folds, or the error raised."""
    options = {"random_state": task.seed, "n_jobs": 1, **task.settings}
    try:
        X, y = load(folder, task.name)
        return judge(X, y, ten_folds(X, y, task.seed), lambda: PRESETS[task.preset](**options))
    except Exception as error:
        traceback.print_exc()
        return {"problem": f"{type(error).__name__}: {error}"}


def ten_folds(X: pd.DataFrame, y: np.ndarray, seed: int) -> list[Split]:
    splitter = StratifiedKFold(10, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # Glass has a class of nine rows; nine of ten folds hold one, which is what we want.
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(X, y))


def judge(
    X: pd.DataFrame, y: np.ndarray, splits: list[Split], make: Callable[[], Any]
) -> dict[str, Any]:
    """Return error and log-loss over the test rows of all splits, and the size of the models."""
    classes = np.unique(y)
    shares = np.zeros((len(y), len(classes)))
    said = np.empty_like(y)
    lengths: list[int] = []
    sizes: list[int] = []
    for train, test in splits:
        model = make().fit(X.iloc[train], y[train])
        columns = np.searchsorted(classes, model.classes_)
        shares[np.ix_(test, columns)] = model.predict_proba(X.iloc[test])
        said[test] = model.predict(X.iloc[test])
        lengths += [len(rule.conjunction) for rule in model.model_.rules]
        sizes.append(len(model.model_.rules))
    tested = np.concatenate([test for _, test in splits])
    return {
        "error": float(np.mean(said[tested] != y[tested])),
        "log-loss": float(log_loss(y[tested], shares[tested], labels=classes)),
        "conditions": float(np.mean(lengths or [0])),
        "rules": float(np.mean(sizes)),
    }


def summary(
    results: dict[str, list[dict[str, Any]]], printed: dict[str, float], title: str
) -> list[str]:
    """Return the table of one learner: each set, then the averages and the verdict."""
    body: list[list[Any]] = []
    for name, all_runs in results.items():
        runs = [r for r in all_runs if "problem" not in r]
        if not runs:
            continue
        mean = {key: float(np.mean([r[key] for r in runs])) for key in runs[0]}
        spread = float(np.std([r["error"] for r in runs])) if len(runs) > 1 else None
        difference = mean["error"] - printed[name]
        rest = [mean["log-loss"], mean["conditions"], mean["rules"]]
        body.append([name, mean["error"], spread, printed[name], difference, *rest])
    lines = []
    if body:
        columns = list(zip(*body, strict=True))[1:]
        body.append(["mean", *(None if None in c else float(np.mean(c)) for c in columns)])
        head = ["", "error", "sd", title, "difference", "log-loss", "conditions", "rules"]
        lines = aligned(head, body)
        gap = body[-1][4]
        met = "yes" if abs(gap) <= TOLERANCE else "NO"
        lines.append(f"mean difference {gap:+.4f}, target within {TOLERANCE}: {met}")
    failed = [f"! {n}: {r['problem']}" for n, rs in results.items() for r in rs if "problem" in r]
    if failed:
        lines.append("the averages leave out what failed:")
    return lines + failed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(PRINTED), default=SANITY)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], help="one 10-fold CV each")
    parser.add_argument("--presets", nargs="+", choices=list(PRESETS), default=list(PRESETS))
    parser.add_argument("--jobs", type=int, default=2, help="cross-validations at a time")
    parser.add_argument(
        "--set",
        type=setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="parameter of MLRulesClassifier in every preset; may be repeated",
    )
    return parser.parse_args()


def main() -> None:
    options = arguments()
    folder = data_folder()
    for preset in options.presets:
        tasks = [Task(n, preset, s, dict(options.set)) for n in options.sets for s in options.seeds]
        found = Parallel(n_jobs=options.jobs)(delayed(cross_validate)(folder, t) for t in tasks)
        results: dict[str, list[dict[str, Any]]] = {name: [] for name in options.sets}
        for task, result in zip(tasks, found, strict=True):
            results[task.name].append(result)
        print(f"\n{preset} settings, 10-fold cross-validation, {len(options.seeds)} seed(s)")
        print("\n".join(summary(results, PRINTED, "ML.N")), flush=True)


if __name__ == "__main__":
    main()
