"""Odd dates: refused as by the model, or the same answer, in every place that reads them."""

from __future__ import annotations

import datetime
import sqlite3
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from attack.randoms import chance, pick
from rulewright.data import DataError, read_table
from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Coverage, Head, Rule, parse_conjunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from attack.attempts import Outcome
    from attack.randoms import Rng

_TRIES = 40
_YEARS = ("0000", "0001", "1969", "1970", "2024", "9999", "10000", "-001")
_ENDS = ("", "", "Z", " Z", "z", "+02:00", "-05:00", "+0200", "+99:00", "-24:00", "x", ".", "\n")
_UNITS = ("Y", "M", "D", "h", "s", "ms", "us", "ns")
_STAMPS = ("infinity", "-infinity", "20000-01-01", "0044-03-15 (BC)", "9999-12-31 23:59:59.9999")


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Draw dates as text for exports, as timestamps for SQL, and as arrays of any unit."""
    del folder
    for _ in range(_TRIES):
        text = _text(rng)
        yield _compared("python", text, _in_python, text)
        yield _compared("sqlite", text, _in_sqlite, text)
    for stamp in _STAMPS:
        yield _refused_or_near(stamp)
    for _ in range(_TRIES):
        number = rng.integers(-(2**62), 2**62) // 10 ** rng.integers(18)
        yield _read_exactly(np.array([number], f"M8[{pick(rng, _UNITS)}]"))


def _text(rng: Rng) -> str:
    """Draw text that is nearly a date."""
    day = (
        f"{pick(rng, _YEARS)}-{pick(rng, ('01', '02', '12', '13'))}-{pick(rng, ('01', '30', '31'))}"
    )
    if chance(rng, 0.2):
        return day + pick(rng, _ENDS)
    clock = pick(rng, ("00:00", "12:30", "23:59", "24:00", "12:60", "29:00", "1:00", "12"))
    seconds = pick(
        rng, ("", ":00", ":59", ":60", ":59.9999", ":00.", ":00.0009", ":00.1234567891", ",5")
    )
    return day + pick(rng, "T ") + clock + seconds + pick(rng, _ENDS)


@cache
def _model() -> AdditiveRules:
    """Make a model whose score is a step function of the day and of the time."""
    table = read_table({"d": [datetime.date(2024, 1, 1), datetime.date(1970, 1, 1)]}, target=[0, 1])
    ends = ("0001-01-02", "1970-01-01", "1970-01-01T00:00:00.001", "2024-02-01T12:30", "9999-12-31")
    rules = tuple(
        Rule(parse_conjunction(f"d >= {end}"), Adds(Head(1, 1), 2.0**at), Coverage.of((1.0, 1.0)))
        for at, end in enumerate(ends)
    )
    return AdditiveRules(table.schema, np.array([0, 1]), (0.0, 0.0), rules)


def _by_model(text: str) -> float:
    return float(_model().predict_proba({"d": np.array([text], object)})[0, 1])


@cache
def _exported() -> Callable[[dict[str, Any]], dict[int, float]]:
    space: dict[str, Any] = {}
    exec(_model().to_python(), space)
    predict: Callable[[dict[str, Any]], dict[int, float]] = space["predict_proba"]
    return predict


def _in_python(text: str) -> float:
    return _exported()({"d": text})[1]


def _in_sqlite(text: str) -> float:
    connection = sqlite3.connect(":memory:")
    connection.create_function("exp", 1, lambda x: float(np.exp(x)))
    connection.execute("CREATE TABLE t (d)")
    connection.execute("INSERT INTO t VALUES (?)", (text,))
    ((*_, one, _label),) = connection.execute(_model().to_sql("t", dialect="sqlite")).fetchall()
    return float(one)


def _compared(target: str, text: str, answer: Callable[[str], float], *given: str) -> Outcome:
    """Say how an export that answers differs from the model; it may refuse more."""
    try:
        found = answer(*given)
    except (ValueError, sqlite3.Error, duckdb.Error):
        return None
    try:
        right = _by_model(text)
    except DataError:
        return f"{target} takes {text!r}, which the model refuses"
    return (
        None if abs(found - right) < 1e-12 else f"{target} answers {found} to {text!r}, not {right}"
    )


def _refused_or_near(stamp: str) -> Outcome:
    """Give a timestamp of DuckDB to the SQL for it."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT TIMESTAMP '{stamp}' AS d")
        sql = _model().to_sql("t", dialect="duckdb")
        return _compared(
            "duckdb", stamp, lambda _: connection.execute(sql).fetchall()[0][-2], stamp
        )


def _read_exactly(values: Any) -> Outcome:
    """Read an array of dates: a wrong year would be an overflow."""
    try:
        (found,) = read_table({"d": values}).columns[0].values
    except DataError:
        return None
    year = int(values.astype("M8[Y]").astype(np.int64)[0]) + 1970
    read = int(np.array([found]).astype("M8[ms]").astype("M8[Y]").astype(np.int64)[0]) + 1970
    return (
        None
        if year == read or np.isnan(found)
        else f"the year {year} of {values!r} is read as {read}"
    )
