"""Do the exports answer as the native program does? Run them on adversarial rows and compare."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import KINDS, ColumnSchema, Schema, Table, label_of, label_value, read_like
from rulewright.programs.covers import marks_by_column
from rulewright.programs.distances import NumberDistance
from rulewright.programs.native import Native
from rulewright.programs.nearest import Nearest
from rulewright.programs.nodes import LineValue
from rulewright.programs.program import ClassProgram, Program
from rulewright.programs.target import Answer, CannotRunError, ExportTarget, Rows, Runner, n_rows
from rulewright.programs.targets import TARGETS
from rulewright.rules import Condition, Range

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


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
    translated : tuple of str
        Databases whose SQL was parsed by sqlglot, translated to DuckDB and run there: a check of
        its syntax. It was not run on these databases.
    """

    targets: tuple[str, ...]
    n_rows: int
    probability_error: float
    notes: tuple[str, ...] = ()
    translated: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = []
        if self.targets or not self.translated:
            lines.append(
                f"same answers in {_listed(self.targets)} on {self.n_rows} adversarial rows: "
                f"scores and labels equal, probabilities within {self.probability_error:.1e}"
            )
        if self.translated:
            lines.append(describe_translations(self.translated))
        return "\n".join([*lines, *self.notes])


def describe_translations(names: tuple[str, ...]) -> str:
    """Say what was done with the SQL of databases that are not at hand."""
    return (
        f"syntax checked for {_listed(names)}: the SQL was parsed by sqlglot and its translation "
        "run in DuckDB; it was not run on these databases"
    )


def _listed(names: tuple[str, ...]) -> str:
    """Join names as in a sentence."""
    *first, last = names or ("no target",)
    return f"{', '.join(first)} and {last}" if first else last


def verify(program: Program, targets: Sequence[str] | None = None) -> ExportReport:
    """Run the exports of a program on adversarial rows; see ``RuleModel.verify_exports``."""
    known = _known_runners()
    for name in targets or ():
        if name not in known:
            raise ValueError(f"exports can be verified in {', '.join(known)}, not in {name!r}")
    translations = {name for target in TARGETS.values() for name in target.translations}
    unasked = [name for name, (target, _) in known.items() if target.unasked]
    unasked = [name for name in unasked if name not in translations]
    rows = adversarial_rows(program)
    expected = native_answers(program, read_like(rows, program.schema, program.columns))
    worst, ran, notes = 0.0, [], []
    for name in unasked if targets is None else targets:
        target, run = known[name]
        try:
            answers, found = run(target.write, program, rows)
        except CannotRunError as error:
            if targets is not None:
                raise
            notes.append(f"{name} was not run: {error}")
            continue
        worst = max(worst, compare_answers(name, program, rows, answers, expected))
        ran.append(name)
        notes += found
    executed, translated = (
        tuple(name for name in ran if (name in translations) is wanted) for wanted in (False, True)
    )
    return ExportReport(executed, n_rows(rows), worst, tuple(notes), translated)


def _known_runners() -> dict[str, tuple[ExportTarget, Runner]]:
    """Return everything that runs exports by name, then what runs translations of them."""
    targets = TARGETS.values()
    runners = {name: (target, run) for target in targets for name, run in target.runners.items()}
    return runners | {
        name: (target, run) for target in targets for name, run in target.translations.items()
    }


