"""`rulewright card`: a card as a page to print, and any additive model as a card."""

from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.opened_model import OpenedModel, Smiles, target_in
from rulewright.cli.options import FileReading, group_options
from rulewright.cli.output import check_output
from rulewright.estimators import to_card
from rulewright.model import RuleCard
from rulewright.report import write_card

app = typer.Typer(add_completion=False)

NEEDS_ROWS = "is no card: name the rows to fit points to, ideally the training rows"


@app.command()
@group_options(reading=FileReading)
def card(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    data: Annotated[
        Path | None,
        typer.Argument(help="Rows to fit points to, for a model that is no card yet."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column with the classes.", show_default="the model's"),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    max_rules: Annotated[int, typer.Option(metavar="N", help="Maximum number of rules.")] = 10,
    max_points: Annotated[
        int | None, typer.Option(metavar="N", help="Largest points of a rule.", show_default="5")
    ] = None,
    double: Annotated[
        float | None, typer.Option(metavar="N", help="Points that double the odds.")
    ] = None,
    score: Annotated[float, typer.Option(metavar="N", help="With --double: a score...")] = 600.0,
    odds: Annotated[float, typer.Option(metavar="N", help="... and its odds.")] = 50.0,
    positive: Annotated[
        str | None, typer.Option(metavar="CLASS", help="Class that points count for.")
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Title of the page.")] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Page to write, .html.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to save the card as a model.")
    ] = None,
    smiles: Smiles = None,
    *,
    reading: FileReading,
) -> None:
    """Write a card as one HTML page to print, and turn an additive model into a card."""
    for path, option in ((output, "-o"), (save, "--save")):
        if path is not None:
            check_output(path, option, [one for one in (model, data) if one is not None])
    opened = OpenedModel(model)
    found = opened.model
    if data is None and not isinstance(found, RuleCard):
        raise ValueError(f"{model} {NEEDS_ROWS}: rulewright card {model} FILE")
    if data is not None:
        source = opened.open(data, reading.file_options(), smiles)
        found = to_card(
            found,
            source,
            target_in(found, source, target, weights, str(data)),
            max_points,
            scale=None if double is None else {"double": double, "score": score, "odds": odds},
            max_rules=max_rules,
            positive_class=positive,
            sample_weight=weights,
        )
    print(found)
    if save is not None:
        found.save(save)
    if output is not None:
        write_card(found, output, title=title)
