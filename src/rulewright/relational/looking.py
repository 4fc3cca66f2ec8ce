"""What training instances see of related tables: frequent labels, quantiles, digits.

All of it is counted on the rows that these instances reach before their cutoffs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rulewright.data.short import short_between
from rulewright.relational.aggregates import DIGITS, Aggregates, factor_of
from rulewright.relational.deriving import ROW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.data import ColumnSchema, Recipe
    from rulewright.relational.paths import Path
    from rulewright.relational.statements import Statements


@dataclass(frozen=True)
class Numbers:
    """What is known of a numeric column along a path."""

    factor: float
    thresholds: tuple[float, ...]


@dataclass(frozen=True)
class Seen:
    """What training instances see along a path."""

    path: Path
    to_one: bool
    numbers: Mapping[str, Numbers]
    labels: Mapping[str, tuple[str, ...]]  # most frequent first


@dataclass(frozen=True)
class Limits:
    """How much is looked for: labels of at least some instances, and thresholds of numbers."""

    max_labels: int
    n_thresholds: int
    least: int


class Look:
    """Looks at the rows that training instances reach, along one path after the other."""

    def __init__(
        self, connection: Any, statements: Statements, draft: Recipe, limits: Limits
    ) -> None:
        self._connection, self._statements = connection, statements
        self._draft, self._limits = draft, limits

    def seen(self, path: Path, to_one: bool) -> Seen:
        """Tell what is seen along a path."""
        columns = self._draft[path[-1].table].columns
        numeric = [column.name for column in columns if column.kind == "numeric"]
        nominal = [column for column in columns if column.kind == "nominal"]
        labels = {column.name: self._labels(path, column) for column in nominal}
        return Seen(path, to_one, self._numbers(path, numeric), labels)

    def _labels(self, path: Path, column: ColumnSchema) -> tuple[str, ...]:
        """Return the labels that most instances see."""
        if self._limits.max_labels == 0:
            return ()
        x, rows = self._statements.value(path, column.name), self._statements.joined(path)
        found = self._connection.execute(
            f"SELECT {x}, COUNT(DISTINCT t0.{ROW}) {rows} WHERE {x} >= 0 GROUP BY {x}"
        ).fetchall()
        enough = [(code, count) for code, count in found if count >= self._limits.least]
        counted = sorted((-count, column.labels[code]) for code, count in enough)
        return tuple(label for _, label in counted[: self._limits.max_labels])

    def _numbers(self, path: Path, names: Sequence[str]) -> dict[str, Numbers]:
        if not names:
            return {}
        n, rows = self._limits.n_thresholds, self._statements.joined(path)
        shares = ", ".join(repr((i + 1) / (n + 1)) for i in range(n))
        parts = []
        for x in (self._statements.value(path, name) for name in names):
            quantiles = f"QUANTILE_DISC({x}, [{shares}])" if n else "[]"
            parts += [f"MAX(ABS({x}))", f"MIN({x})", quantiles, f"MAX({_digits(x)})"]
        (found,) = self._connection.execute(f"SELECT {', '.join(parts)} {rows}").fetchall()
        width = len(parts) // len(names)
        facts = {name: found[i * width : (i + 1) * width] for i, name in enumerate(names)}
        facts = {name: fact for name, fact in facts.items() if fact[0] is not None}
        cuts = {
            self._statements.value(path, name): _cuts(fact[2], fact[1])
            for name, fact in facts.items()
        }
        return {
            name: Numbers(factor_of(fact[0], fact[3]), thresholds)
            for (name, fact), thresholds in zip(
                facts.items(), self._shortened(rows, cuts), strict=True
            )
        }

    def _shortened(self, rows: str, cuts: Mapping[str, Sequence[float]]) -> list[tuple[float, ...]]:
        """Replace each value by the shortest number above the next smaller value."""
        pairs = [(x, cut) for x, found in cuts.items() for cut in found]
        if not pairs:
            return [() for _ in cuts]
        number = Aggregates("duckdb").number
        parts = [f"MAX({x}) FILTER (WHERE {x} < {number(cut)})" for x, cut in pairs]
        (below,) = self._connection.execute(f"SELECT {', '.join(parts)} {rows}").fetchall()
        short = {
            pair: short_between(low, math.nextafter(pair[1], math.inf))
            for pair, low in zip(pairs, below, strict=True)
        }
        return [tuple(short[x, cut] for cut in found) for x, found in cuts.items()]


def _cuts(quantiles: Sequence[float], smallest: float) -> list[float]:
    """Return the different quantiles that some value is below."""
    return sorted({cut for cut in quantiles if cut > smallest})


def _digits(x: str) -> str:
    """Write how many digits a decimal has after the point, one too many if there are more."""
    powers = ((digits, repr(10.0**digits)) for digits in range(DIGITS + 1))
    whens = (f"WHEN ROUND({x} * {p}) / {p} = {x} THEN {digits}" for digits, p in powers)
    return f"CASE WHEN {x} IS NULL THEN NULL {' '.join(whens)} ELSE {DIGITS + 1} END"
