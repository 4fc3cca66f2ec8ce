"""`rulewright predict`: what a model says of the rows of a file, as CSV, in bounded memory."""

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from rulewright.cli.limits import (
    Encoding,
    MaxUnzipped,
    NoHeader,
    SkipBadRows,
    errors_of,
    file_options,
    print_notes,
    split_column_names,
)
from rulewright.cli.opened_model import OpenedModel, Smiles
from rulewright.cli.output import STDOUT, check_output, clear_when_ended, open_output, reading
from rulewright.cli.predictions import KeptColumns, Predictions, choose_kept_columns, part_rows
from rulewright.data import MAX_UNZIPPED_BYTES, DataError, Finding, Source, read_parts
from rulewright.estimators import progress_bar
from rulewright.model import RuleModel

_DELIMITERS = {".csv": ",", ".txt": ",", ".tsv": "\t"}

app = typer.Typer(add_completion=False)

Model = Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)]
File = Annotated[
    Path,
    typer.Argument(
        help="Rows to predict; only the columns that the rules use are needed. Of a model of "
        "related tables, their folder or database.",
        show_default=False,
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="CSV file to write (.csv or .tsv, also .gz); standard output if it is -.",
    ),
]
Keep = Annotated[bool, typer.Option("--keep", help="Repeat the columns of the input in front.")]
KeepColumns = Annotated[
    list[str] | None,
    typer.Option(metavar="COL,...", help="Repeat these columns in front, such as keys."),
]
AbstainBelow = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, metavar="P", help="Mark rows whose label has a probability below this."
    ),
]
Reasons = Annotated[
    int, typer.Option(min=0, metavar="N", help="Write the N strongest reasons of each row.")
]
ChunkRows = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Rows in memory at a time.  [default: up to 100,000]",
        show_default=False,
    ),
]


@app.command()
def predict(
    model: Model,
    file: File,
    output: Output = STDOUT,
    keep: Keep = False,
    keep_columns: KeepColumns = None,
    abstain_below: AbstainBelow = None,
    reasons: Reasons = 0,
    chunk_rows: ChunkRows = None,
    smiles: Smiles = None,
    encoding: Encoding = None,
    no_header: NoHeader = False,
    skip_bad_rows: SkipBadRows = False,
    max_unzipped: MaxUnzipped = MAX_UNZIPPED_BYTES,
) -> None:
    """Predict the rows of FILE: the label and the probability of each class."""
    delimiter = _checked_output(output, (model, file))
    options = file_options(max_unzipped, encoding, no_header, skip_bad_rows, streamed=True)
    opened = OpenedModel(model)
    predictions = Predictions(opened.model, abstain_below, reasons)
    with clear_when_ended():
        with reading(file):
            source = opened.open(file, options, smiles)
        repeated = split_column_names(keep_columns) or ([] if keep else opened.key)
        kept = choose_kept_columns(source, keep, repeated, set(predictions.names))
        cells = len(predictions.model.columns) + len(kept.names) + len(predictions.names)
        n_rows = chunk_rows or part_rows(cells + (len(predictions.model) if reasons else 0))
        with open_output(output) as stream:
            writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
            head: list[Sequence[str]] = [[*kept.names, *predictions.names]]
            notes: list[Finding] = []
            for columns in _predict_columns(predictions, kept, source, n_rows, notes):
                # nothing is printed before the first rows are read
                writer.writerows([*head, *zip(*columns, strict=True)])
                head = []
            writer.writerows(head)
    print_notes([*source.notes, *notes])


def _predict_columns(
    predictions: Predictions, kept: KeptColumns, source: Source, n_rows: int, notes: list[Finding]
) -> Iterator[list[Sequence[object]]]:
    """Yield the columns to write of some rows at a time; what is decided on reading is noted."""
    model = predictions.model
    if source.n_rows == 0:
        _check_columns(model, source)
    n_parts = -(-source.n_rows // n_rows)
    with progress_bar("rows", n_parts, sys.stderr.isatty()) as advance, errors_of(source):
        for table, part in read_parts(source, model.schema, model.columns, n_rows=n_rows):
            yield [*kept.columns(part), *predictions.columns(table)]
            notes += (note for column in table.columns for note in column.decisions)
            advance()


def _check_columns(model: RuleModel, source: Source) -> None:
    """Refuse a file without rows that lacks a column."""
    absent = [name for name in model.columns if name not in source.names]
    if absent and model.schema.named:
        raise DataError(f"{source.path} lacks column {absent[0]!r}, which the model needs.")


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
