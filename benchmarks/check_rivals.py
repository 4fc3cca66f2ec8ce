"""Which rivals run on this machine: `python benchmarks/check_rivals.py [NAME ...]`.

Each learner gets three small tables in a process of its own: numbers with two classes, and numbers
and nominal columns with missing and unseen values and text labels, of two and of three classes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from console import aligned

from rulewright_lab import rivals

HERE = Path(__file__).parent
N_TRAIN, N_TEST = 300, 100
TIMEOUT = 600
Table = tuple[np.ndarray | pd.DataFrame, np.ndarray]


def numeric() -> Table:
    """Four columns, two classes 0 and 1, a rule of two conditions with 10% noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_TRAIN + N_TEST, 4))
    y = (X[:, 0] > 0) & (X[:, 1] > -0.5)
    return X, (y ^ (rng.random(len(y)) < 0.1)).astype(int)


def mixed() -> Table:
    """Two numbers, two nominal columns, a tenth missing; three classes with text labels.

    The last rows have a colour that no training row has.
    """
    rng = np.random.default_rng(1)
    n = N_TRAIN + N_TEST
    number, colour, size = rng.normal(size=n), rng.integers(3, size=n), rng.integers(2, size=n)
    y = np.where((number > 0) & (colour != 1), 2, np.where(size == 1, 1, 0))
    y = np.where(rng.random(n) < 0.1, rng.integers(3, size=n), y)
    colours = np.array(["red", "deep blue", "it's <green>, 50%"], dtype=object)[colour]
    colours[-5:] = "unseen"
    X = pd.DataFrame(
        {
            "number [m]": number,
            "a colour, named": colours,
            "size": np.array(["small", "large"])[size],
            "noise": rng.integers(9, size=n).astype(float),
        },
        index=np.arange(n) * 2 + 7,
    )
    X = X.mask(rng.random(X.shape) < 0.1)
    X = X.astype({"a colour, named": "category", "size": "category"})
    return X, np.array(["no", "maybe", "yes, sure"])[y]


def two_classes() -> Table:
    """Two classes for learners that know no third: the mixed table with `maybe` as `no`."""
    X, y = mixed()
    return X, np.where(y == "maybe", "no", y)


TABLES = {"numeric, 2": numeric, "mixed, 2": two_classes, "mixed, 3": mixed}


def try_one(learner: str, table: str, n_rules: int | None) -> dict[str, Any]:
    """Fit and predict, and judge the shares: their shape, their sums and what they get right."""
    X, y = TABLES[table]()
    model = rivals.make(learner, n_rules, 1, {})
    start = time.perf_counter()
    model.fit(X[:N_TRAIN], y[:N_TRAIN])
    shares = model.predict_proba(X[N_TRAIN:])
    spent = time.perf_counter() - start
    if list(model.classes_) != sorted(set(y[:N_TRAIN])):
        raise ValueError(f"classes_ is {model.classes_!r}")
    if shares.shape != (N_TEST, len(model.classes_)) or not np.isfinite(shares).all():
        raise ValueError(f"shares of shape {shares.shape} or not finite")
    if shares.min() < 0 or np.abs(shares.sum(axis=1) - 1).max() > 1e-5:
        raise ValueError("shares that are negative or do not sum to one")
    right = float(np.mean(model.classes_[shares.argmax(axis=1)] == y[N_TRAIN:]))
    what = ", ".join(f"{value:.3g} {key}" for key, value in model.describe().items())
    return {"seconds": spent, "accuracy": right, "version": model.version(), "model": what}


def answer(learner: str, table: str, n_rules: int | None) -> dict[str, Any]:
    """Return the result of one trial, or its error in one line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = try_one(learner, table, n_rules)
        except Exception as error:
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error}"}
    said = sorted({f"{w.category.__name__}: {w.message}".splitlines()[0] for w in caught})
    return {**result, "warnings": said}


def in_child(learner: str, n_rules: int | None) -> dict[str, dict[str, Any]]:
    """Try a learner on all tables in a fresh process; one that dies is an error of all of them."""
    command = [sys.executable, __file__, "--child", learner]
    command += [] if n_rules is None else ["--rules", str(n_rules)]
    try:
        done = subprocess.run(
            command, cwd=HERE, capture_output=True, text=True, check=False, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        error = f"no answer in {TIMEOUT} s"
    else:
        if done.returncode == 0:
            found: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
            return found
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        error = f"exit code {done.returncode}: {last}"
    return {table: {"error": error} for table in TABLES}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("learners", nargs="*", help="names as in rivals.MODULES; all by default")
    parser.add_argument("--rules", type=int, help="rules to ask for instead of the defaults")
    parser.add_argument("--child", action="store_true", help="print JSON for one learner")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.child:
        name = options.learners[0]
        print(json.dumps({table: answer(name, table, options.rules) for table in TABLES}))
        return
    body, notes = [], []
    for name in options.learners or rivals.MODULES:
        for table, result in in_child(name, options.rules).items():
            works = "error" if "error" in result else "works"
            cells = (result.get(key) for key in ("seconds", "accuracy", "version", "model"))
            body.append([name, table, works, *cells])
            if "error" in result:
                notes.append(f"! {name}, {table}: {result['error']}")
            notes += [f"  {name}, {table}: {warning}" for warning in result.get("warnings", [])]
        print(f"  {name}", file=sys.stderr, flush=True)
    titles = ["learner", "table", "", "seconds", "accuracy", "version", "model"]
    print("\n".join([*aligned(titles, body), *notes]))


if __name__ == "__main__":
    main()
