"""`rulewright prove`: prove that a saved model obeys policies, or find rows that break them."""

import json
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.opened_model import OpenedModel
from rulewright.cli.output import check_output, write_content
from rulewright.governance import TIME_LIMIT, read_policies
from rulewright.governance import prove as prove_policies

VIOLATED, UNDECIDED = 3, 4

app = typer.Typer(add_completion=False)


@app.command(
    epilog=f"Exit codes: 0 all policies are proved; {VIOLATED} a policy is violated; {UNDECIDED} "
    "none is violated, but time ran out; 2 wrong usage or input."
)
def prove(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    policies: Annotated[
        Path,
        typer.Argument(help="TOML file with a table [[policy]] for each.", show_default=False),
    ],
    time_limit: Annotated[
        float, typer.Option(min=0.001, metavar="SECONDS", help="Time limit per policy, in seconds.")
    ] = TIME_LIMIT,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write states, certificates and counterexamples, as JSON."
        ),
    ] = None,
) -> None:
    """Prove the policies of a file for every row that can occur, or find rows that break them."""
    if save is not None:
        check_output(save, "--save", (model, policies))
    listed = read_policies(policies)
    found = prove_policies(OpenedModel(model).model, listed, time_limit=time_limit)
    typer.echo(str(found))
    if save is not None:
        write_content(save, json.dumps(found.to_json(), indent=1) + "\n")
    if not found.proved:
        raise typer.Exit(VIOLATED if found.violated else UNDECIDED)
