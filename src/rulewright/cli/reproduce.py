"""`rulewright reproduce`: the papers' tables and figures, printed beside ours."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.experiment import (
    N_CORES,
    Fresh,
    Jobs,
    Options,
    Out,
    Retry,
    Runs,
    Seed,
    TimeLimit,
    perform,
    split_names,
)
from rulewright.experiments.report import Report
from rulewright.experiments.reproductions import REPRODUCTIONS, Extent, Reproduction
from rulewright.experiments.trial import Record

app = typer.Typer(add_completion=False)

_LIST = "\n\n".join(f"{name}: {r.title}." for name, r in REPRODUCTIONS.items())


_DATA = (
    "Data come from the folder in the environment variable RULEWRIGHT_DATA, from generators, or "
    "from OpenML."
)


@app.command(epilog=f"{_DATA}\n\nKnown are:\n\n{_LIST}")
def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME", help="What to reproduce, or all.", show_default=False),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="A small part of it, within ten minutes on two cores.")
    ] = False,
    sets: Annotated[
        list[str] | None,
        typer.Option(metavar="SET,...", help="Some of the data sets, by their names in the paper."),
    ] = None,
    runs: Runs = 1,
    seed: Seed = 0,
    jobs: Jobs = N_CORES,
    out: Out = Path("results"),
    time_limit: TimeLimit = None,
    retry: Retry = False,
    fresh: Fresh = False,
) -> None:
    """Make a paper's table or figure again; a run that was stopped goes on where it was."""
    chosen = list(REPRODUCTIONS) if names == ["all"] else split_names(names)
    if unknown := [name for name in chosen if name not in REPRODUCTIONS]:
        known = ", ".join(REPRODUCTIONS)
        raise ValueError(f"{unknown[0]}: unknown. Known are: {known}, or all.")
    extent = Extent(quick, tuple(split_names(sets)), runs, seed)
    options = Options(out, jobs, time_limit, retry, fresh)
    for name in chosen:
        reproduction = REPRODUCTIONS[name]
        perform(
            f"{name}-quick" if quick else name,
            reproduction.title,
            reproduction.trials(extent),
            partial(_report, reproduction, extent),
            options,
            part=bool(extent.sets),
        )


def _report(reproduction: Reproduction, extent: Extent, records: Sequence[Record]) -> Report:
    return reproduction.report(records, extent)
