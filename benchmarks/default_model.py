"""The model that a user gets without asking: quality, honesty and speed of compact rules.

default_model.py small      # 11 small tables of the papers (RULEWRIGHT_DATA)
default_model.py noise      # tables in which there is nothing to learn
default_model.py columns    # the share of rules with columns that do not matter
default_model.py fraud      # a rare class in a large table
default_model.py cost       # the printed cost of compactness against fresh rows
default_model.py speed      # against LightGBM's defaults
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from console import aligned
from problems import make
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from rulewright import CompactRulesClassifier, MLRulesClassifier
from rulewright_lab.experiments.datasets import load_dataset

SMALL = [
    "haberman",
    "breast-c",
    "liver-disorders",
    "hepatitis",
    "heart-statlog",
    "glass-g2",
    "colic",
    "cylinder-bands",
    "credit-g",
    "diabetes",
    "sonar",
]


def small(options: argparse.Namespace) -> None:
    """Cross-validate the default and a budget of ten rules."""
    body: list[list[Any]] = []
    for name in options.sets or SMALL:
        table = load_dataset(name)
        y = table.known_target.codes
        folds = list(StratifiedKFold(3, shuffle=True, random_state=5).split(y, y))
        body.append([name])
        for setting in ({}, {"max_rules": 10, "size": "max"}):
            found, start = [], time.process_time()
            for train, test in folds:
                est = CompactRulesClassifier(random_state=0, **setting).fit(table.take(train))
                p = est.predict_proba(table.take(test))[:, 1]
                wrong = np.mean((p > 0.5) != y[test])
                own = len(est.model_), len(est.model_.entries)
                found.append([wrong, roc_auc_score(y[test], p), *own])
            body[-1] += [*np.mean(found, axis=0), (time.process_time() - start) / len(folds)]
        print(*body[-1], flush=True)
    body.append(["mean", *np.mean([row[1:] for row in body], axis=0)])
    heads = ["error", "AUC", "rules", "as printed", "s"]
    heads = ["", *heads, *(f"{head} of 10" for head in heads)]
    print("\n".join(aligned(heads, body)))


def noise(options: argparse.Namespace) -> None:
    """Count the tables of noise that get rules."""
    n_with = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 7])
        n, m = int(rng.choice([100, 200, 400, 800, 2000])), int(rng.integers(3, 25))
        X = {f"x{k}": rng.normal(size=n) for k in range(m)}
        X |= {f"c{k}": rng.choice(list("abcdef"), size=n) for k in range(int(rng.integers(0, 6)))}
        y = rng.random(n) < rng.uniform(0.1, 0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            n_with += len(CompactRulesClassifier(random_state=seed).fit(X, y).model_) > 0
    print(f"{n_with} of 40 tables of noise got rules")


def columns(options: argparse.Namespace) -> None:
    """Count rules with other columns than the two of twenty on which the class depends."""
    body = []
    for n_rows in (400, 800, 2000):
        n_rules = n_others = 0
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(n_rows, 20))
            y = X[:, 0] + X[:, 1] + rng.logistic(size=n_rows) > 0
            rules = CompactRulesClassifier(random_state=0).fit(X, y).model_.rules
            n_rules += len(rules)
            n_others += sum(not set(rule.body.columns) <= {"x0", "x1"} for rule in rules)
        body.append([n_rows, n_rules / options.seeds, n_others / options.seeds, n_others / n_rules])
    print("\n".join(aligned(["rows", "rules", "with others", "share"], body)))


def make_frauds(seed: int, n: int = 150_000) -> tuple[dict[str, Any], Any]:
    """Draw payments of which 0.3 % are frauds, most of them by three planted rules."""
    rng = np.random.default_rng([seed, 20])
    X: dict[str, Any] = {
        "amount": rng.lognormal(4, 1, n).round(2),
        "country": rng.choice(
            ["DE", "FR", "US", "NG", "BR", "IN"], n, p=[0.3, 0.2, 0.2, 0.05, 0.1, 0.15]
        ),
        **{f"f{k}": rng.normal(size=n).round(3) for k in range(8)},
    }
    score = np.full(n, -6.6)
    score += 2.2 * (np.isin(X["country"], ["NG", "BR"]) & (X["amount"] > 150))
    score += 1.7 * ((X["f0"] > 1.2) & (X["amount"] > 60))
    score += 1.8 * ((X["f1"] > 0.5) & (X["f2"] < -0.5))
    return X, rng.random(n) < 1 / (1 + np.exp(-score))


PLANTED = ({"country", "amount"}, {"f0", "amount"}, {"f1", "f2"})


def fraud(options: argparse.Namespace) -> None:
    """Compare with MLRules on fresh rows, and look for the planted rules."""
    body = []
    for seed in range(options.seeds):
        X, y = make_frauds(seed)
        fresh, truth = make_frauds(seed + 1000)
        row: list[Any] = [seed, int(y.sum())]
        start = time.process_time()
        est = CompactRulesClassifier(random_state=seed).fit(X, y)
        row += [len(est.model_), time.process_time() - start]
        many = MLRulesClassifier(random_state=seed).fit(X, y)
        row += [roc_auc_score(truth, one.predict_proba(fresh)[:, 1]) for one in (est, many)]
        row += [log_loss(truth, one.predict_proba(fresh)[:, 1]) for one in (est, many)]
        used = [set(rule.body.columns) for rule in est.model_.rules]
        row.append(sum(any(columns <= one for one in used) for columns in PLANTED))
        body.append(row)
        print(*row, flush=True)
        if seed == 0:
            print(est.model_)
    heads = [
        "seed",
        "frauds",
        "rules",
        "s",
        "AUC",
        "AUC of MLRules",
        "log-loss",
        "of MLRules",
        "planted",
    ]
    print("\n".join(aligned(heads, body)))


def cost(options: argparse.Namespace) -> None:
    """Compare the printed cost of compactness with the difference on 100,000 fresh rows."""
    body = []
    for name in ("smooth-2000x20", "boxes-40000x25", "wide-200000x30-2"):
        kind = name if name.startswith("wide") else f"{name}-1"
        X, y = make(kind)
        columns = kind.split("-")[1].split("x")[1]
        fresh, truth = make(f"{kind.split('-')[0]}-100000x{columns}-{kind.split('-')[2]}@1")
        est = CompactRulesClassifier(random_state=0).fit(X, y)
        many = MLRulesClassifier(random_state=0).fit(X, y)
        few, many_printed = (one["log_loss"] for one in est.model_.summary["price"])
        true = [log_loss(truth, one.predict_proba(fresh)) for one in (est, many)]
        row = [
            name,
            len(est.model_),
            few,
            many_printed,
            *true,
            few - many_printed,
            true[0] - true[1],
        ]
        body.append(row)
        print(*row, flush=True)
    heads = ["", "rules", "few", "many", "few, fresh", "many, fresh", "printed cost", "true cost"]
    print("\n".join(aligned(heads, body)))


def speed(options: argparse.Namespace) -> None:
    """Fit in turns with LightGBM, one thread each."""
    import lightgbm  # noqa: PLC0415 - only this question needs it

    gauss = make_classification(3000, 20, n_informative=10, n_redundant=5, random_state=0)
    gauss2 = make_classification(3000, 20, n_informative=4, flip_y=0.1, random_state=1)
    tables = {
        "wide-5000x30": make("wide-5000x30-2"),
        "Gauss 3000x20 a": gauss,
        "Gauss 3000x20 b": gauss2,
        "1000x15": make("smooth-1000x15-1"),
        "wide-100000x30": make("wide-100000x30-2"),
    }
    body = []
    for name, (X, y) in tables.items():
        if options.sets and name not in options.sets:
            continue
        makers = {
            "compact": lambda: CompactRulesClassifier(random_state=0, n_jobs=1),
            "MLRules": lambda: MLRulesClassifier(random_state=0, n_jobs=1),
            "LightGBM": lambda: lightgbm.LGBMClassifier(n_jobs=1, verbosity=-1),
        }
        times: dict[str, float] = {}
        for _ in range(options.repeat):
            for kind, maker in makers.items():
                start = time.process_time()
                maker().fit(X, y)
                spent = time.process_time() - start
                times[kind] = min(times.get(kind, np.inf), spent)
        body.append([name, *times.values(), times["compact"] / times["LightGBM"]])
        print(*body[-1], flush=True)
    print("\n".join(aligned(["", *makers, "compact / LightGBM"], body)))


def main() -> None:
    """Run one of the questions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    questions = {one.__name__: one for one in (small, noise, columns, fraud, cost, speed)}
    parser.add_argument("question", choices=questions)
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    questions[options.question](options)


if __name__ == "__main__":
    main()
