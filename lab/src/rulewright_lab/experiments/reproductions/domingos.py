"""Bayesian averaging of rule sets, of rules and of conjunctions (Domingos, 1997)."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.comparison import (
    FoldProtocol,
    Grid,
    Learner,
    Place,
    Report,
    all_trials,
    figures,
    select_done,
    select_failed,
)
from rulewright_lab.experiments.calculation import Calculation
from rulewright_lab.experiments.data import PaperData
from rulewright_lab.experiments.measures import combiners, posterior
from rulewright_lab.experiments.noise_conjunctions import mean_of, noise_conjunctions
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import at_most
from rulewright_lab.experiments.summary import matrix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.comparison import Cell, Expectation, Record, Trial
    from rulewright.kernels import FloatArray

PARTS_SETS = (
    *("credit-a", "diabetes", "anneal", "kr-vs-kp"),
    *("hypothyroid", "splice", "mushroom", "shuttle"),
)
SIZES = (100, 500)
BASES = {"RISE": "rise", "RIPPER": "ripper"}
"""The paper's learner of parts, and one whose rules win many rows each."""
COMBINE: Mapping[str, Mapping[str, Any]] = {
    "vote": {"combine": "vote"},
    "bma": {"combine": "bma", "estimates": "ml"},
    "tempered": {"combine": "tempered"},
    "stacking": {"combine": "stacking"},
}
PLAIN = "bma, no row left out"
"""Evidence of RISE by all rows that a rule decides, many of which it grew from."""
WAYS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "RISE": {**COMBINE, PLAIN: {**COMBINE["bma"], "win_counts": "resubstitution"}},
    "RIPPER": COMBINE,
}
RULE_SETS = (
    *(
        "audiology",
        "breast-c",
        "breast-w",
        "bridges-type",
        "credit-a",
        "diabetes",
        "echocardiogram",
    ),
    *("glass", "heart-c", "heart-h", "hepatitis", "colic", "iris", "kr-vs-kp", "labor", "lymph"),
    *("liver-disorders", "primary-tumor", "promoters", "sonar", "soybean", "splice", "vote"),
    *("zoo", "tic-tac-toe"),
)
"""25 sets of the UCI repository; the paper does not name its own."""
LEARNERS = {"C4.5rules": Learner("C4.5rules", "c45rules"), "CN2": Learner("CN2", "cn2")}
SCHEMES = ("bma1", "bma2", "bma3")
OTHERS = (
    *("cn2", "c45rules", "itrule", "laplace_best", "vote"),
    *("tempered", "stacking", "pseudo_bma_plus", "coverage_normalised"),
)
TIE = 0.0005
"""Mean errors that differ by less are equal."""
FEATURES, RUNS = tuple(range(7, 16)), {a: 2 ** max(4, 17 - a) for a in range(7, 16)}
QUICK_FEATURES = 10
TEXT = (
    "Domingos: *Bayesian model averaging in rule induction*, 1997. First, RISE learns a rule set "
    "on each part of 100 or 500 rows; they vote, each with the accuracy of its winning rule, "
    "or are averaged by the likelihood of their own part, where each row is left out before a rule "
    "wins it. RIPPER is run beside it. Second, the rules of C4.5rules and CN2 "
    "that cover a row are combined by the learner itself, or by the three weightings of the paper. "
    "Third, all conjunctions of three of a Boolean features are averaged on labels that are noise. "
    "The paper's splits are not known, nor its 25 sets; ours are three folds."
)


def noise(a: int, runs: int, seed: int) -> Record:
    """Return the mean figures of conjunctions on noise."""
    return asdict(mean_of(noise_conjunctions(a, runs, seed)))


def parts_label(base: str, combine: str, size: int) -> str:
    """Name a way to combine rule sets of parts."""
    return f"{base} {combine}, parts of {size}"


