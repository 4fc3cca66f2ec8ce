"""`rulewright learn --in-parts`: Parquet files that may be larger than memory."""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from rulewright import scale
from rulewright.cli.limits import PANEL
from rulewright.cli.one_table import OneTable
from rulewright.cli.training import loading_once
from rulewright.cli.validation import Judging
from rulewright.data import Source, Table, open_table
from rulewright.model import RuleModel

FIRST_ROWS = 100_000
"""Rows that are examined before a fit in parts, and shown in the report."""

InParts = Annotated[
    bool,
    typer.Option(
        "--in-parts",
        help="Read Parquet in parts: it may be larger than memory.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True)
class FilesInParts(OneTable):
    """Learning from all rows of files, of which the first are examined."""

    @property
    def judging(self) -> Judging:
        """Which rows judge the model: those of another file."""
        return replace(self.request.judging, cv=0)

    def open(self) -> tuple[Source, Source | None]:
        """Open the rows that are examined, and the table of --test."""
        source, tested = super().open()
        self._check()
        first = next(iter(source.parts(FIRST_ROWS)), source)
        return loading_once(first, self.request.target), tested

    def fit(self, estimator: Any, rows: Table) -> RuleModel:
        """Learn from all rows of the files; the table has the columns that are learned from."""
        file, roles = self.request.file, self.request.roles
        columns = {*rows.names, roles.target, roles.weights}
        fitted = scale.fit_partitions(
            estimator,
            file,
            roles.target,
            roles.weights,
            drop=[name for name in open_table(file).names if name not in columns],
            nominal=list(roles.nominal),
            numeric=list(roles.numeric),
            date=list(roles.date),
            missing=list(roles.missing),
        )
        found: RuleModel = fitted.model_
        return found

    def count(self, table: Table) -> str:
        """Tell how many rows were examined."""
        return f"the first {table.n_rows}"

    def _check(self) -> None:
        """Refuse what needs all rows in memory."""
        asked = self.request
        for option, given in (
            ("--cv", asked.judging.cv),
            ("--holdout", asked.judging.holdout),
            ("--drop-unlabelled", asked.roles.drop_unlabelled),
            ("--positive", asked.classes.positive),
        ):
            if given:
                raise ValueError(
                    f"{option} needs all rows in memory: leave it out with --in-parts. The rows of "
                    "another file judge the model with --test."
                )
