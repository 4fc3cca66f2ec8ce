"""`rulewright predict`: label and class probabilities of the rows of a file, as CSV."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.limits import (
    Encoding,
    MaxUnzipped,
    NoHeader,
    SkipBadRows,
    file_options,
    print_decisions,
)
from rulewright.cli.output import STDOUT, check_output, open_output
from rulewright.data import MAX_UNZIPPED_BYTES, DataError, Source, label_of, open_table, read_like
from rulewright.model import ClassModel, RuleModel, load_model

_DELIMITERS = {".csv": ",", ".txt": ",", ".tsv": "\t"}

NamedColumn = tuple[str, Sequence[object]]

app = typer.Typer(add_completion=False)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(
            help="Rows to predict; only the columns that the rules use are needed.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="CSV file to write (.csv or .tsv, also .gz); standard output if it is -.",
        ),
    ] = STDOUT,
    keep: Annotated[
        bool, typer.Option("--keep", help="Repeat the columns of the input in front.")
    ] = False,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    skip_bad_rows: SkipBadRows = False,
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES,
) -> None:
    """Predict the rows of FILE: the label and the probability of each class."""
    delimiter = _checked_output(output, (model, file))
    options = file_options(max_unzipped, encoding, no_header, skip_bad_rows)
    loaded, source = load_model(model), open_table(file, options=options)
    columns = predicted_columns(loaded, source)
    if keep:
        columns = [*_input_columns(source, {name for name, _ in columns}), *columns]
    with open_output(output) as stream:
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow([name for name, _ in columns])
        writer.writerows(zip(*(values for _, values in columns), strict=True))


def predicted_columns(model: RuleModel, source: Source) -> list[NamedColumn]:
    """Return what is predicted for the rows, named as in the SQL export."""
    if source.n_rows == 0:
        return _of_no_rows(model, source)
    try:
        table = read_like(source, model.schema, model.columns)
    except DataError as error:
        message = str(error)
        named = message.startswith(str(source.path))
        raise DataError(message if named else f"{source.path}: {message}") from error
    print_decisions(table)
    scores = model.scores(table)
    if not isinstance(model, ClassModel):
        return [("prediction", scores.tolist())]
    names = model.class_names
    labels = [names[k] for k in model.decide(scores)]
    probabilities = model.probabilities(scores).T.tolist()
    titles = [f"probability_{name}" for name in names]
    flags = [
        (name, [label_of(bool(v)) for v in said]) for name, said in model.flags(scores).items()
    ]
    return [("label", labels), *zip(titles, probabilities, strict=True), *flags]


def _of_no_rows(model: RuleModel, source: Source) -> list[NamedColumn]:
    """Return the names of what would be predicted, if the columns are there."""
    absent = [name for name in model.columns if name not in source.names]
    if absent and model.schema.named:
        raise DataError(f"{source.path} lacks column {absent[0]!r}, which the model needs.")
    if not isinstance(model, ClassModel):
        return [("prediction", [])]
    titles = [f"probability_{name}" for name in model.class_names]
    return [(name, []) for name in ("label", *titles, *model.program.flags)]


def _checked_output(output: Path, inputs: Sequence[Path]) -> str:
    """Return the delimiter of the output, or raise an error before any work is done."""
    if output == STDOUT:
        return ","
    check_output(output, "-o", inputs)
    suffix = Path(output.name.removesuffix(".gz")).suffix
    if suffix not in _DELIMITERS:
        known = ", ".join(_DELIMITERS)
        raise ValueError(f"-o {output}: the output is CSV. Name it {known} (also .gz).")
    return _DELIMITERS[suffix]


def _input_columns(source: Source, taken: set[str]) -> list[NamedColumn]:
    if clash := sorted(taken.intersection(source.names)):
        raise DataError(
            f"--keep: {source.path} has a column {clash[0]!r} already. Rename it, or leave out "
            "--keep."
        )
    loaded = [source.load(at, "text").values for at in range(len(source.names))]
    return [
        (name, [_as_text(value) for value in values])
        for name, values in zip(source.names, loaded, strict=True)
    ]


def _as_text(value: object) -> str:
    if isinstance(value, list | dict):  # of a JSON file
        return json.dumps(value)
    return "" if value is None or value != value else label_of(value)
