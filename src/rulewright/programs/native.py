"""Programs evaluated for many rows with NumPy and the native kernels."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright import kernels
from rulewright.encoding import unpack_words
from rulewright.programs import nodes
from rulewright.programs.covers import Coder, Covers, combine_bits
from rulewright.programs.nearest import Lookup, Nearest
from rulewright.programs.program import Program, order_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.programs.covers import Bits, Joint
    from rulewright.rules import Formula

    _Schedule = tuple[dict[nodes.Node, Any], list[tuple[nodes.Node, list[nodes.Node]]]]

# Up to so many classes are compared column by column.
_FEW_CLASSES = 16

# So many words of covers are added up at a time that the sums stay in the cache.
_BLOCK = 512

_ARITHMETIC = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "min": np.minimum,
}
_REDUCED = {"total": np.add, "largest": np.maximum, "smallest": np.minimum}
_TESTS = {"==": np.equal, "<": np.less, "<=": np.less_equal, "and": np.logical_and}


# So many rows are evaluated at a time that their codes and values stay in the cache.
_PART = 65_536


@dataclass(frozen=True, eq=False)
class ProgramRows:
    """The rows of a table; codes and compiled formulas are computed on first use."""

    native: Native
    table: Table
    n_threads: int

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def codes(self) -> NDArray[np.uint16]:
        """The codes of the columns that the formulas use."""
        return self.native.coder.codes(self.table, self.n_threads)

    def covers(self, node: nodes.Node | None = None) -> NDArray[np.bool_]:
        """Return which rule, or formula of a node, holds on which row, as (rows, rules)."""
        covers = self.native.rules if node is None else self.native.covers(node)
        return covers.matrix(self.codes, self.n_threads)

    def bits(self) -> Bits:
        """Return the packed rows that each rule holds on, as an array of shape (rules, words)."""
        return self.native.rules.bits(self.codes, self.n_threads)

    def value(self, node: nodes.Node) -> NDArray[Any]:
        """Evaluate a value of the program on every row."""
        if len(self) <= _PART or "codes" in vars(self):
            return np.asarray(_evaluate(node, {}, self))
        return _by_parts(
            len(self), lambda part: replace(self, table=self.table.part(part)).value(node)
        )


class Native:
    """A program compiled for evaluation, and the bodies of the rules (`ProgramRows.covers`)."""

    def __init__(self, program: Program, bodies: Sequence[Formula] = ()) -> None:
        self.program, self.bodies = program, tuple(bodies)
        self._covers: dict[nodes.Node, Covers] = {}

    def rows(self, table: Table, n_threads: int | None = None) -> ProgramRows:
        """Return the rows of a table to evaluate."""
        threads = kernels.usable_cpus() if n_threads is None else n_threads
        return ProgramRows(self, table, threads)

    @cached_property
    def rules(self) -> Covers:
        """The compiled bodies of the rules."""
        same = next((n for n in self.program.nodes if n.bodies == self.bodies), None)
        return self.coder.compile(self.bodies) if same is None else self.covers(same)

    def covers(self, node: nodes.Node) -> Covers:
        """Return the compiled formulas of a node."""
        if node not in self._covers:
            self._covers[node] = self.coder.compile(node.bodies)
        return self._covers[node]

    @cached_property
    def coder(self) -> Coder:
        """What codes the columns of tables."""
        return Coder([*self.program.bodies, *self.bodies], self.program.schema)


def evaluate_node(
    node: nodes.Node, given: Mapping[nodes.Node, NDArray[np.float64]]
) -> NDArray[Any]:
    """Evaluate a value from others that are given, such as the scores."""
    n_rows = len(next(iter(given.values())))
    if n_rows <= _PART:
        return np.asarray(_evaluate(node, given, None))
    return _by_parts(
        n_rows, lambda part: evaluate_node(node, {known: v[part] for known, v in given.items()})
    )


def _by_parts(n_rows: int, values: Callable[[slice], NDArray[Any]]) -> NDArray[Any]:
    """Put the values of consecutive rows together."""
    found: NDArray[Any] | None = None
    for begin in range(0, n_rows, _PART):
        part = slice(begin, begin + _PART)
        some = values(part)
        if found is None:
            found = np.empty((n_rows, *some.shape[1:]), dtype=some.dtype)
        found[part] = some
    assert found is not None
    return found


def _evaluate(
    root: nodes.Node, given: Mapping[nodes.Node, NDArray[np.float64]], rows: ProgramRows | None
) -> NDArray[Any]:
    """Compute the nodes one by one; an array that no later step reads may be overwritten."""
    constants, steps = _schedule(root, frozenset(given))
    known: dict[nodes.Node, Any] = {**constants, **given}
    for node, last_reads in steps:
        values = [known[child] for child in node.children]
        free = [known.pop(child) for child in last_reads]
        known[node] = _APPLY[type(node)](node, values, free, rows)
    n_rows = len(rows) if rows is not None else len(next(iter(given.values())))
    answer = known[root]
    if root.is_vector:
        return answer if np.ndim(answer) == 2 else np.tile(answer, (n_rows, 1))
    return np.broadcast_to(answer, (n_rows, 1))[:, 0]


def _schedule(root: nodes.Node, given: frozenset[nodes.Node]) -> _Schedule:
    """Return the constants, and the nodes in order with the children that each is the last to read.

    It is kept with the root, because predicting few rows takes less time than planning.
    """
    if given not in root.schedules:
        needed = [node for node in order_nodes([root], given) if node not in given]
        constants = {
            node: np.array(node.values) if node.is_vector else node.values
            for node in needed
            if isinstance(node, nodes.Constant)
        }
        last = {child: node for node in needed for child in node.children}
        kept = last.keys() - given - constants.keys()
        steps = [
            (node, [child for child in set(node.children) & kept if last[child] is node])
            for node in needed
            if node not in constants
        ]
        root.schedules[given] = constants, steps
    schedule: _Schedule = root.schedules[given]
    return schedule


def _where(node: nodes.Where, values: Sequence[Any], *_: Any) -> NDArray[Any]:
    return np.asarray(np.where(*values))


def _line(
    node: nodes.LineValue, _values: Any, _free: Any, rows: ProgramRows
) -> NDArray[np.float64]:
    return nodes.line_values(node, rows.table[node.column].values)[:, np.newaxis]


def _nearest(node: Nearest, _values: Any, _free: Any, rows: ProgramRows) -> NDArray[np.intp]:
    return node.evaluate(rows.table, rows.n_threads)[0].astype(np.intp)[:, np.newaxis]


def _lookup(node: Lookup, values: Sequence[Any], *_: Any) -> NDArray[np.float64]:
    return np.asarray(node.array[values[0][:, 0]])


def _exp(
    node: nodes.Exp, values: Sequence[Any], free: Sequence[Any], _: Any
) -> NDArray[np.float64]:
    return np.asarray(np.exp(values[0], out=free[0] if free else None))


def _choose(node: nodes.Choose, values: Sequence[Any], *_: Any) -> NDArray[np.intp]:
    order = np.array(node.order, dtype=np.intp)
    return np.asarray(order[np.argmax(values[0][:, order], axis=1)][:, np.newaxis])


def _reduce(node: nodes.Reduce, children: Sequence[Any], *_: Any) -> NDArray[np.float64]:
    values, join = children[0], _REDUCED[node.how]
    # Of few columns NumPy reduces a row at a time, which is slow.
    if not 1 < values.shape[1] <= _FEW_CLASSES:
        return np.asarray(join.reduce(values, axis=1, keepdims=True))
    return np.asarray(functools.reduce(join, values.T)[:, np.newaxis])


def _binary(node: nodes.Binary, values: Sequence[Any], free: Sequence[Any], _: Any) -> Any:
    left, right = values
    if node.sign in _TESTS:
        return _TESTS[node.sign](left, right)
    width = max(np.shape(value)[-1] if np.ndim(value) else 1 for value in values)
    fitting = (a for a in free if a.shape[-1] == width and a.ndim == 2 and a.dtype == np.float64)
    return _ARITHMETIC[node.sign](left, right, out=next(fitting, None))


def _mix(node: nodes.Mix, children: Sequence[Any], *_: Any) -> NDArray[np.float64]:
    values: NDArray[np.float64] = children[0]
    sums = np.zeros_like(values)
    for k, row in enumerate(node.matrix):
        sums += values[:, k, None] * np.array(row)
    return sums


def _steps(node: nodes.Steps, children: Sequence[Any], *_: Any) -> NDArray[np.float64]:
    values: NDArray[np.float64] = children[0]
    found = np.empty_like(values)
    for k, (thresholds, heights) in enumerate(node.tables):
        found[:, k] = np.array(heights)[np.searchsorted(thresholds, values[:, k], side="left")]
    return found


def _fold(
    node: nodes.TermFold, children: Sequence[Any], free: Sequence[Any], rows: ProgramRows
) -> NDArray[np.float64]:
    """Change start values by the terms that hold, in blocks of packed covers."""
    starts, covers = np.atleast_1d(children[0]), rows.native.covers(node)
    rules, joints = covers.rules, covers.joints
    if isinstance(node, nodes.TermSums) and joints is None:
        return kernels.rule_scores(rows.codes, rules, *node.arrays, starts, rows.n_threads)
    bits = kernels.rule_bits(rows.codes, rules, rows.n_threads)
    changes = list(_changes(node, range(len(bits)) if joints is None else joints))
    found = np.empty((len(rows), len(starts)))
    for word in range(0, bits.shape[1], _BLOCK):
        block = bits[:, word : word + _BLOCK]
        values = np.repeat(starts[:, np.newaxis], 64 * block.shape[1], axis=1)
        for joint, classes, amount in changes:
            holds = unpack_words(combine_bits(block, joint))
            if isinstance(node, nodes.TermSums):
                values[classes] += amount * holds.view(np.uint8)  # faster than of truth values
            elif isinstance(node, nodes.Maxima):
                np.maximum(values[classes], amount, out=values[classes], where=holds)
            else:
                values[:, holds] = amount
        part = found[64 * word : 64 * (word + _BLOCK)]
        part[...] = values[:, : len(part)].T
    return found


def _changes(node: nodes.TermFold, joints: Sequence[Joint]) -> Iterator[tuple[Joint, slice, Any]]:
    """Return the joint, the classes and the amount of each change, in the order they are made."""
    if isinstance(node, nodes.FirstThat):  # the first overwrites all that come after it
        for joint, (_, values) in zip(reversed(joints), reversed(node.terms), strict=True):
            yield joint, slice(None), np.array(values)[:, np.newaxis]
        return
    for joint, (_, head, amount) in zip(joints, node.terms, strict=True):
        yield joint, head.classes, amount


_APPLY: dict[type[nodes.Node], Callable[..., Any]] = {
    nodes.Binary: _binary,
    nodes.Choose: _choose,
    nodes.Exp: _exp,
    nodes.FirstThat: _fold,
    nodes.LineValue: _line,
    Lookup: _lookup,
    nodes.Maxima: _fold,
    nodes.Mix: _mix,
    Nearest: _nearest,
    nodes.Reduce: _reduce,
    nodes.Steps: _steps,
    nodes.TermSums: _fold,
    nodes.Where: _where,
}
"""How each node is computed from the values of its children, arrays to overwrite, and the rows."""
