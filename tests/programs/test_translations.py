"""SQL for databases that are not at hand: its syntax, by a strict parser, and its translation."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from budget import examples
from model.builders import every_form, finite, strange_text
from programs.builders import tamper
from programs.commented import FORMS, three_rules
from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema, read_table
from rulewright.model import AdditiveRules
from rulewright.programs import DIALECTS, ParityError
from rulewright.programs import sql_syntax as syntax
from rulewright.programs.sql_syntax import parse_sql
from rulewright.programs.target import CannotRunError
from rulewright.rules import Conjunction, Labels, parse_conjunction

pytestmark = pytest.mark.native

ABSENT = ["snowflake", "bigquery", "sqlserver", "spark"]
FORBIDDEN = re.compile(r"""[!"$()*,./;?@\[\\\]^`{}~\n\r]""")
"""What names of BigQuery cannot hold."""
STRINGS = strange_text | st.text("\\\n\r' \"`", min_size=1, max_size=8)


@pytest.mark.parametrize("dialect", ABSENT)
@given(model=every_form())
@examples(20)
def test_every_form_is_parsed_and_translated(dialect, model):
    """Strange names, labels and thresholds make text that the parser reads as it was meant."""
    if dialect == "bigquery" and any(map(FORBIDDEN.search, [*model.columns, *model.class_names])):
        with pytest.raises(ValueError, match="BigQuery cannot hold the name"):
            model.to_sql(dialect=dialect)
        return
    report = model.verify_exports([dialect])
    assert (report.targets, report.translated) == ((), (dialect,))


@pytest.mark.parametrize("dialect", ABSENT)
def test_dates_are_translated(dialect):
    """Dates and date-times are compared to the millisecond; missing ones are missing."""
    moments = ["2024-03-01", "2024-03-01T12:30:15.250", None, "2023-12-31T23:59:59.999"] * 3
    schema = read_table({"day": np.array(moments, dtype="M8[ms]")}).schema
    texts = ("day >= 2024-03-01T12:30:15.250", "day <= 2024-03-01", "day is missing")
    rules = (a_rule(parse_conjunction(text), 0, 2.0, 1.0, (1.0,)) for text in texts)
    model = AdditiveRules(schema, ["a"], (0.0,), tuple(rules))
    assert model.verify_exports([dialect]).translated == (dialect,)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(text=STRINGS)
@examples(100)
def test_strings_are_read_back(dialect, text):
    """Quotes, backslashes, line ends and spaces at the end survive."""
    tree = parse_sql(f"SELECT {DIALECTS[dialect].text(text)} AS x", dialect)
    read = "".join(_literals(tree.selects[0].this))
    assert read.removesuffix("\ue000") == text


def _literals(node):
    """Give the parts of a string, which a function may join."""
    if isinstance(node, exp.Concat | exp.Coalesce):
        for part in node.expressions or [node.this]:
            yield from _literals(part)
    elif isinstance(node, exp.Anonymous | exp.Chr):
        yield "\ue000"
    else:
        yield node.name


@pytest.mark.parametrize("dialect", DIALECTS)
@given(name=STRINGS)
@examples(100)
def test_names_are_read_back(dialect, name):
    """A quoted name is one name of the same letters, or it is refused."""
    if dialect == "bigquery" and FORBIDDEN.search(name):
        with pytest.raises(ValueError, match="BigQuery cannot hold the name"):
            DIALECTS[dialect].quote(name)
        return
    text = f"SELECT 1 AS {DIALECTS[dialect].quote(name)}"
    assert parse_sql(text, dialect).selects[0].alias == name


@pytest.mark.parametrize("dialect", DIALECTS)
@given(value=finite)
@examples(100)
def test_numbers_have_all_digits(dialect, value):
    """The decimal that a database reads is the shortest one of the double."""
    if dialect == "sqlite":
        return  # writes fractions, which test_sql executes
    tree = parse_sql(f"SELECT {DIALECTS[dialect].number(value)} AS x", dialect)
    (number,) = tree.find_all(exp.Literal)
    sign = -1.0 if tree.find(exp.Neg) else 1.0
    assert sign * float(number.name) == value


