"""Questions of run.py about rule models: small ones, and the speed of SLIPPER and RuleFit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bench import Row, seconds
from noisy_rules import best_possible

if TYPE_CHECKING:
    from bench import Bench, Result

CONCEPTS = range(5)
COMPACT_RULES = 15
# The adapter's trees are made to resemble rules; here LightGBM's own defaults are asked for.
LIGHTGBM_DEFAULTS = {"num_leaves": 31, "bagging_fraction": 1.0, "bagging_freq": 0}
LIGHTGBM_TREES = 100
# The default of imodels, which raises an error on concepts 3 and 4.
IMODELS_ROUNDS = 10
SPEED_CONCEPTS = range(3)
OUR_SLIPPERS: dict[str, tuple[str, dict[str, object]]] = {
    f"slipper, {IMODELS_ROUNDS} rounds": ("slipper", {}),
    "slipper, rounds by cv": ("slipper", {"max_rules": 100, "size": "cv"}),
}
RIVALS: dict[str, tuple[str, dict[str, str]]] = {
    f"imodels, {IMODELS_ROUNDS} rounds asked": ("imodels", {}),
    "wittgenstein": ("wittgenstein-ripper", {}),
}
GROWTH_ROUNDS = 20
N_TEST = 20_000
RULEFIT_ROWS = 5000
# imodels stops its path of penalties at a model of more rules: this is never reached.
IMODELS_RULES = 2000


def first_error(results: list[Result]) -> str | None:
    return next((r["error"] for r in results if "error" in r), None)


def judged(label: str, value: float, most: float) -> Row:
    return Row(label, {}, value, f"<= {most:g}", value <= most)


def compact(bench: Bench) -> list[Row]:
    """At most 15 rules against LightGBM's defaults, 3,500 x 20, five concepts of noisy rules."""
    jobs = {}
    for seed in CONCEPTS:
        problem, test = f"rules-3500x20-{seed}", f"rules-{N_TEST}x20-{seed}@1"
        small = {"kept": COMPACT_RULES}
        trees = {"n_rules": LIGHTGBM_TREES, "settings": LIGHTGBM_DEFAULTS}
        jobs[f"{seed}: rulewright"] = bench.job("rulewright", problem, test=test, settings=small)
        jobs[f"{seed}: lightgbm"] = bench.job("lightgbm", problem, test=test, **trees)
    got = bench.best(jobs)
    table = []
    for seed in CONCEPTS:
        error, loss = best_possible(N_TEST, 20, seed, 1)
        table.append(Row(f"{seed}: best possible", {"test_error": error, "log_loss": loss}))
        table += [
            Row(f"{seed}: {who}", got[f"{seed}: {who}"]) for who in ("rulewright", "lightgbm")
        ]
    ours = [got[f"{seed}: rulewright"] for seed in CONCEPTS]
    return table + verdicts(ours, [got[f"{seed}: lightgbm"] for seed in CONCEPTS])


def verdicts(ours: list[Result], theirs: list[Result]) -> list[Row]:
    """Return the gaps to LightGBM (ours minus theirs), on average and at worst, and our costs."""
    broken = first_error([*ours, *theirs])
    if broken:
        return [Row("gaps", {"error": broken})]
    table = []
    for key, most in (("test_error", 0.015), ("log_loss", 0.04)):
        gaps = [a[key] - b[key] for a, b in zip(ours, theirs, strict=True)]
        table.append(judged(f"mean gap of {key}", float(np.mean(gaps)), most))
        table.append(judged(f"largest gap of {key}", max(gaps), most))
    table.append(judged("most rules", max(r["rules"] for r in ours), COMPACT_RULES))
    table.append(judged("longest fit, seconds", max(seconds(r) for r in ours), 1.0))
    return table


