"""The request of a user to `rulewright learn`."""

from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rulewright.cli.classes import ClassOptions
from rulewright.cli.constraints import ConstraintOptions
from rulewright.cli.events import EventOptions
from rulewright.cli.learners import LearnerOptions
from rulewright.cli.linked import Linking
from rulewright.cli.options import TableOptions
from rulewright.cli.output import check_output
from rulewright.cli.report import ShownRows
from rulewright.cli.training import ColumnRoles
from rulewright.cli.validation import Judging
from rulewright.report import N_ROWS
from rulewright.search import Constraints

_option = partial(typer.Option, rich_help_panel="Output")


@dataclass(frozen=True)
class OutputOptions:
    """Options about files and printed output."""

    model: Annotated[
        Path | None, _option("--model", metavar="FILE", help="Save the model (JSON).")
    ] = None
    report: Annotated[
        Path | None, _option("--report", metavar="FILE", help="Write a report (one HTML page).")
    ] = None
    report_rows: ShownRows = N_ROWS
    rules_shown: Annotated[
        int, _option("--rules-shown", min=0, metavar="N", help="Number of rules to print.")
    ] = 20
    full: Annotated[bool, _option("--full", help="Print all rules and all parameters.")] = False
    as_json: Annotated[bool, _option("--json", help="Print JSON.")] = False

    @property
    def files(self) -> dict[str, Path]:
        """The output files, by kind."""
        named = {"model": self.model, "report": self.report}
        return {what: path for what, path in named.items() if path}

    def check(self, *read: Path | None) -> None:
        """Raise an error for output files that are not writable, or that are also read."""
        used = [path for path in read if path]
        for what, path in self.files.items():
            check_output(path, f"--{what}", used)
            used.append(path)


@dataclass(frozen=True)
class Request:
    """The data, the learner and the output."""

    file: Path
    target: str
    weights: str | None
    learner: LearnerOptions
    classes: ClassOptions
    events: EventOptions
    judging: Judging
    constraints: ConstraintOptions
    table: TableOptions
    linking: Linking
    output: OutputOptions

    def check(self) -> None:
        """Raise an error for contradictory options, before any file is read."""
        self.judging.check()
        self.output.check(self.file, self.judging.test)
        self.constraints.parse()
        self.learner.check()

    @cached_property
    def allowed(self) -> Constraints:
        """What rules may be."""
        return self.constraints.parse()

    @cached_property
    def roles(self) -> ColumnRoles:
        """Roles of the columns."""
        return self.table.roles(self.target, self.weights, self.events.beside)

    @property
    def target_columns(self) -> Any:
        """The target column, or all columns of the target."""
        return self.roles.target_columns
