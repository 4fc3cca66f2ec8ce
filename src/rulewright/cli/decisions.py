"""The option --decision: how a class is chosen from probabilities, as text or a file of costs."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from rulewright.cli.options import split_at_commas
from rulewright.data import DataError
from rulewright.model import read_decision

DECISION_HELP = (
    "How a class is chosen: balanced, by a threshold (0.2 or CLASS=0.2), or by costs "
    "(TRUE:PREDICTED=COST,... or a file)."
)
_WORDS = ("accuracy", "balanced", "absolute")


def read_decision_text(text: str, names: Sequence[str]) -> Any:
    """Return what the text asks for, checked, as the parameter `decision` of learners takes it."""
    if Path(text).is_file():
        found: Any = _costs_of_file(Path(text), names)
    elif text in _WORDS:
        found = text
    elif "=" in text:
        found = _by_name(text, names)
    else:
        found = _threshold(text)
    # Balanced decisions need the class shares of rows that are not read yet.
    return found if found == "balanced" else read_decision(found, names, None, f"--decision {text}")


def _threshold(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise DataError(
            f"--decision {text}: must be accuracy, balanced, a threshold such as 0.2 or CLASS=0.2, "
            "TRUE:PREDICTED=COST,..., absolute or a CSV file of costs."
        ) from None


def _by_name(text: str, names: Sequence[str]) -> dict[str, Any]:
    """Read CLASS=THRESHOLD, or TRUE:PREDICTED=COST,... where other errors cost 1."""
    found: dict[str, Any] = {}
    for part in split_at_commas(text):
        name, _, number = part.rpartition("=")
        true, colon, predicted = name.partition(":")
        if part == text and (name in names or not colon):
            _check_class(name, names, f"--decision {text}")
            return {name: read_number(number, f"--decision {text}")}
        if not colon:
            raise DataError(f"--decision {part}: must be written as TRUE:PREDICTED=COST.")
        for one in (true, predicted):
            _check_class(one, names, f"--decision {part}")
        found.setdefault(true, {})[predicted] = read_number(number, f"--decision {part}")
    return found


def _costs_of_file(path: Path, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Read a CSV file: predicted classes in the header, a line for each true class."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        head, *lines = [[cell.strip() for cell in row] for row in csv.reader(file) if row] or [[]]
    option = f"--decision {path}"
    for found in (head[1:], [line[0] for line in lines]):
        for name in found:
            _check_class(name, names, option)
        if sorted(found) != sorted(names):
            raise DataError(
                f"{option}: needs each class once in the header after its first cell and once at "
                f"the start of a line: {', '.join(names)}."
            )
    costs: dict[str, dict[str, float]] = {}
    for line in lines:
        if len(line) != len(head):
            raise DataError(
                f"{option}: line {line[0]!r} needs {len(names)} numbers, as the header."
            )
        costs[line[0]] = {
            name: read_number(cell, f"{option}: true {line[0]!r}, predicted {name!r}")
            for name, cell in zip(head[1:], line[1:], strict=True)
        }
    return costs


def _check_class(name: str, names: Sequence[str], option: str) -> None:
    if name not in names:
        raise DataError(f"{option}: {name!r} is not a class. There are: {', '.join(names)}.")


def read_number(text: str, where: str) -> float:
    """Read a finite number that is not negative; the error starts with `where`."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < float("inf"):
        raise DataError(f"{where}: {text!r} must be a number, 0 or larger.")
    return number


_SETTING = re.compile(r"decision=(?:\"(\w+)\"|\{'?(.*?)'?: ([\d.e-]+)\})")


def name_decision_options(message: str) -> str:
    """Write the decisions in a message as options of commands."""
    options = _SETTING.sub(
        lambda found: "--decision " + (found[1] or quote(f"{found[2]}={found[3]}")), message
    )
    return options.replace(
        "rulewright.with_decision does so after the fit",
        "'rulewright evaluate --decision' tries it on the saved model",
    )
