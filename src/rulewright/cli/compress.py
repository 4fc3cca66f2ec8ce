"""`rulewright compress`: select a few rules of a saved model that predict like all of them."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rulewright.cli.display import make_console, print_curve, print_rules
from rulewright.cli.options import FileReading, group_options, print_notes
from rulewright.cli.output import check_output
from rulewright.cli.training import ColumnRoles, open_training_file
from rulewright.estimators import ROWS_ADVICE, find_learner
from rulewright.estimators import compress as compress_model
from rulewright.model import AdditiveRules, load_model

_LARGEST_SEED = 2**32 - 1

app = typer.Typer(add_completion=False)


@app.command()
@group_options(reading=FileReading)
def compress(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(help=f"Table to select the rules on, {ROWS_ADVICE}.", show_default=False),
    ],
    target: Annotated[
        str, typer.Option(metavar="COL", help="Column with the classes.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the smaller model (JSON).",
            show_default=False,
        ),
    ],
    rules: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Maximum number of rules.", show_default="by cross-validation"
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    cv: Annotated[
        int,
        typer.Option(min=2, metavar="FOLDS", help="Folds of the cross-validation; each is a fit."),
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, max=_LARGEST_SEED, help="Seed of the folds.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Threads.")] = 1,
    rules_shown: Annotated[
        int, typer.Option(min=0, metavar="N", help="Print the N strongest rules.")
    ] = 20,
    *,
    reading: FileReading,
) -> None:
    """Select a few rules of MODEL and refit their points to the classes of FILE."""
    check_output(output, "-o")
    options = reading.file_options()
    source = open_training_file(file, ColumnRoles(target, weights), options)
    print_notes(source.notes)
    loaded, console = load_model(model), make_console()
    if (learner := find_learner(loaded)) is not None:
        name = type(learner).__name__
        console.print(f"cross-validation: {cv} fits of {name}", end="\n\n")
    small = compress_model(
        loaded,
        source,
        target,
        rules,
        sample_weight=weights,
        cv=cv,
        random_state=seed,
        n_jobs=jobs,
        verbose=int(sys.stderr.isatty()),
    )
    small.save(output)  # before printing: a closed pipe must not lose it
    _print(console, small, output, rules_shown)


def _print(console: Console, small: AdditiveRules, output: Path, rules_shown: int) -> None:
    """Print the sizes tried, the strongest rules and the path of the saved model."""
    print_curve(console, small.summary["compression"])
    console.print()
    print_rules(console, small, rules_shown, f"'rulewright show {output} --all' shows all")
    console.print(f"\nmodel saved to {output}")
