"""`rulewright predict`: predictions for the rows of a file, as CSV, in bounded memory."""

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from rulewright.cli.opened_model import OpenedModel, Smiles
from rulewright.cli.options import (
    FileReading,
    errors_of,
    group_options,
    print_notes,
    split_column_names,
)
from rulewright.cli.output import STDOUT, check_output, open_output, show_reading
from rulewright.data import (
    DataError,
    Finding,
    Source,
    Table,
    label_of,
    read_parts,
)
from rulewright.estimators import progress_bar
from rulewright.governance import ReasonCode, has_reasons, read_reason_codes
from rulewright.governance import reasons as state_reasons
from rulewright.model import ClassModel, RuleModel
from rulewright.search import offer_names

_DELIMITERS = {".csv": ",", ".txt": ",", ".tsv": "\t"}

app = typer.Typer(add_completion=False)

ABSTAINS = "abstains"
_PART_CELLS = 2_000_000
_PART_ROWS = 100_000

Values = Sequence[object]


@app.command()
@group_options(reading=FileReading)
def predict(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(
            help="Rows to predict; only the columns that the rules use are required. For "
            "models of related tables: their folder or database.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="CSV file to write (.csv or .tsv, also .gz); - for standard output.",
        ),
    ] = STDOUT,
    keep: Annotated[
        bool, typer.Option("--keep", help="Copy the input columns to the front of the output.")
    ] = False,
    keep_columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL,...",
            help="Copy these input columns to the front of the output, such as keys.",
        ),
    ] = None,
    abstain_below: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, metavar="P", help="Mark rows whose label has a probability below P."
        ),
    ] = None,
    reasons: Annotated[
        int, typer.Option(min=0, metavar="N", help="Write the N strongest reasons for each row.")
    ] = 0,
    favourable: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="Give reasons only for rows without this class: what kept them from it.",
        ),
    ] = None,
    reason_codes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file with the codes and texts of reasons."),
    ] = None,
    chunk_rows: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of rows in memory at a time.  [default: up to 100,000]",
            show_default=False,
        ),
    ] = None,
    smiles: Smiles = None,
    *,
    reading: FileReading,
) -> None:
    """Predict the rows of FILE: labels and the probability of each class."""
    delimiter = _checked_output(output, (model, file))
    options = reading.file_options(streamed=True)
    opened = OpenedModel(model)
    codes = () if reason_codes is None else tuple(read_reason_codes(reason_codes))
    if (favourable or codes) and not reasons:
        raise ValueError("--favourable and --reason-codes need --reasons N.")
    predictions = Predictions(opened.model, abstain_below, reasons, favourable, codes)
    with show_reading(file):
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
            # Print nothing before the first rows are read.
            writer.writerows([*head, *zip(*columns, strict=True)])
            head = []
        writer.writerows(head)
    print_notes([*source.notes, *notes])


def _predict_columns(
    predictions: "Predictions",
    kept: "KeptColumns",
    source: Source,
    n_rows: int,
    notes: list[Finding],
) -> Iterator[list[Sequence[object]]]:
    """Yield the output columns of some rows at a time; report how the file was interpreted."""
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
    """Reject a file without rows that lacks a required column."""
    absent = [name for name in model.columns if name not in source.names]
    if absent and model.schema.named:
        raise DataError(f"{source.path} lacks column {absent[0]!r}, which the model needs.")


def _checked_output(output: Path, inputs: Sequence[Path]) -> str:
    """Return the output delimiter, or raise an error before any work is done."""
    if output == STDOUT:
        return ","
    check_output(output, "-o", inputs)
    suffix = Path(output.name.removesuffix(".gz")).suffix
    if suffix not in _DELIMITERS:
        known = ", ".join(_DELIMITERS)
        raise ValueError(f"-o {output}: the output is CSV. Name it {known} (also .gz).")
    return _DELIMITERS[suffix]


