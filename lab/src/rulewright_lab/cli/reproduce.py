"""`rulewright reproduce`: the papers' tables and figures, with ours and the printed figures."""

from typing import Annotated

import typer

from rulewright.cli import RunOptions, group_options, perform, split_names
from rulewright_lab.experiments.reproductions import REPRODUCTIONS, Extent, Reproduction

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
    """Reproduce a paper's table or figure; a run that was stopped continues where it was."""
    chosen = list(REPRODUCTIONS) if names == ["all"] else split_names(names)
    if unknown := [name for name in chosen if name not in REPRODUCTIONS]:
        known = ", ".join(REPRODUCTIONS)
        raise ValueError(f"{unknown[0]}: unknown. Known are: {known}, or all.")
    extent = Extent(quick, tuple(split_names(sets)), options.runs, options.seed)
    for name in chosen:
        _reproduce(REPRODUCTIONS[name], extent, options)


def _reproduce(reproduction: Reproduction, extent: Extent, options: RunOptions) -> None:
    perform(
        f"{reproduction.name}-quick" if extent.quick else reproduction.name,
        reproduction.title,
        reproduction.trials(extent),
        lambda records: reproduction.report(records, extent),
        options,
        part=bool(extent.sets),
    )