def native_answers(program: Program, table: Table) -> list[tuple[Answer, list[float]]]:
    """Return for each row the answer of the native program and the expected costs, if any."""
    coded = Native(program).rows(table)
    if not isinstance(program, ClassProgram):
        numbers = [coded.value(node).tolist() for node in program.numbers.values()]
        return [(Answer.numbers(program, row), []) for row in zip(*numbers, strict=True)]
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
    """Compare answers with the native program, and return the largest difference."""
    if len(answers) != len(expected):
        raise ParityError(f"{name} gave {len(answers)} rows for {len(expected)}")
    most = max((cost for _, costs in expected for cost in costs), default=0.0)
    worst, labels = 0.0, program.labels if isinstance(program, ClassProgram) else ()
    for i, (found, (right, costs)) in enumerate(zip(answers, expected, strict=True)):
        error = _largest_error(found.probabilities, right.probabilities)
        cost_of = dict(zip(labels, costs, strict=False))
        error = max(float(error), _score_error(program, found, right))
        equal = error <= _TOLERANCE
        equal = equal and list(found.flags) == list(right.flags)
        if not (equal and _same_label(found.label, right.label, cost_of, most)):
            row = {column: rows[column][i] for column in program.given}
            raise ParityError(
                f"{name} answers differently from the model on the row {row}: {found} and not "
                f"{right}"
            )
        worst = max(worst, error)
    return worst


def _largest_error(found: Sequence[float], right: Sequence[float]) -> float:
    """Return the largest difference; of numbers above 1 relative to them."""
    sizes = np.maximum(np.abs(right), 1.0)
    return float((np.abs(np.subtract(found, right)) / sizes).max(initial=0.0))


def _score_error(program: Program, found: Answer, right: Answer) -> float:
    """Return the error of the scores; exact programs have 0 or infinity."""
    if program.exact:
        return 0.0 if list(found.scores) == list(right.scores) else np.inf
    return float(np.abs(np.subtract(found.scores, right.scores)).max(initial=0.0))


def _same_label(found: Any, right: Any, cost_of: dict[Any, float], most: float) -> bool:
    """Return whether labels are equal, or cost the same but for rounding."""
    if found == right:
        return True
    return found in cost_of and cost_of[found] - cost_of[right] <= _COST_TOLERANCE * most


_RANDOM_ROWS = 300
_PLANTED_ROWS = 1500
_MAX_VALUES = 1000


def adversarial_rows(program: Program, seed: int = 0) -> Rows:
    """Make rows of missing, unseen, huge and tiny values, and values on and near thresholds.

    They are mixed at random, and rows are planted that satisfy all conditions of a formula or all
    but one, because random rows seldom meet a long rule.
    """
    rng = np.random.default_rng(seed)
    schema, marks = program.schema, marks_by_column(program.marked)
    for node in program.nodes:
        if isinstance(node, LineValue):
            marks.setdefault(node.column, set()).update((node.low, node.high, node.center))
        for distance in node.used if isinstance(node, Nearest) else ():
            if isinstance(distance, NumberDistance):
                marks[distance.column].update((distance.low, distance.high, *distance.limits))
    used = [schema[name] for name in program.columns]
    choices = {
        one.name: _choices(one, [each for each in used if each.source == one.name], marks, rng)
        for one in schema.sources_of(used)
    }
    n_listed = max(map(len, choices.values()), default=0)
    rows: Rows = {one.name: [None] * (1 + n_listed + _RANDOM_ROWS) for one in schema.given}
    for name, values in choices.items():
        listed = [values[i % len(values)] for i in range(n_listed)]
        rows[name][1:] = listed + [_draw(values, rng) for _ in range(_RANDOM_ROWS)]
    for row in itertools.islice(_planted_rows(program, choices, rng), _PLANTED_ROWS):
        for name, column in rows.items():
            column.append(row.get(name))
    return rows