def slipper_speed(bench: Bench) -> list[Row]:
    """Fit seconds of SLIPPER against imodels' and against RIPPER, 5,000 x 20, one thread."""
    jobs = {}
    for seed in SPEED_CONCEPTS:
        problem, test = f"rules-5000x20-{seed}", f"rules-{N_TEST}x20-{seed}@1"
        for label, (learner, settings) in {**OUR_SLIPPERS, **RIVALS}.items():
            jobs[f"{seed}: {label}"] = bench.job(
                learner, problem, test=test, n_rules=IMODELS_ROUNDS, settings=settings
            )
    got = bench.best(jobs)
    table = [Row(label, result) for label, result in got.items()]
    for mine in OUR_SLIPPERS:
        for rival in RIVALS:
            ours = [got[f"{seed}: {mine}"] for seed in SPEED_CONCEPTS]
            table += duel(f"{rival} / {mine}", [got[f"{s}: {rival}"] for s in SPEED_CONCEPTS], ours)
    return table


def duel(label: str, theirs: list[Result], ours: list[Result]) -> list[Row]:
    """Return the ratio of all seconds, the least ratio of one concept and the gap of the errors."""
    broken = first_error([*theirs, *ours])
    if broken:
        return [Row(label, {"error": broken}, target=">= 50")]
    ratio = sum(map(seconds, theirs)) / sum(map(seconds, ours))
    least = min(seconds(a) / seconds(b) for a, b in zip(theirs, ours, strict=True))
    gap = np.mean([b["test_error"] - a["test_error"] for a, b in zip(theirs, ours, strict=True)])
    return [
        Row(label, {}, ratio, ">= 50", ratio >= 50),
        Row("  least ratio of a concept", {}, least),
        Row("  our test_error - theirs", {}, float(gap), "< 0", bool(gap < 0)),
    ]


def rulefit_speed(bench: Bench) -> list[Row]:
    """Whole fit of RuleFit against imodels', penalty by cross-validation, 5,000 x 39, one thread.

    Ours chooses by ten folds from 2,000 rules; imodels by its five folds, with the rules of its
    100 trees.
    """
    problem, test = f"supernova-{RULEFIT_ROWS}x39-0", f"supernova-{N_TEST}x39-0@1"
    ten = {"cv": 10}
    jobs = {
        "rulefit": bench.job("rulefit", problem, test=test, n_rules=2000, settings=ten),
        "imodels": bench.job("imodels-rulefit", problem, test=test, n_rules=IMODELS_RULES),
    }
    got = bench.best(jobs)
    ours, theirs = got["rulefit"], got["imodels"]
    table = [Row(label, result) for label, result in got.items()]
    if broken := first_error([ours, theirs]):
        return [*table, Row("imodels / rulefit", {"error": broken}, target=">= 20")]
    ratio = seconds(theirs) / seconds(ours)
    table.append(Row("imodels / rulefit", {}, ratio, ">= 20", ratio >= 20))
    for key in ("test_error", "log_loss"):
        table.append(judged(f"our {key} - theirs", ours[key] - theirs[key], 0.0))
    return table


def slipper_growth(bench: Bench) -> list[Row]:
    """Fit seconds of 20 rounds of SLIPPER over n log n, relative to 10,000 rows."""
    sizes = [10_000, 100_000, 1_000_000]
    jobs = {
        f"{n} rows": bench.job("slipper", f"rules-{n}x20-0", n_rules=GROWTH_ROUNDS) for n in sizes
    }
    got = bench.best(jobs)
    table = [Row(label, result) for label, result in got.items()]
    broken = first_error(list(got.values()))
    if broken:
        return [*table, Row("n log n", {"error": broken}, target="<= 1")]
    costs = [seconds(row.result) / (n * np.log2(n)) for row, n in zip(table, sizes, strict=True)]
    for row, n, cost in zip(table, sizes, costs, strict=True):
        row.result["us_per_row"] = 1e6 * seconds(row.result) / n
        row.ratio = float(cost / costs[0])
    # A tenth for noise: the smallest fit is short.
    for row in table[1:]:
        row.target, row.met = "<= 1.1", row.ratio is not None and row.ratio <= 1.1
    return table
