"""FOIL's bindings and gains in plain Python, by trying all combinations of rows."""

import math
from itertools import product

SIGNS = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
}


def compare(one, op, other):
    """Compare two values, of which a missing one fits nothing."""
    return one is not None and other is not None and SIGNS[op](one, other)


def visible(row, instance, time, cutoff):
    """Tell whether a row happened before the cutoff."""
    return time is None or cutoff is None or compare(row[time], "<", instance[cutoff])


def bindings(clause, instance, tables, times, cutoff):
    """Give all tuples of rows that a clause allows for an instance, the instance first."""
    found = []
    for rows in product(*(tables[row.table] for row in clause.rows)):
        bound = (instance, *rows)
        if all(
            _fits(row, bound[at], bound, instance, times, cutoff)
            for at, row in enumerate(clause.rows, 1)
        ) and _holds(clause, bound, tables, times, cutoff):
            found.append(bound)
    return found


def _fits(row, own, bound, instance, times, cutoff):
    keys = all(compare(own[k.column], k.op, bound[k.of][k.here]) for k in row.keys)
    return keys and visible(own, instance, times.get(row.table), cutoff)


def _holds(clause, bound, tables, times, cutoff):
    tests = all(compare(bound[at][w.column], w.op, w.value) for at, w in clause.tests)
    tests &= all(
        compare(bound[c.one][c.column], c.op, bound[c.other][c.column]) for c in clause.compared
    )
    nothing = not any(
        _fits(row, own, bound, bound[0], times, cutoff)
        for row in clause.absent
        for own in tables[row.table]
    )
    return tests and nothing


def gain(before, after, positive):
    """Give FOIL's gain from the bindings of each instance before and after a literal.

    A binding before the literal is extended by those that begin with its rows.
    """

    def counts(found):
        p = sum(len(b) for b, yes in zip(found, positive, strict=True) if yes)
        return p, sum(map(len, found)) - p

    (p0, n0), (p1, n1) = counts(before), counts(after)
    if p1 == 0:
        return -math.inf
    extended = 0
    for old, new, yes in zip(before, after, positive, strict=True):
        starts = {tuple(map(id, b[: len(old[0])])) for b in new} if old else set()
        extended += sum(tuple(map(id, b)) in starts for b in old) if yes else 0
    return extended * (math.log2(p1 / (p1 + n1)) - math.log2(p0 / (p0 + n0)))
