"""`rulewright show`: print a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.display import make_console, print_rules, print_summary
from rulewright.model import load_model

_SHOWN_RULES = 20

app = typer.Typer(add_completion=False)


@app.command()
def show(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    show_all: Annotated[
        bool, typer.Option("--all", help=f"Print all rules, not the {_SHOWN_RULES} strongest.")
    ] = False,
) -> None:
    """Print how MODEL was learned and its rules, strongest first."""
    loaded = load_model(model)
    console = make_console()
    print_summary(console, loaded)
    console.print()
    print_rules(console, loaded, None if show_all else _SHOWN_RULES, "--all shows all")