@dataclass(frozen=True)
class Predictions:
    """The predicted columns, named as in the SQL export.

    Rows whose label has a probability below `abstain_below` are marked.
    """

    model: RuleModel
    abstain_below: float | None = None
    n_reasons: int = 0
    favourable: str | None = None
    reason_codes: tuple[ReasonCode, ...] = ()

    def __post_init__(self) -> None:
        if self.abstain_below is not None and not isinstance(self.model, ClassModel):
            raise ValueError(
                "--abstain-below needs probabilities, but the model is for regression. "
                "Leave it out."
            )

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        reasons = [f"reason_{k + 1}" for k in range(self.n_reasons)]
        if not isinstance(self.model, ClassModel):
            return [*self.model.program.numbers, *reasons]
        flags = dict.fromkeys(self.model.program.flags)
        flags |= {} if self.abstain_below is None else {ABSTAINS: None}
        chances = [f"probability_{name}" for name in self.model.class_names]
        return ["label", *chances, *flags, *reasons]

    def columns(self, table: Table) -> list[Values]:
        """Predict some rows."""
        if not isinstance(self.model, ClassModel):
            numbers = self.model.outputs(table).values()
            return [*map(_format_numbers, numbers), *self._reasons(table)]
        scores = self.model.scores(table)
        names, chosen = self.model.class_names, self.model.decide(scores)
        chances = self.model.probabilities(scores)
        flags = self.model.flags(scores)
        if self.abstain_below is not None:
            doubtful = chances[np.arange(len(chosen)), chosen] < self.abstain_below
            flags = flags | {ABSTAINS: doubtful | flags.get(ABSTAINS, False)}
        labels = [names[k] for k in chosen.tolist()]
        said = [*map(_format_numbers, chances.T), *map(_truths, flags.values())]
        return [labels, *said, *self._reasons(table)]

    def _reasons(self, table: Table) -> list[Values]:
        if not self.n_reasons:
            return []
        blank, found = [""] * self.n_reasons, self._reason_texts(table)
        return list(zip(*((row + blank)[: self.n_reasons] for row in found), strict=True))

    def _reason_texts(self, table: Table) -> Iterator[list[str]]:
        """Write the reasons of each row; forms whose rules do not add up explain the label."""
        if has_reasons(self.model) or self.favourable or self.reason_codes:
            options: dict[str, Any] = {"top": self.n_reasons, "favourable": self.favourable}
            stated = state_reasons(self.model, table, codes=self.reason_codes, **options)
            yield from ([*map(str, row)] for row in stated)
            return
        explanation = self.model.explain(table)
        yield from (explanation.reasons(row, self.n_reasons) for row in range(len(table)))


@dataclass(frozen=True)
class KeptColumns:
    """Input columns that are copied to the front of the output."""

    names: tuple[str, ...]

    def columns(self, part: Source) -> Iterator[Values]:
        """Load the columns as text."""
        for name in self.names:
            values = part.load(part.positions[name], "text").values
            yield [_as_text(value) for value in values]


def choose_kept_columns(
    source: Source, everything: bool, chosen: Sequence[str], taken: set[str]
) -> KeptColumns:
    """Check the input columns to copy: all of them, or the named ones.

    None may have the name of a predicted column (`taken`).
    """
    option = "--keep" if everything else "--keep-columns"
    for name in chosen:
        if name not in source.positions:
            offer = offer_names(name, source.names)
            raise DataError(f"--keep-columns {name}: {source.path} has no such column. {offer}")
    names = source.names if everything else tuple(dict.fromkeys(chosen))
    if clash := sorted(taken.intersection(names)):
        raise DataError(
            f"{option}: {source.path} has a column {clash[0]!r} already. Rename it, or leave out "
            f"{option}."
        )
    return KeptColumns(names)


def part_rows(n_cells: int) -> int:
    """Return how many rows of `n_cells` values to read at a time."""
    return max(1, min(_PART_ROWS, _PART_CELLS // max(n_cells, 1)))


def _format_numbers(numbers: NDArray[np.float64]) -> Values:
    """Format each distinct number once: rules give many rows the same number."""
    different, places = np.unique(
        np.ascontiguousarray(numbers).view(np.int64), return_inverse=True
    )  # compare bits, because 0.0 and -0.0 print differently
    texts = [repr(number) for number in different.view(np.float64).tolist()]
    return list(map(texts.__getitem__, places.tolist()))


def _truths(values: NDArray[np.bool_]) -> Values:
    return [label_of(bool(value)) for value in values]


def _as_text(value: object) -> str:
    if type(value) is str:
        return value
    if isinstance(value, list | dict):  # from a JSON file
        return json.dumps(value)
    return "" if value is None or value != value else label_of(value)
