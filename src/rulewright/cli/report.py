"""`rulewright report`: a model, and how good it is on a file, as one HTML page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rulewright.cli.limits import MaxUnzipped
from rulewright.cli.output import check_output
from rulewright.data import (
    MAX_UNZIPPED_BYTES,
    DataError,
    Source,
    Table,
    label_of,
    open_table,
    read_table,
)
from rulewright.model import ClassModel, RuleModel, load_model
from rulewright.report import write_report
from rulewright.report.answers import Answers
from rulewright.report.page import N_ROWS, file_notes

app = typer.Typer(add_completion=False)

ShownRows = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Rows of the data that the page holds, as examples and to start from; 0: none.",
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
        if target is None:
            target = found_target(loaded, source, {weights} if weights else set())
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
    answers: Answers | None,
    notes: Mapping[str, str],
    n_rows: int,
) -> None:
    """Write the report of a model that was just learned, judged by answers on rows left out."""
    write_report(
        model,
        path,
        table,
        title=f"{notes['target']}: rules and how good they are",
        origin="the rows that the model was learned from",
        fresh=False,
        answers=answers,
        n_rows=n_rows,
        provenance=notes,
    )


def found_target(model: RuleModel, source: Source, other_roles: set[str]) -> str:
    """Return the only column of a file that can be what a model predicts, or raise an error."""
    known = {*model.schema.names, *other_roles} if model.schema.named else other_roles
    able = [name for name in source.names if name not in known and _fits(model, source, name)]
    if len(able) == 1:
        return able[0]
    what = "no column" if not able else f"more than one column ({', '.join(able[:5])})"
    raise DataError(
        f"--data {source.path}: {what} can be what the model predicts. Name it with --target COL."
    )


def _fits(model: RuleModel, source: Source, name: str) -> bool:
    """Tell whether a column holds classes of a model, or numbers if the model predicts numbers."""
    task: Any = "classification" if isinstance(model, ClassModel) else "regression"
    others = [other for other in source.names if other != name][1:]
    try:
        table = read_table(source, target=name, drop=others, task=task)
    except DataError:
        return False
    if not isinstance(model, ClassModel):
        return True
    return any(label_of(x) in model.class_names for x in table.known_target.classes.tolist())
