"""Generators of rules: on single columns, from given formulas, and from functions.

A generator is a frozen object that creates rules from columns in a fixed order, without looking at
labels. `id` names its rules for later generators, `limit` is its maximum number of rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

import numpy as np

from rulewright.encoding import PackedCovers, SignedCovers, equal_frequency_cuts
from rulewright.rules import Condition, Conjunction, Formula, Labels, Presence, Range, parse_formula
from rulewright.search.options import check_whole
from rulewright.search.repository.blocks import BiasError, RuleBlock, Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rulewright.data import Column, Table

BLOCK = 256
"""Maximum number of rules generated at once; others wait until they are requested."""


class Generator(Protocol):
    """A source of rules."""

    simple: ClassVar[bool]
    """Whether `Combine` uses its rules by default."""

    @property
    def id(self) -> str:
        """Name of its rules for later generators."""

    @property
    def limit(self) -> int | None:
        """Maximum number of rules."""

    @property
    def looks_at_rows(self) -> bool:
        """Whether its rules depend on the values of the rows."""

    def blocks(self, sources: Sources) -> Iterator[RuleBlock]:
        """Generate the rules, block by block."""


def where(generator: Generator) -> str:
    """Name a generator in errors."""
    name = type(generator).__name__
    return f"{name} {generator.id!r}" if generator.id else name


@dataclass(frozen=True)
class Base:
    """One rule per label or interval: ``a = v``, ``low < x <= high``.

    A column with fewer than two known values makes no rules.

    Parameters
    ----------
    columns : sequence of str, optional
        The columns, in this order; by default all.
    n_bins : int
        Maximum number of intervals per numeric column, with about equally many rows.
    kind : {"any", "nominal", "numeric"}
        Columns of other kinds are an error if named, and are skipped otherwise.
    only : sequence of int, optional
        Intervals of a numeric column to use, from 1 to `n_bins`; by default all.
    id : str
        Name of its rules for later generators.
    limit : int, optional
        Maximum number of rules.
    """

    columns: Sequence[str] | None = None
    n_bins: int = 4
    kind: Literal["any", "nominal", "numeric"] = "any"
    id: str = ""
    limit: int | None = None
    only: Sequence[int] | None = None

    simple: ClassVar[bool] = True
    looks_at_rows: ClassVar[bool] = True  # for the labels that occur, and the cuts

    def __post_init__(self) -> None:
        check_generator(self)
        check_whole(f"{where(self)}: n_bins", self.n_bins, 2)
        if self.kind not in ("any", "nominal", "numeric"):
            raise BiasError(where(self), f"kind={self.kind!r} must be any, nominal or numeric")
        if self.only is not None:
            object.__setattr__(self, "only", tuple(self.only))
            if wrong := [i for i in self.only if not 1 <= i <= self.n_bins]:
                raise BiasError(
                    where(self), f"bin {wrong[0]} of {self.n_bins}: bins go from 1 to {self.n_bins}"
                )

    def blocks(self, sources: Sources) -> Iterator[RuleBlock]:
        """Generate the rules of one column after another."""
        for place in sources.columns(self.columns, where(self)):
            column, made = sources.table.columns[place], sources.making.columns[place]
            if not self._takes(column):
                continue
            conditions = _domain(made, equal_frequency_cuts(made, self.n_bins, sources.weights))
            if self.only is not None and column.schema.type.ordered:
                conditions = [conditions[i - 1] for i in self.only if i <= len(conditions)]
            for start in range(0, len(conditions), BLOCK):
                yield _column_block(conditions[start : start + BLOCK], column)

    def _takes(self, column: Column) -> bool:
        ordered = column.schema.type.ordered
        if self.kind == "any" or ordered == (self.kind == "numeric"):
            return True
        if self.columns is not None:
            found = column.schema.kind
            raise BiasError(
                where(self),
                f"column {column.schema.name!r} is {found}, not {self.kind}; use "
                f"{'bins' if ordered else 'values'} for it",
            )
        return False


def _domain(column: Column, cuts: Sequence[float]) -> list[Condition]:
    """Return the labels that occur, or the intervals; none unless there are two."""
    name, kind = column.schema.name, column.schema.kind
    if not column.schema.type.ordered:
        found = np.unique(column.values[column.values >= 0]).tolist()
        values: list[Condition] = [Labels(name, (column.schema.labels[i],)) for i in found]
        return values if len(values) > 1 else []
    if not cuts:
        return []
    ends = pairwise([-np.inf, *cuts, np.inf])
    return [Range(name, low, high, low_open=low > -np.inf, kind=kind) for low, high in ends]


def _column_block(conditions: Sequence[Condition], column: Column) -> RuleBlock:
    """Evaluate conditions on one column; they are false for known values that do not match."""
    index, known = column.schema.label_index, PackedCovers.pack(~column.is_missing[np.newaxis])
    # Comparing codes is much faster than testing every label of a long list.
    lines = (
        column.values == index[condition.labels[0]]
        if isinstance(condition, Labels)
        else condition.holds(column)
        for condition in conditions
    )
    holds = PackedCovers.pack_lines(lines, len(column))
    bodies = [Conjunction((condition,)) for condition in conditions]
    return RuleBlock(SignedCovers(holds, known & ~holds), bodies.__getitem__)


@dataclass(frozen=True)
class Missing:
    """One rule ``a is missing`` per column with missing values.

    Parameters
    ----------
    columns : sequence of str, optional
        The columns, in this order; by default all.
    id : str
        Name of its rules for later generators.
    limit : int, optional
        Maximum number of rules.
    """

    columns: Sequence[str] | None = None
    id: str = ""
    limit: int | None = None

    simple: ClassVar[bool] = True
    looks_at_rows: ClassVar[bool] = True  # for missing values

    def __post_init__(self) -> None:
        check_generator(self)

    def blocks(self, sources: Sources) -> Iterator[RuleBlock]:
        """Generate the rule of each column with missing values."""
        places = sources.columns(self.columns, where(self))
        columns = [sources.making.columns[place] for place in places]
        gaps = [column.schema.name for column in columns if column.is_missing.any()]
        bodies = [Conjunction((Presence(name, True),)) for name in gaps]
        yield RuleBlock.of(bodies, sources.table)


@dataclass(frozen=True)
class Formulas:
    """Given rules, in their order.

    Parameters
    ----------
    bodies : sequence of str or Formula
        Formulas, as objects or texts such as ``"age >= 30 and not color = red"``.
    id : str
        Name of its rules for later generators.
    limit : int, optional
        Maximum number of rules.
    """

    bodies: Sequence[str | Formula]
    id: str = ""
    limit: int | None = None

    simple: ClassVar[bool] = True
    looks_at_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_generator(self)
        if isinstance(self.bodies, str):
            raise BiasError(where(self), "bodies must be a list of formulas, not one text")
        object.__setattr__(self, "bodies", tuple(read_formula(b, where(self)) for b in self.bodies))

    def blocks(self, sources: Sources) -> Iterator[RuleBlock]:
        """Evaluate the formulas."""
        yield from checked_blocks(self.bodies, sources, where(self))


@dataclass(frozen=True)
class FromFunction:
    """Rules that a function creates from the table, without its classes.

    Parameters
    ----------
    function : callable
        Takes a `Table` and yields formulas or their texts in prior order; it is resumed when more
        are needed. It sees the rows that intervals are cut on.
    id : str
        Name of its rules for later generators.
    limit : int, optional
        Maximum number of rules.
    """

    function: Callable[[Table], Iterable[str | Formula]]
    id: str = ""
    limit: int | None = None

    simple: ClassVar[bool] = True
    looks_at_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_generator(self)
        if not callable(self.function):
            raise BiasError(where(self), f"function={self.function!r} must be callable")

    def blocks(self, sources: Sources) -> Iterator[RuleBlock]:
        """Call the function and evaluate its formulas one by one."""
        bare = replace(sources.making, target=None, weights=None)
        yield from checked_blocks(self.function(bare), sources, where(self), size=1)


def check_generator(generator: Generator) -> None:
    """Reject an invalid id, limit or list of columns."""
    if not isinstance(generator.id, str):
        raise BiasError(type(generator).__name__, f"id={generator.id!r} must be a string")
    if generator.limit is not None:
        check_whole(f"{where(generator)}: limit", generator.limit, 1)
    names = getattr(generator, "columns", None)
    if names is not None:
        names = (names,) if isinstance(names, str) else tuple(names)
        object.__setattr__(generator, "columns", names)


def read_formula(body: str | Formula, at: str) -> Formula:
    """Return a formula, or parse its text."""
    if not isinstance(body, str):
        return body
    try:
        return parse_formula(body)
    except ValueError as error:
        raise BiasError(at, f"cannot parse the rule {body!r}: {error}") from None


def checked_blocks(
    bodies: Iterable[str | Formula], sources: Sources, at: str, size: int = BLOCK
) -> Iterator[RuleBlock]:
    """Check that formulas fit the columns, and evaluate a few at a time."""
    schema, waiting = sources.table.schema, []
    for given in bodies:
        body = read_formula(given, at)
        try:
            for condition in body.conditions:
                sources.columns([condition.column], at)
                condition.check(schema[condition.column])
        except BiasError:
            raise
        except ValueError as error:
            raise BiasError(at, f"the rule '{body}': {error}") from None
        waiting.append(body)
        if len(waiting) == size:
            yield RuleBlock.of(waiting, sources.table)
            waiting = []
    if waiting:
        yield RuleBlock.of(waiting, sources.table)
