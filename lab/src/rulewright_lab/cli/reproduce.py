"""`rulewright reproduce`: the papers' tables and figures, with ours and the printed figures."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli import RunOptions, group_options, perform, print_report, split_names
from rulewright.comparison import commit
from rulewright_lab.experiments.papers import NAME as PAPERS
from rulewright_lab.experiments.papers import overview
from rulewright_lab.experiments.reproductions import REPRODUCTIONS, Extent

app = typer.Typer(add_completion=False)

_LIST = "\n\n".join(f"{name}: {r.title}." for name, r in REPRODUCTIONS.items())
_DATA = (
    "Data come from the folder in the environment variable RULEWRIGHT_DATA, from generators, or "
    "from OpenML."
)


def _print_list(wanted: bool) -> None:
    if wanted:
        width = max(map(len, REPRODUCTIONS))
        for name, one in REPRODUCTIONS.items():
            typer.echo(f"{name:{width}}  {one.title}")
        typer.echo(f"{PAPERS:{width}}  Page of all tables and figures, from the pages of results")
        raise typer.Exit


@app.command(epilog=f"{_DATA}\n\nKnown are:\n\n{_LIST}")
@group_options(options=RunOptions)
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
    listed: Annotated[
        bool,
        typer.Option(
            "--list", help="List what can be reproduced.", is_eager=True, callback=_print_list
        ),
    ] = False,
    *,
    options: RunOptions,
) -> None:
    """Reproduce a paper's table or figure; a run that was stopped continues where it was.

    The name papers writes the page of all tables and figures from the pages in the folder, and all
    ends with it.
    """
    known = [*REPRODUCTIONS, PAPERS]
    chosen = known if names == ["all"] else split_names(names)
    if unknown := [name for name in chosen if name not in known]:
        raise ValueError(f"{unknown[0]}: unknown. Known are: {', '.join(known)}, or all.")
    extent = Extent(quick, tuple(split_names(sets)), options.runs, options.seed)
    if names != ["all"]:
        for name in chosen:
            _reproduce(name, extent, options)
    elif failed := _reproduce_all(extent, options):
        typer.echo(f"without figures: {', '.join(failed)}", err=True)
        raise typer.Exit(1)


def _reproduce_all(extent: Extent, options: RunOptions) -> list[str]:
    """Reproduce everything within the budget; return what has no figures.

    Each table may take an equal share of the time that is left, so that all of them proceed.
    """
    begun, failed = time.monotonic(), []
    names = (*REPRODUCTIONS, PAPERS)
    for place, name in enumerate(names):
        spent = (time.monotonic() - begun) / 60
        share = None
        if options.budget is not None:
            share = max(0.0, options.budget - spent) / max(1, len(names) - 1 - place)
        try:
            _reproduce(name, extent, replace(options, budget=share))
        except (ValueError, typer.Exit) as error:
            failed.append(name)
            typer.echo(f"{name}: {error or 'no trial has figures'}", err=True)
    return failed


def _reproduce(name: str, extent: Extent, options: RunOptions) -> None:
    if name == PAPERS:
        _write_papers(options.out)
        return
    one = REPRODUCTIONS[name]
    perform(
        f"{name}-quick" if extent.quick else name,
        one.title,
        one.trials(extent),
        lambda records: one.report(records, extent),
        options,
        part=bool(extent.sets),
    )


def _write_papers(folder: Path) -> None:
    """Write the page of all tables and figures."""
    report, origin = overview(folder)
    print_report(report)
    paths = report.write(folder, {**origin, "commit of this page": commit()})
    typer.echo("\nwritten: " + ", ".join(map(str, paths)))
