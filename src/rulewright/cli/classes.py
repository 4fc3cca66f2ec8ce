"""Options of `learn` about the classes: their order, their weights and what errors cost."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer

from rulewright.cli.options import split_at_commas
from rulewright.data import DataError, Target, label_of
from rulewright.estimators import LEARNERS
from rulewright.kernels import FloatArray
from rulewright.model import Costs, read_costs

Text: TypeAlias = str | None

_COSTS = "Of errors: TRUE:PREDICTED=COST,..., absolute or a CSV file."
_WEIGHTS = "Factors of the row weights: balanced, or CLASS=W,..."


def _option(metavar: str, text: str) -> Any:
    panel = "Classes"
    return typer.Option(metavar=metavar, help=text, rich_help_panel=panel)


@dataclass(frozen=True)
class ClassOptions:
    """What was asked for about the classes, as text."""

    positive: Annotated[Text, _option("CLASS", "The class to look for, of two.")] = None
    ordinal: Annotated[Text, _option("LOW,...,HIGH", "The classes form this scale.")] = None
    class_weight: Annotated[Text, _option("WEIGHTS", _WEIGHTS)] = None
    cost_matrix: Annotated[Text, _option("COSTS", _COSTS)] = None

    def check(self, learner: str, *, numbers: bool) -> None:
        """Refuse what the task or the learner cannot do, before anything is read."""
        given = [f"--{n.replace('_', '-')}" for n, text in vars(self).items() if text is not None]
        if numbers and given:
            raise ValueError(f"{given[0]} is about classes, but the target holds numbers.")
        if self.positive is not None and self.ordinal is not None:
            raise ValueError("--positive and --ordinal both order the classes: give one.")
        if self.ordinal is not None and "ordinal" not in LEARNERS[learner].DOMAINS:
            able = " and ".join(LEARNERS.with_parameter("ordinal"))
            raise ValueError(f"--learner {learner} takes no --ordinal; {able} do.")
        if self.cost_matrix is not None and LEARNERS.entries[learner].form != "additive":
            able = ", ".join(n for n, e in LEARNERS.entries.items() if e.form == "additive")
            raise ValueError(f"--learner {learner} takes no --cost-matrix; {able} do.")

    def order_target(self, target: Target) -> Target:
        """Return the target with the classes in the order asked for; the positive one is second."""
        if self.ordinal is not None:
            return _in_order(target, split_at_commas(self.ordinal.replace("<", ",")), "--ordinal")
        if self.positive is None:
            return target
        names = [label_of(value) for value in target.classes.tolist()]
        if self.positive not in names:
            raise DataError(
                f"--positive {self.positive}: no such class. There are: {', '.join(names)}."
            )
        if len(names) != 2:
            raise DataError(
                f"--positive goes with two classes, but the target has {len(names)}: leave it out."
            )
        others = [name for name in names if name != self.positive]
        return _in_order(target, [*others, self.positive], "--positive")

    def settings(self, target: Target, estimator: Any) -> dict[str, Any]:
        """Return the parameters of the estimator that say this."""
        classes, known = target.classes.tolist(), estimator.get_params(deep=False)
        found: dict[str, Any] = {}
        if self.ordinal is not None:
            found["ordinal"] = classes
        if self.positive is not None and "positive_class" in known:
            found["positive_class"] = classes[1]
        if self.class_weight is not None:
            found["class_weight"] = _weights(self.class_weight, target)
        return found

    def costs(self, target: Target) -> Costs | None:
        """Return the costs of errors, true classes first."""
        text, names = self.cost_matrix, [label_of(value) for value in target.classes.tolist()]
        if text is None:
            return None
        found: FloatArray | str = text
        if Path(text).is_file():
            found = _costs_of_file(Path(text), names)
        elif "=" in text:
            found = _inline_costs(text, names)
        elif text != "absolute":
            raise DataError(
                f"--cost-matrix {text}: neither a file nor TRUE:PREDICTED=COST,... nor absolute."
            )
        return read_costs(found, names, "--cost-matrix")


def _in_order(target: Target, names: Sequence[str], option: str) -> Target:
    try:
        return target.with_order(names)
    except DataError as error:
        raise DataError(f"{option}: {error}") from None


def _weights(text: str, target: Target) -> Any:
    """Read factors by class; those not named have the factor 1."""
    if text == "balanced":
        return text
    labels = {label_of(value): value for value in target.classes.tolist()}
    found = dict.fromkeys(labels.values(), 1.0)
    for part in split_at_commas(text):
        name, equals, number = part.rpartition("=")
        if not equals:
            raise DataError(
                f"--class-weight {part}: must be balanced, or CLASS=W,... such as yes=1,no=5."
            )
        if name not in labels:
            raise DataError(
                f"--class-weight {part}: no such class. There are: {', '.join(labels)}."
            )
        found[labels[name]] = _number(number, f"--class-weight {part}")
    return found


def _inline_costs(text: str, names: Sequence[str]) -> FloatArray:
    """Read TRUE:PREDICTED=COST,...; an error that is not named costs 1."""
    costs = 1.0 - np.eye(len(names))
    for part in split_at_commas(text):
        pair, equals, number = part.rpartition("=")
        true, colon, predicted = pair.partition(":")
        if not (equals and colon):
            raise DataError(f"--cost-matrix {part}: must be written as TRUE:PREDICTED=COST.")
        for name in (true, predicted):
            _check_class(name, names, f"--cost-matrix {part}")
        costs[names.index(true), names.index(predicted)] = _number(number, f"--cost-matrix {part}")
    return costs


def _costs_of_file(path: Path, names: Sequence[str]) -> FloatArray:
    """Read a CSV file: predicted classes in the header, a line for each true class."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        head, *lines = [[cell.strip() for cell in row] for row in csv.reader(file) if row] or [[]]
    option = f"--cost-matrix {path}"
    for found in (head[1:], [line[0] for line in lines]):
        for name in found:
            _check_class(name, names, option)
        if sorted(found) != sorted(names):
            raise DataError(
                f"{option}: needs each class once in the header after its first cell and once at "
                f"the start of a line: {', '.join(names)}."
            )
    costs = np.zeros((len(names), len(names)))
    for line in lines:
        if len(line) != len(head):
            raise DataError(
                f"{option}: line {line[0]!r} needs {len(names)} numbers, as the header."
            )
        for name, cell in zip(head[1:], line[1:], strict=True):
            where = f"{option}: true {line[0]!r}, predicted {name!r}"
            costs[names.index(line[0]), names.index(name)] = _number(cell, where)
    return costs


def _check_class(name: str, names: Sequence[str], option: str) -> None:
    if name not in names:
        raise DataError(f"{option}: {name!r} is no class. There are: {', '.join(names)}.")


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number) or number < 0:
        raise DataError(f"{where}: {text!r} must be a number, 0 or larger.")
    return number