def trials(extent: Extent) -> list[Trial | Calculation]:
    """List the averages on parts, the combinations of rules, and the samples of noise."""
    noises = tuple(f"noise-{a}" for a in FEATURES)
    chosen = extent.choose_sets(tuple(dict.fromkeys((*PARTS_SETS, *RULE_SETS, *noises))))
    protocol = FoldProtocol(3, extent.runs, used=1 if extent.quick else None)
    averages = [
        Learner(
            parts_label(base, name, size),
            "averaging",
            {"estimator": kind, "part_size": size, **how},
        )
        for base, kind in BASES.items()
        for size in SIZES
        for name, how in WAYS[base].items()
    ]
    parts = [PaperData(name) for name in chosen if name in PARTS_SETS]
    sets = [PaperData(name) for name in chosen if name in RULE_SETS]
    found: list[Trial | Calculation] = [
        replace(trial, measure=posterior)
        for trial in all_trials(averages, parts, protocol, extent.seed)
    ]
    kinds = (*SCHEMES, *OTHERS)
    found += [
        replace(trial, measure=combiners, options={"kinds": kinds})
        for trial in all_trials(LEARNERS.values(), sets, protocol, extent.seed)
    ]
    return found + [
        Calculation("BMA", f"noise-{a}", noise, {"a": a, "runs": RUNS[a]}, Place(run, 0), seed)
        for a in FEATURES
        if f"noise-{a}" in chosen and not (extent.quick and a > QUICK_FEATURES)
        for run, seed in ((r, 1000 * extent.seed + r) for r in range(extent.runs))
    ]


def report(records: Sequence[Record], extent: Extent) -> Report:
    """Show the three experiments, and judge the directions of the paper."""
    combined, spreads = _combine_records(records)
    counts = _parts_records(records) | {
        f"{who} {kind}": _record(errors[kind], errors["native"])
        for who, errors in combined.items()
        for kind in (*SCHEMES, *OTHERS)
    }
    return Report(
        DOMINGOS.name,
        DOMINGOS.title,
        [TEXT, *DOMINGOS.about(extent)],
        [
            *(_parts_grid(records, base) for base in BASES),
            _records_grid(counts),
            _spread_grid(spreads),
            _noise_grid(records),
        ],
        _targets(counts, records, extent),
        failures=select_failed(records),
    )


def _parts_grid(records: Sequence[Record], base: str) -> Grid:
    """Show the errors of rule sets on parts, and how many of them count for BMA."""
    errors, spread = figures(records, "error"), figures(records, "perplexity")
    sizes = figures(records, "n_models")
    ways = WAYS[base]
    labels = [parts_label(base, name, size) for size in SIZES for name in ways]
    bayes = [name for name in ways if name.startswith("bma")]
    rows: list[list[Cell]] = []
    for name in PARTS_SETS:
        if not any((label, name) in errors for label in labels):
            continue
        row: list[Cell] = [name]
        row += [errors[who, name].mean if (who, name) in errors else None for who in labels]
        for size in SIZES:
            pairs = [(parts_label(base, way, size), name) for way in bayes]
            row += [spread[pair].mean if pair in spread else None for pair in pairs]
            row.append(sizes[pairs[0]].mean if pairs[0] in sizes else None)
        rows.append(row)
    whats = [f"effective models, {way}" for way in bayes] + ["models"]
    counts = [f"{what}, of {size}" for size in SIZES for what in whats]
    return Grid(f"Error of {base} on parts", ["data", *labels, *counts], rows)


def _parts_records(records: Sequence[Record]) -> dict[str, tuple[int, int, int]]:
    """Count the sets on which BMA is better than the vote, equal and worse."""
    found = {}
    for base in BASES:
        for size in SIZES:
            labels = [parts_label(base, how, size) for how in ("bma", "vote")]
            errors = matrix(records, "error", PARTS_SETS, labels)
            known = errors[np.isfinite(errors).all(axis=1)]
            found[f"{base} on parts of {size}"] = _record(known[:, 0], known[:, 1])
    return found