def test_words_of_each_database():
    """Names, strings, numbers, truth values and collations are those of the database."""
    label = Labels("the color", ("it's \\ red",))
    schema = Schema((ColumnSchema("the color", "nominal", ("it's \\ red",)),), named=True)
    rules = (a_rule(Conjunction((label,)), 1, 0.5, 1.0, (1.0, 1.0)),)
    model = AdditiveRules(schema, [False, True], (0.0, 0.0), rules)
    for dialect, parts in {
        "snowflake": ["\"the color\" = 'it\\'s \\\\ red'", "'0.5'::DOUBLE", "THEN TRUE END"],
        "bigquery": ["`the color` = 'it\\'s \\\\ red'", "0.5e0", "AS `score_true`"],
        "sqlserver": ["[the color] = N'it''s \\ red'", "0.5e0", "THEN CAST(1 AS BIT) END"],
        "spark": ["`the color` = 'it\\'s \\\\ red'", "0.5D", "THEN TRUE END"],
    }.items():
        text = model.to_sql(dialect=dialect)
        assert all(part in text for part in parts), text
        assert "MATERIALIZED" not in text
    assert "COLLATE Latin1_General_BIN2" in model.to_sql(dialect="sqlserver")
    flags = FORMS["votes"].to_sql(dialect="sqlserver")
    assert "THEN CAST(1 AS BIT) ELSE CAST(0 AS BIT) END AS [abstains]" in flags


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery", "sqlserver", "spark"])
def test_what_is_not_run_is_not_promised(dialect):
    """The head of the text, the report and its fields say that nothing was run there."""
    model = three_rules()
    head = " ".join(model.to_sql(dialect=dialect).split("*/")[0].split())
    assert "The syntax is checked with a parser; the statement was never run on " in head
    assert "to the last bit" not in head
    report = model.verify_exports([dialect])
    assert str(report) == (
        f"syntax checked for {dialect}: the SQL was parsed by sqlglot and its translation run in "
        "DuckDB; it was not run on these databases"
    )
    assert dialect not in model.verify_exports().targets


def test_a_report_of_both_kinds():
    """Exports that ran and those that were parsed are told apart."""
    lines = str(three_rules().verify_exports(["python", "snowflake", "spark"])).splitlines()
    assert lines[0].startswith("same answers in python on ")
    assert lines[1].startswith("syntax checked for snowflake and spark: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("SELECT", "SELEC", "cannot be parsed|not one SELECT"),
        ("GREATEST(", "GREATEST((", "cannot be parsed"),
        ("GREATEST(", "GREATER(", "unknown function GREATER"),
        ("WITH", "SELECT 1; WITH", "cannot be parsed"),
        ("WITH", "CREATE TABLE t AS WITH", "not one SELECT"),
    ],
)
@pytest.mark.parametrize("dialect", ABSENT)
def test_wrong_syntax_is_found(monkeypatch, dialect, old, new, message):
    """A word, a bracket, a function or a statement too many is an error."""
    tamper(monkeypatch, "sql", lambda text: text.replace(old, new))
    with pytest.raises(ValueError, match=message):
        three_rules().verify_exports([dialect])


@pytest.mark.parametrize("dialect", ABSENT)
def test_wrong_rules_are_found(monkeypatch, dialect):
    """The translation has other answers if a comparison is wrong."""
    tamper(monkeypatch, "sql", lambda text: text.replace("age <= ", "age < "))
    with pytest.raises(ParityError, match=f"{dialect} answers differently"):
        three_rules().verify_exports([dialect])


def test_without_sqlglot(monkeypatch):
    """Where the parser is missing, the check says what to install."""

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(syntax, "optional", missing)
    with pytest.raises(CannotRunError, match="install sqlglot"):
        three_rules().verify_exports(["spark"])


def test_names_that_a_database_refuses():
    """Letters that BigQuery forbids, and names too long for SQL Server, are errors."""
    with pytest.raises(ValueError, match=r"BigQuery cannot hold the name 'a\.b' with '\.'; rename"):
        three_rules().to_sql(dialect="bigquery", keep=["a.b"])
    with pytest.raises(ValueError, match="at most 128 letters"):
        three_rules().to_sql(dialect="sqlserver", keep=["a" * 129])
