"""`rulewright explain`: reasons for predictions, and the changes that would flip them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer

from rulewright.cli.opened_model import OpenedModel, Smiles
from rulewright.cli.options import (
    FileReading,
    errors_of,
    group_options,
    print_decisions,
    print_notes,
)
from rulewright.data import Source, Table, read_like, read_parts
from rulewright.explain import counterfactual as find_changes
from rulewright.model import SHOWN_REASONS, ClassModel, Explanation, RuleModel

_SHOWN_ROWS = 5
_PART_ROWS = 10_000

app = typer.Typer(add_completion=False)
Texts: TypeAlias = list[str] | None


@dataclass(frozen=True)
class ChangeRequest:
    """Options of a counterfactual: which columns may change, and the goal."""

    to: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS|LOW..HIGH",
            help="Prediction to reach (with --counterfactual): a class, or a numeric range "
            "such as 10..20 or 10.. ",
        ),
    ] = None
    immutable: Annotated[
        Texts, typer.Option(metavar="COL", help="Column that must keep its value; may be repeated.")
    ] = None
    only: Annotated[
        Texts,
        typer.Option(metavar="COL", help="Change only this column; may be repeated."),
    ] = None
    monotone: Annotated[
        Texts,
        typer.Option(
            metavar="COL=DIRECTION",
            help="Let values only increase or only decrease; may be repeated.",
        ),
    ] = None

    def check_alone(self) -> None:
        """Reject options that need --counterfactual."""
        for item in fields(self):
            if getattr(self, item.name):
                raise ValueError(f"--{item.name} needs --counterfactual.")

    def text(self, model: RuleModel, table: Table, rows: Sequence[int]) -> str:
        """Return the changes that flip the predictions of some rows of a table."""
        options: dict[str, Any] = {
            "X": table,
            "immutable": self.immutable or (),
            "only": self.only or None,
            "monotone": self._directions(),
            **self._goal(model),
        }
        found = [
            find_changes(model, table.take(np.array([row], dtype=np.intp)), **options).text(row)
            for row in rows
        ]
        return "\n".join(found)

    def _directions(self) -> dict[str, str]:
        directions = {}
        for text in self.monotone or ():
            name, equals, direction = text.rpartition("=")
            if not (name and equals and direction):
                raise ValueError(
                    f"--monotone {text}: write COL=DIRECTION, such as income=increasing."
                )
            directions[name.strip()] = direction.strip()
        return directions

    def _goal(self, model: RuleModel) -> dict[str, Any]:
        if isinstance(model, ClassModel):
            return {"target_class": self.to}
        if self.to is None:
            raise ValueError(
                "--counterfactual needs --to LOW..HIGH: a range to reach, such as 10..20."
            )
        low, dots, high = self.to.partition("..")
        try:
            ends = tuple(float(end) if end.strip() else None for end in (low, high))
        except ValueError:
            ends = (None, None)
        if not dots or ends == (None, None):
            raise ValueError(f"--to {self.to}: write a range such as 10..20, 10.. or ..20.")
        return {"target_range": ends}


@app.command()
@group_options(asked=ChangeRequest, reading=FileReading)
def explain(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    file: Annotated[
        Path,
        typer.Argument(
            help="Rows to explain; only the columns that the rules use are required.",
            show_default=False,
        ),
    ],
    row: Annotated[
        list[int] | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Number of a row to explain, counted from 0; may be repeated.  "
            f"[default: the first {_SHOWN_ROWS}]",
            show_default=False,
        ),
    ] = None,
    show_all: Annotated[
        bool,
        typer.Option("--all", help=f"Print all reasons, not only the {SHOWN_REASONS} strongest."),
    ] = False,
    counterfactual: Annotated[
        bool,
        typer.Option(
            "--counterfactual", help="Print the smallest changes that flip the prediction."
        ),
    ] = False,
    *,
    asked: ChangeRequest,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    smiles: Smiles = None,
    reading: FileReading,
) -> None:
    """Explain the predictions of MODEL for rows of FILE: the strongest reasons first."""
    if not counterfactual:
        asked.check_alone()
    opened = OpenedModel(model)
    loaded = opened.model
    options = reading.file_options(streamed=True)
    source = opened.open(file, options, smiles)
    rows = list(range(min(source.n_rows, _SHOWN_ROWS))) if row is None else row
    if beyond := [wanted for wanted in rows if wanted >= source.n_rows]:
        raise ValueError(f"--row {beyond[0]}: {file} has {source.n_rows:,} rows, counted from 0.")
    if counterfactual:
        if as_json:
            raise ValueError("--json does not work with --counterfactual. Leave one of them out.")
        table = read_like(source, loaded.schema, loaded.columns)
        print_decisions(table)
        typer.echo(asked.text(loaded, table, rows))
        return
    found = explain_rows(loaded, source, rows)
    if as_json:
        typer.echo(json.dumps(plain_data(rows, found), indent=2))
        return
    reasons = None if show_all else SHOWN_REASONS
    texts = [found[row].text(reasons, None, row_names=[row]) for row in rows]
    typer.echo("\n".join(texts) or "no rows")


def explain_rows(model: RuleModel, source: Source, rows: Sequence[int]) -> dict[int, Explanation]:
    """Explain rows of a file that is read in parts."""
    found: dict[int, Explanation] = {}
    notes, before = [*source.notes], 0
    with errors_of(source):
        for table, part in read_parts(source, model.schema, model.columns, n_rows=_PART_ROWS):
            here = [row for row in rows if before <= row < before + part.n_rows]
            found |= {row: model.explain(table.take(np.array([row - before]))) for row in here}
            notes += (note for column in table.columns for note in column.decisions)
            before += part.n_rows
            if before > max(rows):
                break
    print_notes(notes)
    return found


def plain_data(rows: Sequence[int], found: dict[int, Explanation]) -> dict[str, Any]:
    """Return the explanations as plain data; shared parts appear once."""
    shared, listed = {}, []
    for row in rows:
        content = found[row].to_dict()
        listed.append({**content.pop("rows")[0], "row": row})
        shared = content
    return {**shared, "rows": listed}
