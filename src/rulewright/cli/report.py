"""`rulewright report`: a model, and how well it predicts, as one HTML page."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from rulewright import report as reports
from rulewright.cli.opened_model import OpenedModel, Smiles, smiles_texts, target_in
from rulewright.cli.options import Group, MaxUnzipped, Positive, Precisions
from rulewright.cli.output import check_output
from rulewright.data import MAX_UNZIPPED_BYTES, FileOptions, position
from rulewright.governance import read_policies
from rulewright.report import N_ROWS

app = typer.Typer(add_completion=False)

ShownRows = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Maximum number of data rows in the page.",
        rich_help_panel="Output",
    ),
]


@app.command()
def report(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows for the evaluation, ideally held-out rows."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column with the true values; found if only one column fits.",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    group: Group = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Column whose groups get figures of their own, such as a region; may be repeated.",
        ),
    ] = None,
    policies: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with policies to prove.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    positive: Positive = None,
    precision: Precisions = None,
    rows: ShownRows = N_ROWS,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")
    ] = Path("report.html"),
    smiles: Smiles = None,
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES,
) -> None:
    """Describe MODEL, its rules and how well it predicts, as one HTML page."""
    check_output(output, "-o", [path for path in (model, data) if path is not None])
    named_columns = {"target": target, "weights": weights, "group": group, "by": by}
    if data is None and any(named_columns.values()):
        option = next(name for name, value in named_columns.items() if value)
        raise ValueError(f"--{option} names a column of --data FILE.")
    opened = OpenedModel(model)
    loaded = opened.model
    notes, source, columns = reports.file_notes("model file", model), None, None
    if data is not None:
        source = opened.open(data, FileOptions(max_unzipped), smiles)
        named = target
        columns = target_in(loaded, source, target, weights, f"--data {data}", group)
        target = columns if isinstance(columns, str) else ", ".join(columns)
        if named is None:
            typer.echo(f"target: {target} (--target names another column)")
        notes |= {**_data_notes(data), "target": target}
    given: list[Any] = [source, columns, weights, group]
    groups: Any = by or ()
    if opened.graphs is not None and source is not None:  # pictures are drawn from the texts
        roles = (name and source.load(source.positions[name], "any").values for name in given[1:])
        given = [smiles_texts(source, opened.smiles(smiles)), *roles]
        groups = {n: source.load(position(source, n, "by"), "any").values for n in by or ()}
    options: list[tuple[str, Any]] = [("--data", data), ("--target", target)]
    options += [("--weights", weights), ("--group", group), ("--positive", positive)]
    options += [("--by", name) for name in by or ()]
    options += [("--policies", policies)]
    options += [("--precision", share) for share in precision or ()]
    reports.write_report(
        loaded if opened.graphs is None else opened.graphs,
        output,
        given[0],
        y=given[1],
        sample_weight=given[2],
        groups=given[3],
        title=title or f"{target or model.stem}: rules and how well they predict",
        origin="" if data is None else data.name,
        n_rows=rows,
        provenance={**notes, "command": _command(model, options)},
        by=groups,
        policies=() if policies is None else read_policies(policies),
        positive=positive,
        precisions=precision or (),
    )
    typer.echo(f"report written to {output}")


def _command(model: Path, options: list[tuple[str, Any]]) -> str:
    """Return the command that makes this report again."""
    given = [str(part) for option in options if option[1] is not None for part in option]
    return shlex.join(["rulewright", "report", str(model), *given])


def _data_notes(data: Path) -> dict[str, str]:
    return {"data": str(data)} if data.is_dir() else reports.file_notes("data file", data)
