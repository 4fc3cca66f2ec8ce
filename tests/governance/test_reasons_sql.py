"""Reasons in SQL: databases return the codes that Python states."""

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
import sqlglot

from budget import n_examples
from governance.problems import SCHEMA, model
from governance.test_reasons import rows
from rulewright.data import read_like
from rulewright.governance import ReasonCode, reasons, reasons_sql
from rulewright.model import AdditiveRules, RegressionRules
from rulewright.programs import DIALECTS

pytestmark = pytest.mark.native
CODES = [ReasonCode("A'1", "Age", ["age"]), ReasonCode("I", "Money", ["income", "spare"])]


def expected(drawn, table, codes, options):
    """Return the codes, or columns, of the stated reasons."""
    return [
        [one.code or ", ".join(one.columns) or "a rule for all rows" for one in stated]
        for stated in reasons(drawn, table, top=3, codes=codes, **options)
    ]


def answers(query, frame, database):
    """Run a query and return the reasons of each row without empty ones."""
    if database == "duckdb":
        with duckdb.connect() as connection:
            connection.register("data", frame)
            found = connection.execute(query).fetchdf()
    else:
        connection = sqlite3.connect(":memory:")
        connection.create_function("exp", 1, np.exp)
        frame.to_sql("data", connection, index=False)
        found = pd.read_sql(query, connection)
    assert found.columns[0] == "spare"
    return [
        [value for value in row if isinstance(value, str)]
        for row in found[["reason_1", "reason_2", "reason_3"]].to_numpy(object).tolist()
    ]


@pytest.mark.parametrize("seed", range(n_examples(60)))
def test_databases_return_the_stated_codes(seed):
    """DuckDB and SQLite give the codes of `reasons` on random models and rows."""
    rng = np.random.default_rng(seed)
    drawn = model(rng).with_summary(
        {"total_weight": float(rng.integers(0, 3)), "class_shares": [0.6, 0.4]}
    )
    regression = isinstance(drawn, RegressionRules)
    if not (regression or (isinstance(drawn, AdditiveRules) and len(drawn.classes) == 2)):
        return
    data = rows(rng, 40)
    options = {"favourable": "high" if regression else str(rng.choice(drawn.classes))}
    options |= {"cutoff": 1.0} if regression else {}
    codes = CODES if seed % 2 else []
    wanted = expected(drawn, read_like(data, SCHEMA), codes, options)
    frame = pd.DataFrame(data)
    for database in ("duckdb", "sqlite"):
        own = frame.assign(since=pd.to_datetime(frame["since"])) if database == "duckdb" else frame
        query = reasons_sql(drawn, dialect=database, keep=["spare"], top=3, codes=codes, **options)
        assert answers(query, own, database) == wanted, seed


def test_other_dialects_are_valid():
    """A parser reads the query in every dialect but one, which is refused."""
    rng = np.random.default_rng(1)
    drawn = next(
        one for one in (model(rng) for _ in range(99))
        if isinstance(one, AdditiveRules) and len(one.classes) == 2
    )  # fmt: skip
    options = {"favourable": str(drawn.classes[0]), "codes": CODES}
    for name, dialect in DIALECTS.items():
        if name == "sqlserver":
            with pytest.raises(ValueError, match="sqlserver"):
                reasons_sql(drawn, dialect=name, **options)
        else:
            assert sqlglot.parse_one(
                reasons_sql(drawn, dialect=name, **options), read=dialect.parser
            )


def test_what_sql_cannot_state_is_refused():
    """More classes, other forms, and regression without a side are named."""
    rng = np.random.default_rng(2)
    three = next(
        one for one in (model(rng) for _ in range(99))
        if not isinstance(one, RegressionRules) and len(one.classes) == 3
    )  # fmt: skip
    with pytest.raises(ValueError, match="two classes"):
        reasons_sql(three, favourable=three.classes[0])
    drawn = next(one for one in (model(rng) for _ in range(99)) if isinstance(one, RegressionRules))
    with pytest.raises(ValueError, match="'high' or 'low'"):
        reasons_sql(drawn, favourable=None)