def _combine_records(
    records: Sequence[Record],
) -> tuple[dict[str, dict[str, FloatArray]], dict[str, dict[str, list[float]]]]:
    """Return the mean errors of each learner by kind, and the relative perplexities."""
    errors: dict[str, dict[str, FloatArray]] = {}
    spreads: dict[str, dict[str, list[float]]] = {}
    for who in LEARNERS:
        own = [r for r in select_done(records) if r["learner"] == who and "errors" in r]
        sets = list(dict.fromkeys(record["set"] for record in own))
        by_set = [[r for r in own if r["set"] == name] for name in sets]
        errors[who] = {
            kind: np.array([np.mean([r["errors"][kind] for r in some]) for some in by_set])
            for kind in ("native", *SCHEMES, *OTHERS)
        }
        spreads[who] = {
            kind: [r["perplexities"][kind] for r in own if r["perplexities"].get(kind) is not None]
            for kind in (*SCHEMES, *OTHERS)
        }
    return errors, spreads


def _record(ours: FloatArray, theirs: FloatArray) -> tuple[int, int, int]:
    """Count wins, ties and losses by error."""
    better, worse = ours < theirs - TIE, ours > theirs + TIE
    return int(better.sum()), int((~better & ~worse).sum()), int(worse.sum())


def _records_grid(counts: Mapping[str, tuple[int, int, int]]) -> Grid:
    """Compare wins, ties and losses against the native method with the printed ones."""
    table = printed_table("domingos-records")
    printed = {
        name: "-".join(f"{table.column(what)[i]:.0f}" for what in ("wins", "ties", "losses"))
        for i, name in enumerate(table.sets)
    }
    rows: list[list[Cell]] = [
        [name, "-".join(map(str, found)), printed.get(name)] for name, found in counts.items()
    ]
    title = "Wins, ties and losses by error: BMA against the vote, combined rules against native"
    return Grid(title, ["", "ours", "printed"], rows)


def _spread_grid(spreads: Mapping[str, Mapping[str, Sequence[float]]]) -> Grid:
    """Show how many of the rules that cover a row count for each kind."""
    rows: list[list[Cell]] = [
        [kind, *(float(np.mean(of[kind])) if of[kind] else None for of in spreads.values())]
        for kind in (*SCHEMES, *OTHERS)
        if any(of[kind] for of in spreads.values())
    ]
    return Grid("Perplexity of weights by covering rules (mean)", ["", *spreads], rows)


def _noise_grid(records: Sequence[Record]) -> Grid:
    """Show how uneven posteriors on noise are, with the printed figures."""
    table = printed_table("domingos-noise")
    names = ("rest_ratio", "agreement", "perplexity", "accuracy_bma", "accuracy_best")
    found = {name: figures(records, name) for name in names}
    rows: list[list[Cell]] = []
    for a in FEATURES:
        pair = "BMA", f"noise-{a}"
        if pair not in found["agreement"]:
            continue
        printed = [
            float(table.column(what)[table.sets.index(str(a))]) if str(a) in table.sets else None
            for what in ("rest ratio", "agreement")
        ]
        n_models = a * (a - 1) * (a - 2) // 6
        ours = [found[name][pair].mean for name in names]
        rows.append([str(a), ours[0], printed[0], ours[1], printed[1], n_models, *ours[2:]])
    head = ["features", "rest / largest", "printed", "agreement with the best", "printed"]
    head += ["models", "perplexity", "accuracy of BMA", "accuracy of the best"]
    return Grid("Conjunctions on noise", head, rows)


def _targets(
    counts: Mapping[str, tuple[int, int, int]], records: Sequence[Record], extent: Extent
) -> list[Expectation]:
    """Judge what the paper found: losses outnumber wins, and one model outweighs many."""
    judged = [
        at_most(f"{name}: wins minus losses of BMA at most 0", wins - losses, 0, extent, 0)
        for name, (wins, ties, losses) in counts.items()
        if name in printed_table("domingos-records").sets and wins + ties + losses
    ]
    rest = figures(records, "rest_ratio").get(("BMA", "noise-7"))
    if rest is not None:
        text = "noise, 7 features: mean weight of the others at most a fifth of the largest"
        judged.append(at_most(text, rest.mean, 0.2, extent, 3))
    return judged


DOMINGOS = Reproduction(
    "bma-domingos",
    "Bayesian averaging of rule sets, rules and conjunctions against votes and native methods",
    "one of three folds, and noise of up to 10 features",
    trials,
    report,
)
