"""Options of `learn` about the classes: order, weights and decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import typer

from rulewright.cli.decisions import DECISION_HELP, read_decision_text, read_number
from rulewright.cli.options import split_at_commas
from rulewright.data import DataError, Target, label_of
from rulewright.estimators import LEARNERS

Text: TypeAlias = str | None

_WEIGHTS = "Class weights: balanced, or CLASS=W,... such as yes=5."


def _option(metavar: str, text: str) -> Any:
    panel = "Classes"
    return typer.Option(metavar=metavar, help=text, rich_help_panel=panel)


@dataclass(frozen=True)
class ClassOptions:
    """Options about the classes, as text."""

    positive: Annotated[Text, _option("CLASS", "Class of interest, with two classes.")] = None
    ordinal: Annotated[Text, _option("LOW,...,HIGH", "The classes are ordered like this.")] = None
    class_weight: Annotated[Text, _option("WEIGHTS", _WEIGHTS)] = None
    decision: Annotated[Text, _option("DECISION", DECISION_HELP)] = None

    def check(self, learner: str, *, numbers: bool) -> None:
        """Reject what the task or the learner does not support, before any file is read."""
        given = [f"--{n.replace('_', '-')}" for n, text in vars(self).items() if text is not None]
        if numbers and given:
            raise ValueError(f"{given[0]} needs classes, but the target is numeric. Leave it out.")
        if self.positive is not None and self.ordinal is not None:
            raise ValueError("--positive and --ordinal both set the class order. Give only one.")
        if self.ordinal is not None and "ordinal" not in LEARNERS[learner].DOMAINS:
            able = " and ".join(LEARNERS.with_parameter("ordinal"))
            raise ValueError(f"--learner {learner} has no --ordinal. Learners with it: {able}.")

    def order_target(self, target: Target) -> Target:
        """Return the target with its classes in the requested order, the positive one second."""
        if self.ordinal is not None:
            return _in_order(target, split_at_commas(self.ordinal.replace("<", ",")), "--ordinal")
        if self.positive is None:
            return target
        names = [label_of(value) for value in target.classes.tolist()]
        if self.positive not in names:
            raise DataError(
                f"--positive {self.positive}: no such class. The classes are: {', '.join(names)}."
            )
        if len(names) != 2:
            raise DataError(
                f"--positive needs two classes, but the target has {len(names)}. Leave it out."
            )
        others = [name for name in names if name != self.positive]
        return _in_order(target, [*others, self.positive], "--positive")

    def settings(self, target: Target, estimator: Any) -> dict[str, Any]:
        """Return the estimator parameters that correspond to these options."""
        classes, known = target.classes.tolist(), estimator.get_params(deep=False)
        found: dict[str, Any] = {}
        if self.ordinal is not None:
            found["ordinal"] = classes
        if self.positive is not None and "positive_class" in known:
            found["positive_class"] = classes[1]
        if self.class_weight is not None:
            found["class_weight"] = _weights(self.class_weight, target)
        if self.decision is not None:
            found["decision"] = read_decision_text(self.decision, [*map(label_of, classes)])
        return found


def _in_order(target: Target, names: Sequence[str], option: str) -> Target:
    try:
        return target.with_order(names)
    except DataError as error:
        raise DataError(f"{option}: {error}") from None


def _weights(text: str, target: Target) -> Any:
    """Parse factors per class; classes without a factor get 1."""
    if text == "balanced":
        return text
    labels = {label_of(value): value for value in target.classes.tolist()}
    found = dict.fromkeys(labels.values(), 1.0)
    for part in split_at_commas(text):
        name, equals, number = part.rpartition("=")
        if not equals:
            raise DataError(
                f"--class-weight {part}: write balanced, or CLASS=W,... such as yes=1,no=5."
            )
        if name not in labels:
            raise DataError(
                f"--class-weight {part}: no such class. The classes are: {', '.join(labels)}."
            )
        found[labels[name]] = read_number(number, f"--class-weight {part}")
    return found
