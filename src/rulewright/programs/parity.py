"""Do the exports answer as the native program does? Run them on adversarial rows and compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import read_like
from rulewright.programs.adversarial import adversarial_rows
from rulewright.programs.native import Native
from rulewright.programs.program import ClassProgram
from rulewright.programs.target import Answer, CannotRunError, n_rows
from rulewright.programs.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Table
    from rulewright.programs.program import Program
    from rulewright.programs.target import ExportTarget, Rows

_TOLERANCE = 1e-12
_COST_TOLERANCE = 1e-9


class ParityError(ValueError):
    """An export that answers differently from its model."""


@dataclass(frozen=True)
class ExportReport:
    """What was compared: which exports, on how many rows, with which largest difference.

    Parameters
    ----------
    targets : tuple of str
        Where the exports ran.
    n_rows : int
        Number of adversarial rows.
    probability_error : float
        Largest difference of a probability, or of a score that is made of probabilities; other
        scores, labels and flags were all equal.
    notes : tuple of str
        What had to be done to run the exports, and what could not be run.
    """

    targets: tuple[str, ...]
    n_rows: int
    probability_error: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        *names, last = self.targets or ("no target",)
        where = f"{', '.join(names)} and {last}" if names else last
        text = (
            f"same answers in {where} on {self.n_rows} adversarial rows: "
            f"scores and labels equal, probabilities within {self.probability_error:.1e}"
        )
        return "\n".join([text, *self.notes])


def verify(program: Program, targets: Sequence[str] | None = None) -> ExportReport:
    """Run the exports of a program on adversarial rows; see ``RuleModel.verify_exports``."""
    known = {name: target for target in TARGETS.values() for name in target.runners}
    unasked = [name for name, target in known.items() if target.unasked]
    for name in targets or ():
        if name not in known:
            raise ValueError(f"exports can be verified in {', '.join(known)}, not in {name!r}")
    rows = adversarial_rows(program)
    expected = native_answers(program, read_like(rows, program.schema, program.columns))
    worst, ran, notes = 0.0, [], []
    for name in unasked if targets is None else targets:
        target: ExportTarget = known[name]
        try:
            answers, found = target.runners[name](target.write, program, rows)
        except CannotRunError as error:
            if targets is not None:
                raise
            notes.append(f"{name} was not run: {error}")
            continue
        worst = max(worst, compare_answers(name, program, rows, answers, expected))
        ran.append(name)
        notes += found
    return ExportReport(tuple(ran), n_rows(rows), worst, tuple(notes))


def native_answers(program: Program, table: Table) -> list[tuple[Answer, list[float]]]:
    """Give for each row the answer of the native program and the expected costs, if any."""
    coded = Native(program).rows(table)
    if not isinstance(program, ClassProgram):
        return [(Answer.number(value), []) for value in coded.value(program.scores).tolist()]
    labels = [program.labels[k] for k in coded.value(program.chosen)]
    flags = [coded.value(node).tolist() for node in program.flags.values()]
    costs = [] if program.costs is None else coded.value(program.costs).tolist()
    answers = zip(
        coded.value(program.scores).tolist(),
        coded.value(program.probabilities).tolist(),
        labels,
        zip(*flags, strict=True) if flags else [()] * len(coded),
        strict=True,
    )
    pairs = zip(map(Answer._make, answers), costs or [[]] * len(coded), strict=True)
    return list(pairs)


def compare_answers(
    name: str,
    program: Program,
    rows: Rows,
    answers: list[Answer],
    expected: list[tuple[Answer, list[float]]],
) -> float:
    """Compare answers with those of the native program; give the largest difference."""
    if len(answers) != len(expected):
        raise ParityError(f"{name} gave {len(answers)} rows for {len(expected)}")
    most = max((cost for _, costs in expected for cost in costs), default=0.0)
    worst, labels = 0.0, program.labels if isinstance(program, ClassProgram) else ()
    for i, (found, (right, costs)) in enumerate(zip(answers, expected, strict=True)):
        error = np.abs(np.subtract(found.probabilities, right.probabilities)).max(initial=0.0)
        cost_of = dict(zip(labels, costs, strict=False))
        error = max(float(error), _score_error(program, found, right))
        equal = error <= _TOLERANCE
        equal = equal and list(found.flags) == list(right.flags)
        if not (equal and _same_label(found.label, right.label, cost_of, most)):
            row = {column: rows[column][i] for column in program.columns}
            raise ParityError(
                f"{name} answers differently from the model on the row {row}: {found} and not "
                f"{right}"
            )
        worst = max(worst, error)
    return worst


def _score_error(program: Program, found: Answer, right: Answer) -> float:
    """Give how far scores are off; those that are the same in all targets, by anything or not."""
    if program.exact:
        return 0.0 if list(found.scores) == list(right.scores) else np.inf
    return float(np.abs(np.subtract(found.scores, right.scores)).max(initial=0.0))


def _same_label(found: Any, right: Any, cost_of: dict[Any, float], most: float) -> bool:
    """Tell whether labels are equal, or cost the same but for rounding."""
    if found == right:
        return True
    return found in cost_of and cost_of[found] - cost_of[right] <= _COST_TOLERANCE * most
