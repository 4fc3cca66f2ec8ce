"""Exchange rates (Domingos, 1997, section 4): all moving-average rules, averaged, and the best."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.comparison import Grid, Report, select_done, select_failed
from rulewright_lab.experiments.calculation import Calculation
from rulewright_lab.experiments.datasets import FOLDER_VARIABLE, DatasetUnavailableError
from rulewright_lab.experiments.fx import T_MAX, study
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.tables import at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Cell, Expectation, Record

CURRENCIES = ("dem", "gbp", "cad", "jpy", "chf")
FILES = {"1980": "fx_ecdat_garch_1980_1987.csv", "1973": "fx_h10_1973_1987.csv"}
"""Daily rates in dollars, by the first year."""
SPLITS: dict[str, dict[str, Any]] = {
    "1980": {"n_train": 1200},
    "1973": {"last_train": "1982-12-31", "last": "1987-05-31"},
}
AS_PAPER = ("dem-1973", "gbp-1973", "chf-1973")
"""Where the paper's average does what its best rule does."""
FIGURES = ("best accuracy", "w_max", "perplexity", "return best", "return BMA", "return hold")
NAMES = ("best s", "best t", "likeliest s", "likeliest t")
LEARNER = "all rules up to 100 days"
TEXT = (
    "Domingos: *Bayesian model averaging in rule induction*, 1997, section 4. Every rule (s, t) up "
    "to t = 100 buys a currency where its mean over s days is above that over t days. The paper "
    "used prices of the Chicago Mercantile Exchange, 1973 to 1987, which are not public. *-1973* "
    "are noon rates of the Federal Reserve of the same years, trained until 1982 and traded until "
    "May 1987; *-1980* are rates from 1980 to 1987, of which 1,200 days are for training, with the "
    "expected figures beside ours. The paper: for mark, pound and franc the average did exactly "
    "what the best rule did, for the Canadian dollar nearly so, and for the yen it held dollars "
    "throughout while the best rule returned 84 %."
)
NOTE = (
    "With ten years of training a peak forms, and the average follows it as in the paper. With "
    "five years it does not: rules differ too little in likelihood, and the average holds dollars "
    "because rates fell on most training days whatever any rule said, like the paper's yen."
)


def read_rates(name: str) -> tuple[list[str], list[float]]:
    """Return the days and rates of a currency, such as "dem-1980", from the folder of data sets."""
    currency, year = name.split("-")
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        raise DatasetUnavailableError(
            f"set the environment variable {FOLDER_VARIABLE} to a folder with fx/{FILES[year]}"
        )
    with (Path(folder) / "fx" / FILES[year]).open(encoding="utf-8", newline="") as file:
        rows = [(row["date"], row[f"usd_per_{currency}"]) for row in csv.DictReader(file)]
    known = [(day, float(rate)) for day, rate in rows if rate]
    return [day for day, _ in known], [rate for _, rate in known]


def trade(
    currency: str,
    t_max: int,
    n_train: int | None = None,
    last_train: str | None = None,
    last: str | None = None,
) -> Record:
    """Return the figures of one currency; training ends after days or at a date."""
    days, rates = read_rates(currency)
    if last is not None:
        rates = rates[: int(np.searchsorted(days, last, side="right"))]
    if last_train is not None:
        n_train = int(np.searchsorted(days, last_train, side="right")) - t_max + 1
    assert n_train is not None
    found = study(rates, n_train, t_max)
    return {
        "best s": found.best[0],
        "best t": found.best[1],
        "best accuracy": found.best_accuracy,
        "likeliest s": found.likeliest[0],
        "likeliest t": found.likeliest[1],
        "w_max": found.posterior.w_max,
        "perplexity": found.posterior.perplexity,
        "agreement": found.posterior.agreement,
        "return best": found.return_best,
        "return BMA": found.return_bma,
        "return hold": found.return_hold,
    }


def trials(extent: Extent) -> list[Calculation]:
    """List all currencies of both files; nothing is random, so that one run is all."""
    names = [f"{currency}-{year}" for year in FILES for currency in CURRENCIES]
    chosen = extent.choose_sets(names)
    if extent.quick:
        chosen = [name for name in chosen if name.endswith("1980")]
    return [
        Calculation(
            LEARNER, name, trade, {"currency": name, "t_max": T_MAX, **SPLITS[name.split("-")[1]]}
        )
        for name in chosen
    ]


def report(records: Sequence[Record], extent: Extent) -> Report:
    """Show rules and returns, and compare with the expected figures."""
    found = {record["set"]: record for record in select_done(records)}
    rows: list[list[Cell]] = [
        [
            name,
            f"({one['best s']}, {one['best t']})",
            f"({one['likeliest s']}, {one['likeliest t']})",
            *(one[figure] for figure in (*FIGURES, "agreement")),
        ]
        for name, one in found.items()
    ]
    head = ["currency", "most accurate", "likeliest", *FIGURES, "agreement with the likeliest"]
    return Report(
        FX.name,
        FX.title,
        [TEXT, *FX.about(extent)],
        [Grid("Rules up to 100 days", head, rows, 4), _differences(found)],
        _targets(found, extent),
        notes=[NOTE],
        failures=select_failed(records),
    )


def _differences(found: dict[str, Record]) -> Grid:
    """Show how far our figures are from the expected ones, which are rounded to four digits."""
    table = printed_table("domingos-fx")
    columns = (*NAMES, *FIGURES)
    rows: list[list[Cell]] = [
        [name, *(found[name][c] - float(table.column(c)[i]) for c in columns)]
        for i, name in enumerate(table.sets)
        if name in found
    ]
    return Grid("Ours minus the expected figures", ["currency", *columns], rows, 4)


def _targets(found: dict[str, Record], extent: Extent) -> list[Expectation]:
    rows = _differences(found).rows
    worst = max((abs(float(cell)) for row in rows for cell in row[1:]), default=np.nan)  # type: ignore[arg-type]
    agreements = [found[name]["agreement"] for name in AS_PAPER if name in found]
    return [
        at_most("expected figures of 1980: largest difference at most 0.005", worst, 0.005, extent),
        at_least(
            "mark, pound and franc of 1973: the average agrees with the likeliest rule on 0.95",
            min(agreements, default=np.nan),
            0.95,
            extent,
            3,
        ),
    ]


FX = Reproduction(
    "bma-fx",
    "Bayesian averaging of moving-average rules for five currencies",
    "only the shorter rates",
    trials,
    report,
)