def _planted_rows(
    program: Program, choices: dict[str, list[Any]], rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Make rows that satisfy the conditions of a formula but for one, which is probed."""
    for i in rng.permutation(len(program.marked)).tolist():
        covered = {name: _draw(values, rng) for name, values in choices.items()}
        conditions = program.marked[i].conditions
        source = {condition: program.schema[condition.column].source for condition in conditions}
        for name in dict.fromkeys(source.values()):
            own = [condition for condition in conditions if source[condition] == name]
            fitting = [
                value
                for value in choices[name]
                if all(_accepts(condition, value, program.schema) for condition in own)
            ]
            covered[name] = _draw(fitting or choices[name], rng)
        for condition in conditions:
            for probe in _probes(condition, choices[source[condition]], program.schema, rng):
                yield covered | {source[condition]: probe}


def _probes(
    condition: Condition, choices: list[Any], schema: Schema, rng: np.random.Generator
) -> Iterator[Any]:
    """Return values that show whether a condition is evaluated exactly."""
    column = schema[condition.column]
    for part in condition.alternatives:
        yield None
        if column.part is not None:
            yield from (_draw(choices, rng) for _ in range(3))
        elif isinstance(part, Range):
            kind = column.type
            yield from (kind.to_table_value(v) for mark in part.marks for v in kind.probes(mark))
        else:
            if part.marks:
                yield label_value(_draw(part.marks, rng), column)
            yield _draw(choices, rng)


def _draw(values: Sequence[Any], rng: np.random.Generator) -> Any:
    return values[int(rng.integers(len(values)))]


def _accepts(condition: Condition, value: Any, schema: Schema) -> bool:
    column = schema[condition.column]
    if value is not None and column.part is not None:
        stored = column.part.take(np.array([KINDS["date"].number(value)]))[0]
        value = stored if column.type.ordered else column.labels[stored]
    elif value is not None:
        value = column.type.number(value) if column.type.ordered else label_of(value)
    return condition.accepts(value)


def _choices(
    column: ColumnSchema,
    read: Sequence[ColumnSchema],
    marks: Mapping[str, set[float | str]],
    rng: np.random.Generator,
) -> list[Any]:
    """Return the values worth trying in a column, for the columns that are read from it."""
    of_parts = any(one.part for one in read)
    marked = {mark for one in read if one.part is None for mark in marks[one.name]}
    if column.type.ordered:
        cuts = [mark for mark in marked if not isinstance(mark, str)]
        kind = column.type
        cuts += _dates() if of_parts else []
        numbers = [*kind.extremes, *itertools.chain.from_iterable(map(kind.probes, cuts))]
        values: list[Any] = [kind.to_table_value(number) for number in numbers]
    else:
        labels = {*marked, *column.labels[:5], *_unseen(column)}
        values = [label_value(str(label), column) for label in sorted(map(str, labels))]
    if len(values) > _MAX_VALUES:
        values = [values[i] for i in rng.permutation(len(values))[:_MAX_VALUES]]
    return [None, *values]


def _unseen(column: ColumnSchema) -> Iterable[str]:
    """Return labels that are not in the schema but very similar to its labels."""
    if column.label_type == "boolean":
        return ()
    if column.label_type == "number":
        tries = ["-12345", "0.3", "1e-300", "1000000"]
    else:
        tries = ['it\'s "new"; -- \\', "NULL", "nan", "ÿ\n"]
        tries += [change(label) for label in column.labels[:3] for change in _CHANGES]
    return [label for label in tries if label not in column.labels]


def _dates() -> list[float]:
    """Return moments at which parts of dates change, and others in many years."""
    starts = [np.arange(f"{year}-01", f"{year + 1}-01", dtype="M8[M]") for year in _YEARS]
    starts.append(np.arange("2024-06-03", "2024-06-10", dtype="M8[D]"))
    starts += [np.arange(f"{day}T00", f"{day}T23", dtype="M8[h]") for day in _DAYS]
    hours = np.random.default_rng(0).integers(-600_000, 600_000, 300) * 3_600_000 + 1_234_567
    listed = [each.astype("M8[ms]").astype(np.int64) for each in starts]
    return [float(moment) for moment in np.concatenate([*listed, hours])]


_YEARS, _DAYS = (1899, 1969, 2024), ("1969-12-31", "2024-02-29")
_CHANGES = (str.swapcase, lambda label: label + " ", lambda label: label + "'")
