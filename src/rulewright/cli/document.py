"""`rulewright document`: the hand-over document of a saved model, filled in where it is known."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.opened_model import OpenedModel, Smiles, target_in
from rulewright.cli.options import FileReading, group_options
from rulewright.cli.output import STDOUT, check_output, write_content
from rulewright.governance import document as write_document
from rulewright.governance import read_notes, read_policies
from rulewright.report import file_notes

app = typer.Typer(add_completion=False)


@app.command()
@group_options(reading=FileReading)
def document(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows for the figures, ideally held-out rows."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="Column with the true values.", show_default="the model's"
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Column with groups to compare; may be repeated."),
    ] = None,
    favourable: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Class that figures by group are about."),
    ] = None,
    policies: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with policies to prove.")
    ] = None,
    notes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help='TOML file with what you write: lines purpose = "...".'),
    ] = None,
    title: Annotated[str, typer.Option(metavar="TEXT", help="Title of the document.")] = "",
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="File to write, .md or .html."),
    ] = STDOUT,
    smiles: Smiles = None,
    *,
    reading: FileReading,
) -> None:
    """Write the hand-over document of MODEL: purpose, data, rules, figures, policies, limits."""
    inputs = [path for path in (model, data, policies, notes) if path is not None]
    if output != STDOUT:
        check_output(output, "-o", inputs)
        if output.suffix not in (".md", ".html"):
            raise ValueError(f"-o {output}: the name must end in .md or .html.")
    if data is None and (target or weights or by or favourable):
        raise ValueError("--target, --weights, --by and --favourable need --data FILE.")
    opened, source, files = OpenedModel(model), None, file_notes("model file", model)
    if data is not None:
        source = opened.open(data, reading.file_options(), smiles)
        target = target_in(opened.model, source, target, weights, f"--data {data}")
        files |= {"data": str(data)} if data.is_dir() else file_notes("data file", data)
    options = [("--data", data), ("--target", target), ("--weights", weights)]
    options += [*(("--by", name) for name in by or ()), ("--favourable", favourable)]
    options += [("--policies", policies), ("--notes", notes)]
    command = [str(part) for option in options if option[1] is not None for part in option]
    found = write_document(
        opened.model,
        source,
        target if data is not None else None,
        by=by or (),
        favourable=favourable,
        sample_weight=weights,
        policies=None if policies is None else read_policies(policies),
        notes={} if notes is None else read_notes(notes),
        title=title,
        origin="" if data is None else data.name,
        files=files | {"command": shlex.join(["rulewright", "document", str(model), *command])},
    )
    write_content(output, found.to_html() if output.suffix == ".html" else found.to_markdown())
    if output != STDOUT:
        typer.echo(f"document written to {output}")
        if found.unwritten:
            typer.echo(f"to be written by a person: {', '.join(found.unwritten)}")
