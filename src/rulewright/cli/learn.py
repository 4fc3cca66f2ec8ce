"""`rulewright learn`: read a file, learn, evaluate, print and save a model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rulewright.cli.classes import ClassOptions
from rulewright.cli.constraints import ConstraintOptions
from rulewright.cli.display import make_console, print_figures, print_rules, print_settings
from rulewright.cli.evaluate import print_measures
from rulewright.cli.events import EventOptions
from rulewright.cli.learners import LearnerOptions
from rulewright.cli.linked import LinkedTables, Linking
from rulewright.cli.one_table import FilesInParts, InParts, OneTable
from rulewright.cli.options import TableOptions, file_option, group_options
from rulewright.cli.output import drop_infinities, model_content
from rulewright.cli.request import OutputOptions, Request
from rulewright.cli.validation import Judging, Learned
from rulewright.report import evaluation

app = typer.Typer(add_completion=False)


@app.command()
@group_options(
    learner=LearnerOptions,
    classes=ClassOptions,
    events=EventOptions,
    judging=Judging,
    constraints=ConstraintOptions,
    table=TableOptions,
    linking=Linking,
    output=OutputOptions,
)
def learn(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV, Parquet, JSON lines, ARFF or Excel; - for standard input.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="Column to predict.", show_default=False)
    ] = None,
    *,
    learner: LearnerOptions,
    classes: ClassOptions,
    events: EventOptions,
    judging: Judging,
    constraints: ConstraintOptions,
    table: TableOptions,
    weights: Annotated[
        str | None,
        file_option(metavar="COL", help="Column with row weights."),
    ] = None,
    linking: Linking,
    in_parts: InParts = False,
    output: OutputOptions,
) -> None:
    """Learn rules from FILE; evaluate, print and save them."""
    options = (learner, classes, events, judging, constraints, table, linking, output)
    request = Request(file, events.target(target), weights, *options)
    request.check()
    way: OneTable | LinkedTables
    if linking.is_asked(file):
        way, output = LinkedTables(request), replace(output, full=False)
    else:
        way = FilesInParts(request) if in_parts else OneTable(request)
    console = Console(quiet=True) if output.as_json else make_console()
    learned = way.learn(console)
    if output.as_json:
        _print_json(learned, output)
    else:
        _print_learned(console, learned, output)


def _print_learned(console: Console, learned: Learned, output: OutputOptions) -> None:
    """Print how well the model predicts, and the rules."""
    if learned.judged is not None:
        console.print()
        print_measures(console, learned.judged.answers)
    console.print()
    if output.full:
        print_settings(console, learned.model)
    print_figures(console, learned.model, of_training=False)
    saved = output.model
    advice = f"'rulewright show {saved} --all' shows all" if saved else "--rules-shown shows more"
    print_rules(console, learned.model, None if output.full else output.rules_shown, advice)
    for what, path in output.files.items():
        console.print(f"\n{'model saved' if what == 'model' else 'report written'} to {path}")


def _print_json(learned: Learned, output: OutputOptions) -> None:
    content = {
        **learned.about,
        "parameters": learned.model.summary.get("settings", {}),
        "validation": None if learned.judged is None else evaluation(learned.judged.answers),
        "model": model_content(learned.model),
        "written": {what: str(path) for what, path in output.files.items()},
    }
    typer.echo(json.dumps(drop_infinities(content), indent=2, allow_nan=False))
