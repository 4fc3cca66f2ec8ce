"""`rulewright learn --in-parts`: Parquet files that may be larger than memory."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from rulewright.cli.limits import PANEL
from rulewright.cli.training import ColumnRoles
from rulewright.cli.validation import Judging
from rulewright.data import Source, Table
from rulewright.data.optional import optional
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
class FileFit:
    """How a model is learned from files: which, and what their columns are."""

    file: Path
    roles: ColumnRoles

    def model(self, estimator: Any, table: Table) -> RuleModel:
        """Learn from all rows of the files; the table has the columns that are learned from."""
        scale, roles = optional("rulewright.scale"), self.roles
        columns = {*table.names, roles.target, roles.weights}
        names = optional("rulewright.data").open_table(self.file).names
        fitted = scale.fit_partitions(
            estimator,
            self.file,
            roles.target,
            roles.weights,
            drop=[name for name in names if name not in columns],
            nominal=list(roles.nominal),
            numeric=list(roles.numeric),
            date=list(roles.date),
            missing=list(roles.missing),
        )
        found: RuleModel = fitted.model_
        return found


def first_rows(source: Source) -> Source:
    """Return the rows that are examined."""
    return next(iter(source.parts(FIRST_ROWS)), source)


def judged_by_test(judging: Judging, roles: ColumnRoles, positive: str | None) -> Judging:
    """Refuse what needs all rows in memory; rows of another file may judge the model."""
    for option, given in (
        ("--cv", judging.cv),
        ("--holdout", judging.holdout),
        ("--drop-unlabelled", roles.drop_unlabelled),
        ("--positive", positive),
    ):
        if given:
            raise ValueError(
                f"{option} needs all rows in memory: leave it out with --in-parts. The rows of "
                "another file judge the model with --test."
            )
    return replace(judging, cv=0)
