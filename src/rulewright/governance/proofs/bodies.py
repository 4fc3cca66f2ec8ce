"""Bodies of rules on boxes of cells: where they surely apply, and where they possibly do.

A body is a conjunction of tests, by their numbers, or a junction ("and", "or") of bodies. A test is
a mask over the values of one variable; the opposite of a condition is a test of its own, true where
the condition is known to be false, so bodies need no "not".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from rulewright.governance.proofs.spaces import masks_of
from rulewright.rules import And, Conjunction, Not, Or, Presence

if TYPE_CHECKING:
    from rulewright.governance.proofs.spaces import Space
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.rules import Condition, Formula

Body: TypeAlias = "tuple[int, ...] | Junction"
"""Tests that must all be true, or a junction."""


class Junction(NamedTuple):
    """Bodies of which all or one must apply."""

    is_and: bool
    parts: tuple[Any, ...]


class Test(NamedTuple):
    """A mask over the values of a variable, and where it comes from.

    `splits` are the tests of conditions that it is made of: only those divide boxes.
    """

    variable: int
    mask: BoolArray
    condition: Condition | None
    row: str
    splits: tuple[int, ...]


class Tests:
    """All tests of a claim, each once."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.list: list[Test] = []
        self._known: dict[tuple[int, bytes], int] = {}

    def body(self, formula: Formula, row: str, *, negated: bool = False) -> Body:
        """Return the body of a formula in a row; negated: where it is known to be false."""
        if isinstance(formula, Not):
            return self.body(formula.part, row, negated=not negated)
        if isinstance(formula, And | Or):
            parts = tuple(self.body(part, row, negated=negated) for part in formula.parts)
            return Junction(isinstance(formula, And) != negated, parts)
        assert isinstance(formula, Conjunction)
        tests = tuple(self.test(c, row, negated=negated) for c in formula.conditions)
        if negated and len(tests) != 1:
            return Junction(False, tuple((test,) for test in tests))
        return tests

    def test(self, condition: Condition, row: str, *, negated: bool = False) -> int:
        """Return the test of a condition, or of its opposite."""
        v, true, false = masks_of(self.space, condition, row)
        own = self._add(Test(v, true, condition, row, ()))
        if not negated:
            return own
        missing = self.test(Presence(condition.column, True), row)
        return self._add(Test(v, false, None, row, (own, missing)))

    def only(self, one: int, other: int) -> int:
        """Return the test that is true where the first test is true and the second is not."""
        first, second = self.list[one], self.list[other]
        splits = tuple(s for test in (one, other) for s in self.list[test].splits or (test,))
        return self._add(Test(first.variable, first.mask & ~second.mask, None, "", splits))

    def _add(self, test: Test) -> int:
        key = test.variable, test.mask.tobytes()
        known = self._known.setdefault(key, len(self.list))
        if known == len(self.list):
            self.list.append(test)
        elif test.condition is not None and self.list[known].condition is None:
            self.list[known] = test
        return known


@dataclass(frozen=True, eq=False)
class Answers:
    """What is known of tests on boxes: arrays of shape (boxes, tests)."""

    possible: BoolArray
    sure: BoolArray

    def of(self, body: Body) -> tuple[BoolArray, BoolArray]:
        """Return on which boxes a body possibly and surely applies."""
        if isinstance(body, Junction):
            join = np.logical_and if body.is_and else np.logical_or
            start = np.full(len(self.possible), body.is_and)
            told = [self.of(part) for part in body.parts]
            return (
                reduce(join, (possible for possible, _ in told), start),
                reduce(join, (sure for _, sure in told), start),
            )
        tests = list(body)
        possible, sure = self.possible[:, tests], self.sure[:, tests]
        return np.asarray(possible.all(axis=1)), np.asarray(sure.all(axis=1))


class Grid:
    """The tests of a claim as matrices over all values of all variables."""

    def __init__(self, tests: Tests) -> None:
        space = tests.space
        self.starts, self.tests = space.starts, tests.list
        self.variables = np.array([test.variable for test in self.tests], dtype=np.intp)
        self.masks = np.zeros((len(self.tests), int(self.starts[-1])), dtype=np.float32)
        for q, test in enumerate(self.tests):
            self.masks[q, self.cells(test.variable)] = test.mask
        splits = [[q] if test.condition else [*test.splits] for q, test in enumerate(self.tests)]
        self.splits = np.zeros((len(self.tests),) * 2, dtype=np.float32)
        for q, own in enumerate(splits):
            self.splits[q, own] = 1.0

    def cells(self, variable: int) -> slice:
        """Return where the values of a variable are."""
        return slice(int(self.starts[variable]), int(self.starts[variable + 1]))

    def answers(self, boxes: BoolArray) -> Answers:
        """Evaluate all tests on boxes, an array of shape (boxes, values)."""
        counts = boxes.astype(np.float32) @ self.masks.T
        sizes = np.add.reduceat(boxes, self.starts[:-1], axis=1, dtype=np.float32)
        return Answers(counts > 0, counts == sizes[:, self.variables])

    def largest(self, boxes: BoolArray, worth: FloatArray) -> tuple[FloatArray, Any]:
        """Return the sum over the variables of the largest worth of a value, and these values."""
        held = np.where(boxes, worth, -np.inf)
        total, places = np.zeros(len(boxes)), []
        for v in range(len(self.starts) - 1):
            part = held[:, self.cells(v)]
            places.append(part.argmax(axis=1))
            total += part[np.arange(len(part)), places[-1]]
        return total, np.array(places, dtype=np.intp).T.reshape(len(boxes), -1)

    def divide(self, box: BoolArray, test: int) -> tuple[BoolArray, BoolArray]:
        """Return the parts of a box where a test is true and where it is not."""
        own = self.cells(int(self.variables[test]))
        parts = box.copy(), box.copy()
        mask = self.masks[test, own] > 0
        parts[0][own] &= mask
        parts[1][own] &= ~mask
        return parts


def tests_of(body: Body) -> list[int]:
    """Return all tests of a body."""
    if isinstance(body, Junction):
        return [test for part in body.parts for test in tests_of(part)]
    return [*body]
