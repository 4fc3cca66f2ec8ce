"""`rulewright show`: print a saved model."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.display import make_console, print_rules, print_summary
from rulewright.cli.opened_model import OpenedModel
from rulewright.cli.output import drop_infinities, model_content
from rulewright.model import describe_edits

_SHOWN_RULES = 20

app = typer.Typer(add_completion=False)


@app.command()
def show(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    show_all: Annotated[
        bool,
        typer.Option("--all", help=f"Print all rules, not only the {_SHOWN_RULES} strongest."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print how MODEL was learned, its evaluation, and its rules, strongest first."""
    loaded = OpenedModel(model).model
    if as_json:
        content = {"model": str(model), "summary": loaded.summary, **model_content(loaded)}
        typer.echo(json.dumps(drop_infinities(content), indent=2, allow_nan=False))
        return
    console = make_console()
    print_summary(console, loaded)
    if edits := describe_edits(loaded):
        console.print("\nedits:")
        for line in edits:
            console.print(f"  {line}", markup=False)
    console.print()
    print_rules(console, loaded, None if show_all else _SHOWN_RULES, "--all shows all")
