"""Rule ensembles: Figures 1 to 8 and 11, and Table 2, on a surrogate of the supernova data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from rulewright.comparison import (
    FoldProtocol,
    Grid,
    Place,
    Report,
    figures,
    select_done,
    select_failed,
)
from rulewright.estimators import RuleFitClassifier, RuleVoteSelector
from rulewright_lab.experiments.calculation import Calculation
from rulewright_lab.experiments.charts import curve_chart
from rulewright_lab.experiments.datasets import load_dataset
from rulewright_lab.experiments.generators import SUPERNOVA_RELEVANT, supernova_surrogate
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import at_least, at_most
from rulewright_lab.experiments.solver_paths import (
    SHARES,
    SOLVERS,
    TAUS,
    GrownRules,
    error_rates,
    signs_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Cell, Record
    from rulewright.data import Table
    from rulewright_lab.experiments.solver_paths import Setting

N_REPEATS, N_ROWS, N_TEST = 10, 5000, 20_000
N_TOP = 20
"""Rules that get a vote at each setting."""
N_SHOWN = 10
MATCHED = 6
"""Place of the penalty at which solvers are compared, with PATHBUILD at tau 0.4."""
CLASSES = ("bus", "opel", "saab", "van")
LEARNERS = ("rule ensemble", "bagging")
SURROGATE = "supernova surrogate"
TEXT = (
    "*Feature selection and multi-class classification using a rule ensemble method*. Its data of "
    "supernovae are not public. A surrogate of the same shape stands in: 39 columns, of which 21 "
    "matter, 5,000 rows to learn from and 20,000 to test on, ten times. Errors are higher than on "
    "the original data, so that figures are compared by "
    "direction. Rules and settings are the paper's: 600 rules of trees of about 20 leaves, 13 "
    "penalties. Its bound sigma of SPGL1 is a bound on the sum of the weights."
)


def sweep(n_rows: int, n_test: int, seed: int) -> Record:
    """Weight the same rules at all settings of the four solvers."""
    train, test = supernova_surrogate(n_rows, 2 * seed), supernova_surrogate(n_test, 2 * seed + 1)
    grown = GrownRules.grow(train, seed)
    covers, truth = grown.covered(test), signs_of(test)
    found = {name: grown.solve(name) for name in SOLVERS}
    record: Record = {"n_rules": len(grown.rules)}
    for name, settings in found.items():
        rates = [error_rates(setting.solution, covers, truth) for setting in settings]
        record[name] = [setting.value for setting in settings]
        for what in rates[0]:
            record[f"{name} {what}"] = [rate[what] for rate in rates]
        record[f"{name} nonzero"] = [_count_nonzero(setting) for setting in settings]
    record["votes"] = _votes(found["mu"])
    record["top"] = _top(grown, found)
    return record


def _count_nonzero(setting: Setting) -> int:
    return int(np.count_nonzero(setting.solution.coef))


def _votes(settings: Sequence[Setting]) -> list[int]:
    """Count for each rule the settings at which it is among the 20 with the largest weights."""
    sizes = abs(np.array([setting.solution.coef for setting in settings]))
    ranks = np.argsort(np.argsort(-sizes, axis=1, kind="stable"), axis=1)
    votes = ((ranks < N_TOP) & (sizes > 0)).sum(axis=0)
    return sorted(votes[votes > 0].tolist(), reverse=True)


def _top(grown: GrownRules, found: dict[str, list[Setting]]) -> list[dict[str, Any]]:
    """Return the rules with the ten largest weights of any solver, with all their weights."""
    places = {"tau": int(np.argmin(abs(TAUS - 0.4)))}
    weights = {
        name: settings[places.get(name, MATCHED)].solution.coef for name, settings in found.items()
    }
    top = {name: set(np.argsort(-abs(coef))[:N_SHOWN].tolist()) for name, coef in weights.items()}
    order = sorted(set().union(*top.values()), key=lambda k: -abs(weights["mu"][k]))
    return [
        {"rule": str(grown.rules[k]), **{n: float(c[k]) for n, c in weights.items()}} for k in order
    ]


def select_columns(n_rows: int, n_test: int, seed: int) -> Record:
    """Keep columns by the votes of rules, and compare the errors of FPC with all and with those."""
    train, test = supernova_surrogate(n_rows, 2 * seed), supernova_surrogate(n_test, 2 * seed + 1)
    selector = RuleVoteSelector(max_candidates=600, tree_size=20.0, linear=False, random_state=seed)
    kept = selector.fit(train).get_feature_names_out().tolist()
    relevant = set(SUPERNOVA_RELEVANT)
    return {
        "kept": float(len(kept)),
        "relevant kept": float(len(relevant & set(kept))),
        "error of all": _mean_error(train, test, train.names, seed),
        "error of kept": _mean_error(train, test, kept, seed),
    }


def _mean_error(train: Table, test: Table, names: Sequence[str], seed: int) -> float:
    """Return the mean error over the penalties of FPC with some of the columns."""
    rows, new = (
        replace(table, columns=tuple(table[name] for name in names)) for table in (train, test)
    )
    grown = GrownRules.grow(rows, seed)
    covers, truth = grown.covered(new), signs_of(new)
    rates = [error_rates(one.solution, covers, truth) for one in grown.solve("mu")]
    return float(np.mean([rate["error"] for rate in rates]))


def vehicle(label: str, learner: str, repeat: int, fold: int, split_seed: int, seed: int) -> Record:
    """Return the accuracy for one class of vehicle against the others, on one of two folds."""
    table = load_dataset("vehicle")
    target = table.known_target
    split = FoldProtocol(2).split(target.codes, Place(repeat, fold), split_seed)
    truth = target.codes == list(target.classes).index(label)
    train, test = table.take(split.train), table.take(split.test)
    if learner == "bagging":
        trees = RandomForestClassifier(1000, max_features=None, random_state=seed)
        X, new = (np.column_stack([c.values for c in part.columns]) for part in (train, test))
        predicted = trees.fit(X, truth[split.train]).predict(new)
    else:
        rules = RuleFitClassifier.paper(random_state=seed)
        named = [{c.schema.name: c.values for c in part.columns} for part in (train, test)]
        predicted = rules.fit(named[0], truth[split.train]).predict(named[1])
    return {"accuracy": float(np.mean(predicted == truth[split.test])), "n_test": len(split.test)}


def trials(extent: Extent) -> list[Calculation]:
    """List the sweeps and selections of columns, and one class of vehicle against the others."""
    size = {"n_rows": 600, "n_test": 600} if extent.quick else {"n_rows": N_ROWS, "n_test": N_TEST}
    chosen = extent.choose_sets((SURROGATE, *CLASSES))
    n_repeats = 2 if extent.quick else N_REPEATS * extent.runs
    found = [
        Calculation(who, SURROGATE, function, size, Place(repeat, 0), extent.seed * 1000 + repeat)
        for repeat in range(n_repeats)
        for who, function in (("four solvers", sweep), ("column votes", select_columns))
        if SURROGATE in chosen
    ]
    for repeat in range(1 if extent.quick else 5 * extent.runs):
        for label in (name for name in chosen if name in CLASSES):
            for learner in LEARNERS:
                for fold in range(2):
                    about = {"label": label, "learner": learner, "repeat": repeat, "fold": fold}
                    about["split_seed"] = extent.seed
                    place = Place(repeat, fold)
                    found.append(Calculation(learner, label, vehicle, about, place, 10 * repeat))
    return found


def report(records: Sequence[Record], extent: Extent) -> Report:
    """Show the errors by setting, the sparsity, the votes, and the classes of vehicle."""
    done = select_done(records)
    swept = [record for record in done if record["learner"] == "four solvers"]
    votes = [record for record in done if record["learner"] == "column votes"]
    grids = [_sweep_grid(place + 1, name, swept) for place, name in enumerate(_ORDER)]
    grids += [_sparsity(swept), _vote_grid(swept), _columns_grid(votes), _vehicle(records)]
    return Report(
        FIGURES.name,
        FIGURES.title,
        [TEXT, *FIGURES.about(extent)],
        [*grids, _top_grid(swept)],
        _targets(swept, votes, records, extent),
        {name: _chart(name, swept) for name in SOLVERS if swept},
        failures=select_failed(records),
    )


_ORDER = ("tau", "lambda", "sigma", "mu")
"""The settings in the order of Figures 1 to 4."""


def _mean(records: Sequence[Record], name: str) -> Any:
    return np.mean([record[name] for record in records], axis=0)


def _sweep_grid(number: int, name: str, swept: Sequence[Record]) -> Grid:
    whats = ("error", "false positives", "false negatives", "nonzero")
    rows: list[list[Cell]] = []
    if swept:
        deviation = np.std([record[f"{name} error"] for record in swept], axis=0)
        columns = [_mean(swept, name), *(_mean(swept, f"{name} {what}") for what in whats)]
        rows = [list(map(float, row)) for row in zip(*columns, deviation, strict=True)]
    head = [name, *whats, "sd of the error"]
    return Grid(f"Figure {number}: error by {name} of {SOLVERS[name]}", head, rows, 4)


def _sparsity(swept: Sequence[Record]) -> Grid:
    rows: list[list[Cell]] = []
    if swept:
        zeros = [1 - np.array(r["mu nonzero"]) / r["n_rules"] for r in swept]
        pairs = zip(SHARES, _mean(swept, "mu"), np.mean(zeros, axis=0), strict=True)
        rows = [[float(share), float(mu), 100 * float(zero)] for share, mu, zero in pairs]
    head = ["share of the largest penalty", "mu", "zero weights in %"]
    return Grid("Figure 5: sparsity by mu of FPC", head, rows)


def _vote_grid(swept: Sequence[Record]) -> Grid:
    counts = range(len(SHARES), 0, -1)
    rows: list[list[Cell]] = [
        [str(n), float(np.mean([record["votes"].count(n) for record in swept]))]
        for n in (counts if swept else ())
    ]
    return Grid("Figure 6: rules by number of votes", ["votes of 13", "rules"], rows, 1)


def _columns_grid(votes: Sequence[Record]) -> Grid:
    names = ("kept", "relevant kept", "error of all", "error of kept")
    rows: list[list[Cell]] = [[str(r["repeat"]), *(r[name] for name in names)] for r in votes]
    if votes:
        rows.append(["mean", *(float(_mean(votes, name)) for name in names)])
    return Grid("Figure 7: columns kept by votes, of 39", ["repetition", *names], rows, 4)


def _vehicle(records: Sequence[Record]) -> Grid:
    found = figures(records, "accuracy")
    rows: list[list[Cell]] = []
    for label in CLASSES:
        ours = [found.get((who, label)) for who in LEARNERS]
        if any(ours):
            rows.append([label, *(one and 100 * one.mean for one in ours)])
    title = "Figure 8: accuracy for one class of vehicle against the others, in percent"
    return Grid(title, ["class", *LEARNERS], rows, 1)


def _top_grid(swept: Sequence[Record]) -> Grid:
    rows: list[list[Cell]] = []
    if swept:
        rows = [[one["rule"], *(one[name] for name in SOLVERS)] for one in swept[0]["top"]]
    title = "Figure 11 and Table 2: rules with the largest weights, first repetition"
    return Grid(title, ["rule", *SOLVERS.values()], rows, 4)


def _chart(name: str, swept: Sequence[Record]) -> Any:
    points = zip(_mean(swept, name), _mean(swept, f"{name} error"), strict=True)
    return curve_chart(
        [{"x": float(x), "y": float(y), "series": SOLVERS[name]} for x, y in points],
        title=f"Error by {name}",
        x_title=name,
        y_title="error",
        log_x=name != "tau",
    )


def _targets(
    swept: Sequence[Record], votes: Sequence[Record], records: Sequence[Record], extent: Extent
) -> list[Any]:
    """Judge what the paper's text says of its charts."""
    loss = rise = spread = zeros = gain = np.nan
    if swept:
        errors = {name: _mean(swept, f"{name} error") for name in SOLVERS}
        loss = errors["tau"][int(np.argmin(abs(TAUS - 0.4)))] - errors["tau"][0]
        rise = errors["tau"][-1] - errors["tau"][0]
        last = [errors[name][-1] for name in ("lambda", "sigma", "mu")]
        spread = max(last) - min(last)
        nonzero = [record["mu nonzero"][MATCHED] / record["n_rules"] for record in swept]
        zeros = 1 - float(np.mean(nonzero))
    if votes:
        gain = float(_mean(votes, "error of kept") - _mean(votes, "error of all"))
    found = figures(records, "accuracy")
    ahead = sum(
        found["rule ensemble", name].mean > found["bagging", name].mean
        for name in CLASSES
        if ("rule ensemble", name) in found and ("bagging", name) in found
    )
    n_classes = len({name for who, name in found})
    won = float(ahead) if n_classes == len(CLASSES) else np.nan
    return [
        at_most("Figure 1: error at tau = 0.4 minus that at 0, at most 0.01", loss, 0.01, extent),
        at_least("Figure 1: error at tau = 1 minus that at 0, at least 0", rise, 0.0, extent),
        at_most("Figures 2 to 4: spread of the three solvers at most 0.01", spread, 0.01, extent),
        at_least("Figure 5: share of zero weights, at least 0.78", zeros, 0.78, extent),
        at_most("Figure 7: error of kept columns minus that of all: at most 0", gain, 0, extent),
        at_least("Figure 8: classes better than bagging, at least 3 of 4", won, 3, extent, 0),
    ]


FIGURES = Reproduction(
    "rulefit-figures",
    "Rule ensembles, Figures 1 to 8 and 11: solvers, votes of rules, classes of vehicle",
    "two of ten samples of 600 rows, one of five splits",
    trials,
    report,
)
