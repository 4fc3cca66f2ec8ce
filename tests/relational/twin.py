"""Derived columns in plain Python, row by row: slow, and without a database."""

import math

DAY = 86_400_000.0


def derived(recipe, tables, instances, key="id"):
    """Give each derived column as a list: numbers, Booleans or labels, None if missing.

    Tables are dicts of lists; moments are numbers (milliseconds for dates).
    """
    rows = {name: rows_of(table) for name, table in tables.items()}
    return {
        column.name: [value_of(recipe, column, one, rows) for one in rows[instances]]
        for column in recipe.columns
    }


def rows_of(table):
    """Give the rows of a dict of lists."""
    return [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]


def reached(recipe, path, instance, rows):
    """Give the rows that a path reaches, each with its time."""
    cutoff = None if recipe.cutoff is None else instance[recipe.cutoff.name]
    found = [(instance, None)]
    for step in path:
        time = recipe[step.table].time
        after = []
        for before, moment in found:
            for row in rows[step.table]:
                if before[step.here] is None or row[step.there] != before[step.here]:
                    continue
                now = moment if time is None else row[time.name]
                seen = now is not None and cutoff is not None and now < cutoff
                if time is not None and recipe.cutoff is not None and not seen:
                    continue
                after.append((row, now))
        found = after
    return found, cutoff


def holds(where, row):
    """Tell whether a row passes a condition; a missing value never does."""
    value = row[where.column]
    if value is None:
        return False
    if where.op == "=":
        return value == where.value
    return value >= where.value if where.op == ">=" else value <= where.value


def value_of(recipe, column, instance, rows):
    """Compute a derived column for one instance."""
    found, cutoff = reached(recipe, column.path, instance, rows)
    if column.where is not None:
        found = [pair for pair in found if holds(column.where, pair[0])]
    unit = DAY if column.dated else 1.0
    if column.within is not None:
        found = [(row, time) for row, time in found if time >= cutoff - column.within * unit]
    if column.function == "count":
        return float(len(found))
    if column.function == "exists":
        return bool(found)
    if column.function == "recency":
        gaps = [cutoff - time for _, time in found]
        return min(gaps) / unit if gaps else None
    pairs = [(time, row[column.column]) for row, time in found if row[column.column] is not None]
    schema = recipe[column.table][column.column]
    if schema.kind == "nominal":
        known = {label: code for code, label in enumerate(schema.labels)}
        pairs = [(time, known.get(label, -2)) for time, label in pairs]
        code = AGGREGATES[column.function](pairs, column)
        return None if code is None else (*schema.labels, "(unseen)")[code if code >= 0 else -1]
    return AGGREGATES[column.function](pairs, column)


def whole(x, factor):
    """Give a value times a factor as a whole number."""
    if x >= 2**53 / factor:
        return 2**53
    if x <= -(2**53) / factor:
        return -(2**53)
    return 0 if abs(x) < 0.25 / factor else math.trunc(x * factor + math.copysign(0.5, x))


def total(pairs, column):
    """Add up values as whole numbers."""
    return float(sum(whole(x, column.factor) for _, x in pairs))


def last(pairs, column):
    """Give the value of the latest moment, of several the largest."""
    timed = [pair for pair in pairs if pair[0] is not None]
    return max(timed)[1] if timed else None


def middle(pairs, column):
    """Give the middle of the two middle values."""
    values = sorted(x for _, x in pairs)
    n = len(values)
    return values[(n - 1) // 2] * 0.5 + values[n // 2] * 0.5 if n else None


def deviation(pairs, column):
    """Give the standard deviation of a sample of whole numbers, clipped so that squares fit."""
    if len(pairs) < 2:
        return None
    if len({x for _, x in pairs}) == 1:
        return 0.0
    numbers = [max(-(2**26), min(2**26, whole(x, column.factor))) for _, x in pairs]
    first, second = float(sum(numbers)), float(sum(one * one for one in numbers))
    variance = (second - first / len(pairs) * first) / (len(pairs) - 1)
    return math.sqrt(max(variance, 0.0)) / column.factor


AGGREGATES = {
    "min": lambda pairs, column: min((x for _, x in pairs), default=None),
    "max": lambda pairs, column: max((x for _, x in pairs), default=None),
    "value": lambda pairs, column: max((x for _, x in pairs), default=None),
    "sum": lambda pairs, column: total(pairs, column) / column.factor if pairs else None,
    "mean": lambda pairs, column: (
        total(pairs, column) / len(pairs) / column.factor if pairs else None
    ),
    "median": middle,
    "stddev": deviation,
    "last": last,
}
