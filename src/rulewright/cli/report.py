"""`rulewright report`: a model, and how good it is on a file, as one HTML page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.limits import MaxUnzipped
from rulewright.cli.output import check_output
from rulewright.cli.target import target_in
from rulewright.cli.validation import Judged
from rulewright.data import MAX_UNZIPPED_BYTES, Table, open_table
from rulewright.model import RuleModel, load_model
from rulewright.report import write_report
from rulewright.report.page import N_ROWS, file_notes

app = typer.Typer(add_completion=False)

ShownRows = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Rows of the data that the page may hold; 0: none.",
        rich_help_panel="Output",
    ),
]


@app.command()
def report(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Rows to judge the model by: best rows it was not learned from."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column of the data with what is predicted; found if only one can be it.",
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    rows: ShownRows = N_ROWS,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")
    ] = Path("report.html"),
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES,
) -> None:
    """Write what MODEL is, how good it is on data, and its rules as one HTML page."""
    check_output(output, "-o", [path for path in (model, data) if path is not None])
    if data is None and (target or weights):
        raise ValueError(f"--{'target' if target else 'weights'} names a column of --data FILE.")
    loaded = load_model(model)
    notes, source = file_notes("model file", model), None
    if data is not None:
        source = open_table(data, max_unzipped)
        named = target
        target = target_in(loaded, source, target, weights, f"--data {data}")
        if named is None:
            typer.echo(f"target: {target} (--target names another column)")
        notes |= {**file_notes("data file", data), "target": target}
    write_report(
        loaded,
        output,
        source,
        y=target,
        sample_weight=weights,
        title=title or f"{target or model.stem}: rules and how good they are",
        origin="" if data is None else data.name,
        n_rows=rows,
        provenance=notes,
    )
    typer.echo(f"report written to {output}")


def write_training_report(
    path: Path,
    model: RuleModel,
    table: Table,
    judged: Judged | None,
    notes: Mapping[str, str],
    n_rows: int,
) -> None:
    """Write the report of a model that was just learned, judged by rows it was not learned from."""
    fresh = judged is not None and judged.rows is not None
    write_report(
        model,
        path,
        judged.rows if judged is not None and judged.rows is not None else table,
        title=f"{notes['target']}: rules and how good they are",
        origin="" if fresh else "the rows that the model was learned from",
        fresh=fresh,
        answers=None if judged is None else judged.answers,
        n_rows=n_rows,
        provenance=notes,
    )
