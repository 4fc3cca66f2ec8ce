"""Comparison on the folds of one file: ranks, tests, sizes, and the cost of readability."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.comparison.report import Cell, Grid, Report
from rulewright.comparison.rivals import RIVALS_OF_TABLES
from rulewright.comparison.statistics import (
    average_ranks,
    corrected_resampled_t,
    figures,
    holm,
    p_text,
    select_failed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison.trial import Record
    from rulewright.kernels import FloatArray

READABLE_RULES = 20
"""Maximum number of rules of a readable model."""
_METHOD = (
    "Ranks are means over the folds, 1 is best. p is from the corrected resampled t-test on the "
    "folds. p (Holm) is corrected for the number of comparisons; Holm's method makes neighbouring "
    "values equal where their order would otherwise change. The best of several learners on the "
    "same folds looks slightly better than it is."
)
_ALPHA = 0.05
_SMALLEST_POINTS = 0.05  # smaller differences are printed as 0.0
_TITLES = {
    "rank": "average rank",
    "rules": "rules",
    "conditions": "conditions",
    "log_loss": "log-loss",
    "auc": "AUC",
    "fit_seconds": "fit, s",
}


class Price(NamedTuple):
    """Loss of accuracy of a readable model compared with the best other one, in shares of rows.

    The p-value is corrected for the number of comparisons.
    """

    readable: str
    rules: float
    error: float
    rival: str
    rival_error: float
    p_value: float

    @property
    def text(self) -> str:
        """Describe the comparison in one sentence."""
        rules = f"{self.rules:.0f} rule{'s' * (round(self.rules) != 1)}"
        said = (
            f"{rules} ({self.readable}) err on {100 * self.error:.1f} % of the held-out rows, "
            f"{_title(self.rival)} on {100 * self.rival_error:.1f} %"
        )
        points = 100 * (self.error - self.rival_error)
        verdict = "significant" if self.p_value < _ALPHA else "not significant"
        what = f"readability costs {points:.1f} points"
        if points < _SMALLEST_POINTS:
            fewer = f" ({-points:.1f} points fewer errors)" if points <= -_SMALLEST_POINTS else ""
            what = f"readability costs nothing{fewer}"
        return f"{said}: {what}, {verdict} ({p_text(self.p_value)}, Holm-corrected)."


def file_report(
    name: str,
    title: str,
    about: list[str],
    records: Sequence[Record],
    sets: Sequence[str],
    learners: Sequence[str],
) -> Report:
    """Create the report on learners on one file; `sets` has its name."""
    report = Report(name, title, about, failures=select_failed(records))
    errors = fold_errors(records, learners)
    whole = [who for who, of_folds in zip(learners, errors.T, strict=True) if _is_known(of_folds)]
    ranks = {}
    if len(whole) > 1:
        columns = errors[:, [learners.index(who) for who in whole]]
        ranks = dict(zip(whole, average_ranks(columns).tolist(), strict=True))
    report.grids.append(_sizes(records, sets[0], learners, ranks))
    price = price_of_reading(records, sets[0], whole)
    if price is not None:
        report.grids.append(_tests(records, whole, price.readable))
        report.notes += [price.text, _METHOD]
    return report


def fold_errors(records: Sequence[Record], learners: Sequence[str]) -> FloatArray:
    """Return the errors by fold and learner, NaN where a trial failed."""
    folds = sorted({(record["repeat"], record["fold"]) for record in records})
    errors = np.full((len(folds), len(learners)), np.nan)
    for record in records:
        if record["status"] == "ok" and record["learner"] in learners:
            at = folds.index((record["repeat"], record["fold"]))
            errors[at, learners.index(record["learner"])] = record["error"]
    return errors


def price_of_reading(
    records: Sequence[Record], set_name: str, learners: Sequence[str]
) -> Price | None:
    """Compare the best readable model with the best other one; None without such a pair.

    Models with at most 20 rules are readable or, if there are none, the smallest one.
    """
    rules, errors = (_by_learner(records, figure, set_name) for figure in ("rules", "error"))
    sized = [who for who in learners if who in rules]
    if not sized or len(learners) < 2:
        return None
    few = [who for who in sized if rules[who] <= READABLE_RULES] or [min(sized, key=rules.get)]  # type: ignore[arg-type]
    readable = min(few, key=lambda who: (errors[who], rules[who]))
    others = [who for who in learners if who not in few] or [w for w in learners if w != readable]
    rival = min(others, key=lambda who: errors[who])
    corrected = {who: p for who, _, p in _p_values(records, learners, readable)}
    own = (readable, rules[readable], errors[readable])
    return Price(*own, rival, errors[rival], corrected[rival])


def _by_learner(records: Sequence[Record], figure: str, set_name: str) -> dict[str, float]:
    found = figures(records, figure)
    return {who: value.mean for (who, where), value in found.items() if where == set_name}


def _p_values(
    records: Sequence[Record], learners: Sequence[str], control: str
) -> list[tuple[str, float, float]]:
    """Test one learner against each of the others; return p without and with Holm's correction."""
    errors, others = fold_errors(records, learners), [who for who in learners if who != control]
    first = errors[:, learners.index(control)]
    n_train = float(np.mean([record["n_train"] for record in records if "n_train" in record]))
    n_test = float(np.mean([record["n_test"] for record in records if "n_test" in record]))
    raw = [
        corrected_resampled_t(first - errors[:, learners.index(who)], n_train, n_test).p_value
        for who in others
    ]
    return list(zip(others, raw, holm(raw).tolist(), strict=True))


def _sizes(
    records: Sequence[Record], set_name: str, learners: Sequence[str], ranks: dict[str, float]
) -> Grid:
    found = {name: _by_learner(records, name, set_name) for name in ("error", *_TITLES)}
    found["rank"] = ranks
    rows: list[list[Cell]] = [
        [who, *(found[name].get(who) for name in ("error", *_TITLES))]
        for who in sorted(learners, key=lambda who: found["error"].get(who, np.inf))
    ]
    return Grid(
        "Means over the folds, the best first", ["learner", "error", *_TITLES.values()], rows
    )


def _tests(records: Sequence[Record], learners: Sequence[str], control: str) -> Grid:
    errors = fold_errors(records, learners)
    first = errors[:, learners.index(control)]
    rows: list[list[Cell]] = []
    for who, *p_values in _p_values(records, learners, control):
        other = errors[:, learners.index(who)]
        record = f"{(first < other).sum()}-{(first > other).sum()}-{(first == other).sum()}"
        rows.append([who, float((first - other).mean()), record, *p_values])
    difference = "mean difference (negative: better)"
    head = [f"{control} against", difference, "win-loss-tie", "p", "p (Holm)"]
    return Grid(f"Error: {control} against each, on {len(errors)} folds", head, rows, 4)


def _is_known(errors: FloatArray) -> bool:
    return bool(np.isfinite(errors).all())


def _title(learner: str) -> str:
    name = learner.partition(":")[0]
    return RIVALS_OF_TABLES[name].title if name in RIVALS_OF_TABLES else learner
