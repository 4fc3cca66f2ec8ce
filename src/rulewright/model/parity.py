"""Does the SQL export answer as the model does? Run it on adversarial rows and compare."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data.optional import optional
from rulewright.model.adversarial import adversarial_rows
from rulewright.model.sql_words import quoted_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rulewright.data import ColumnSchema
    from rulewright.model.adversarial import Rows
    from rulewright.model.rule_model import RuleModel

_TOLERANCE = 1e-12
_COST_TOLERANCE = 1e-9
_TABLE = "table \"of\" 'rows'"
_TYPES = {
    "duckdb": {"number": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN"},
    "sqlite": {"number": "REAL", "string": "TEXT", "boolean": "INTEGER"},
}


class ParityError(ValueError):
    """An export that answers differently from its model."""


@dataclass(frozen=True)
class SqlReport:
    """What was compared: in which databases, on how many rows, with which largest difference.

    Parameters
    ----------
    dialects : tuple of str
        The databases that the SQL ran in.
    n_rows : int
        Number of adversarial rows.
    probability_error : float
        Largest difference of a probability; scores and labels were all equal.
    notes : tuple of str
        What had to be done to run the SQL.
    """

    dialects: tuple[str, ...]
    n_rows: int
    probability_error: float
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = (
            f"same answers in {' and '.join(self.dialects)} on {self.n_rows} adversarial rows: "
            f"scores and labels equal, probabilities within {self.probability_error:.1e}"
        )
        return "\n".join([text, *self.notes])


def verify_sql(model: RuleModel, dialects: Sequence[str] = ("duckdb", "sqlite")) -> SqlReport:
    """Run the SQL of a model on adversarial rows; see ``RuleModel.verify_sql``."""
    for dialect in dialects:
        if dialect not in _RUNNERS:
            raise ValueError(f"SQL can be verified in duckdb and sqlite, not in {dialect!r}")
    rows = adversarial_rows(model)
    n_rows = len(next(iter(rows.values()), []))
    worst, notes = 0.0, []
    for dialect in dialects:
        answers, note = _RUNNERS[dialect](model, rows, n_rows)
        worst = max(worst, _compare(model, rows, answers, dialect))
        notes += note
    return SqlReport(tuple(dialects), n_rows, worst, tuple(notes))


def _compare(model: RuleModel, rows: Rows, answers: list[tuple[Any, ...]], dialect: str) -> float:
    """Compare the answers of a database with those of the model; give the largest difference."""
    scores = model.scores(rows)
    chances = model.probabilities(scores)
    labels = model.classes[model.decide(scores)].tolist()
    flags = list(zip(*model.flags(scores).values(), strict=True)) or [()] * len(scores)
    n_classes = len(model.classes)
    if len(answers) != len(scores):
        raise ParityError(f"{dialect} gave {len(answers)} rows for {len(scores)}")
    worst = 0.0
    for i, (_, *answer) in enumerate(answers):
        label, *found = answer[2 * n_classes :]
        error = np.abs(np.subtract(answer[n_classes : 2 * n_classes], chances[i])).max()
        equal = answer[:n_classes] == scores[i].tolist() and error <= _TOLERANCE
        equal = equal and tuple(found) == flags[i]
        if not (equal and _same_label(model, scores[i : i + 1], label, labels[i])):
            row = {name: rows[name][i] for name in model.columns}
            raise ParityError(
                f"{dialect} answers differently from the model on the row {row}: scores, "
                f"probabilities and label are {answer}, and not {scores[i].tolist()}, "
                f"{chances[i].tolist()}, {labels[i]!r}, {list(flags[i])}"
            )
        worst = max(worst, float(error))
    return worst


def _same_label(model: RuleModel, scores: NDArray[np.float64], found: Any, label: Any) -> bool:
    """Tell whether labels are equal, or cost the same but for rounding."""
    if found == label or (model.costs is None and model.steps is None):
        return bool(found == label)
    cost_of = dict(zip(model.classes.tolist(), model.expected_costs(scores)[0], strict=True))
    most = max(map(max, model.costs)) if model.costs else 1.0
    return found in cost_of and bool(cost_of[found] - cost_of[label] <= _COST_TOLERANCE * most)


def _run_duckdb(
    model: RuleModel, rows: Rows, n_rows: int
) -> tuple[list[tuple[Any, ...]], list[str]]:
    names, types = _columns(model, "duckdb")
    sql = model.to_sql(_TABLE, "duckdb", keep=names[:1])
    with optional("duckdb").connect() as connection:
        connection.execute(_create(names, types))
        lists = [list(range(n_rows)), *(rows[name] for name in names[1:])]
        unnested = ", ".join(f"unnest(CAST(? AS {kind}[]))" for kind in types)
        connection.execute(f"INSERT INTO {quoted_name(_TABLE)} SELECT {unnested}", lists)
        return sorted(connection.execute(sql).fetchall()), []


def _run_sqlite(
    model: RuleModel, rows: Rows, n_rows: int
) -> tuple[list[tuple[Any, ...]], list[str]]:
    names, types = _columns(model, "sqlite")
    sql = model.to_sql(_TABLE, "sqlite", keep=names[:1])
    connection = sqlite3.connect(":memory:")
    try:
        notes = _provide_exp(connection)
        connection.execute(_create(names, types))
        places = ", ".join("?" * len(names))
        lines = zip(range(n_rows), *(rows[name] for name in names[1:]), strict=True)
        connection.executemany(f"INSERT INTO {quoted_name(_TABLE)} VALUES ({places})", lines)
        return sorted(connection.execute(sql).fetchall()), notes
    finally:
        connection.close()


_RUNNERS: dict[str, Callable[..., tuple[list[tuple[Any, ...]], list[str]]]] = {
    "duckdb": _run_duckdb,
    "sqlite": _run_sqlite,
}


def _provide_exp(connection: sqlite3.Connection) -> list[str]:
    try:
        connection.execute("SELECT EXP(1.0)")
    except sqlite3.OperationalError:
        connection.create_function("exp", 1, math.exp, deterministic=True)
        return ["sqlite here lacks exp() (compiled without math functions): Python's was used"]
    return []


def _columns(model: RuleModel, dialect: str) -> tuple[list[str], list[str]]:
    """Give names and types of the table: a row number and the columns that the rules use."""
    row_name = "row"
    while row_name in {name.lower() for name in model.columns}:
        row_name += "_"
    types = [_TYPES[dialect][_value_type(model.schema[name])] for name in model.columns]
    return [row_name, *model.columns], ["INTEGER", *types]


def _value_type(column: ColumnSchema) -> str:
    return "number" if column.kind == "numeric" else column.label_type


def _create(names: Sequence[str], types: Sequence[str]) -> str:
    columns = [f"{quoted_name(name)} {kind}" for name, kind in zip(names, types, strict=True)]
    return f"CREATE TABLE {quoted_name(_TABLE)} ({', '.join(columns)})"
