"""Figures of answers as text: with intervals, by class, by probability, by coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from rulewright.cli.display import print_grid
from rulewright.report import NONE, ClassAnswers, confusion_of, evaluation, measures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from rulewright.report import Answers, Confusion

_SHOWN_CLASSES = 12


def print_evaluation(console: Console, answers: Answers) -> None:
    """Print the figures and, of classes, confusion, calibration and risk against coverage."""
    print_measures(console, answers)
    if not isinstance(answers, ClassAnswers):
        return
    shown, content = confusion_of(answers, _SHOWN_CLASSES), evaluation(answers)
    for part in (_print_confusion, _print_classes):
        console.print()
        part(console, shown)
    console.print()
    _print_calibration(console, content["calibration"])
    console.print()
    shares = [(f"{one['coverage']:.0%}", f"{one['error']:.1%}") for one in content["coverage"]]
    print_grid(console, ("rows answered, the most certain first", "wrong"), shares)


def print_measures(console: Console, answers: Answers) -> None:
    """Print each figure with its interval and what the same answer for all rows reaches."""
    rows = [
        (
            _in_line(one.name),
            one.text(one.value),
            f"{one.text(one.low)} to {one.text(one.high)}",
            one.text(one.baseline),
        )
        for one in measures(answers)
    ]
    print_grid(console, (f"on {answers.origin}", "value", "95 % interval", "baseline"), rows)


def _print_confusion(console: Console, found: Confusion) -> None:
    rows = [
        (name, *(f"{weight:.6g}" for weight in line))
        for name, line in zip(found.names, found.table, strict=True)
    ]
    print_grid(console, ("true class, by predicted", *found.names), rows)


def _print_classes(console: Console, found: Confusion) -> None:
    columns = (found.precision, found.recall, found.f1)
    rows = [
        (name, *(_share(column[i]) for column in columns), f"{found.support[i]:.6g}")
        for i, name in enumerate(found.names)
    ]
    print_grid(console, ("class", "precision", "recall", "F1", "rows"), rows)


def _print_calibration(console: Console, found: Mapping[str, Any]) -> None:
    console.print(Text(f"calibration error (ECE) {found['ece']:.3f}"))
    rows = [
        (
            f"{one['probability']:.3f}",
            f"{one['share']:.3f}",
            f"{one['low']:.3f} to {one['high']:.3f}",
            f"{one['weight']:.6g}",
        )
        for one in found["bins"]
    ]
    head = (f"mean probability of {found['of']}", "share that is so", "95 % interval", "rows")
    print_grid(console, head, rows)


def _in_line(name: str) -> str:
    """Write the name of a figure as inside a sentence; names of people and acronyms stay."""
    return name if name.isupper() or name.startswith("Brier") else name.lower()


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"
