"""The syntax of SQL for databases that are not at hand.

sqlglot parses the text as the database would, and translates it to DuckDB, where it is run. That
shows that the text is well-formed and computes the answers of the model by the meaning that sqlglot
gives it. It does not show what the database itself does with types, collations and rounding.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rulewright.data import optional
from rulewright.programs.databases import run_duckdb
from rulewright.programs.sql_dialects import DIALECTS
from rulewright.programs.target import CannotRunError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.programs.program import Program
    from rulewright.programs.target import Answer, Rows

_STAND_INS = {"NCHAR": "CHR", "RAISE_ERROR": "ERROR", "ERROR": "ERROR"}
"""Functions that sqlglot does not know, and what they are called in DuckDB."""


def parse_sql(text: str, dialect: str) -> Any:
    """Parse one statement, or raise a ValueError: nothing in it may be unknown to the parser."""
    sqlglot = _parser()
    try:
        (tree,) = sqlglot.parse(
            text, read=DIALECTS[dialect].parser, error_level=sqlglot.ErrorLevel.RAISE
        )
    except (sqlglot.errors.SqlglotError, ValueError) as error:
        raise ValueError(f"the SQL for {dialect} cannot be parsed: {error}") from error
    if not isinstance(tree, sqlglot.exp.Select):
        raise ValueError(f"the SQL for {dialect} is not one SELECT")
    for call in tree.find_all(sqlglot.exp.Anonymous):
        if call.name.upper() not in _STAND_INS:
            raise ValueError(f"the SQL for {dialect} has an unknown function {call.name}")
    return tree


def translate_sql(text: str, dialect: str) -> str:
    """Translate a statement to DuckDB."""
    exp = _parser().exp
    tree = parse_sql(text, dialect)
    for node in list(tree.find_all(exp.Anonymous, exp.DataType, exp.Collate)):
        if isinstance(node, exp.Anonymous):
            node.set("this", _STAND_INS[node.name.upper()])
        elif isinstance(node, exp.Collate):
            node.replace(node.this)  # the collation that compares letter by letter: DuckDB's own
        elif node.is_type(*exp.DataType.TEXT_TYPES, *exp.DataType.TEMPORAL_TYPES):
            node.set("expressions", [])  # such as MAX
        elif node.this == exp.DataType.Type.BIT:
            node.set("this", exp.DataType.Type.BOOLEAN)
    translated: str = tree.sql("duckdb")
    return translated


def run_translation(
    dialect: str, write: Callable[..., str], program: Program, rows: Rows
) -> tuple[list[Answer], list[str]]:
    """Return the answers of DuckDB to a translated statement."""
    _parser()

    def translate(program: Program, table: str, _: str, keep: list[str]) -> str:
        return translate_sql(write(program, table, dialect, keep=keep), dialect)

    if not DIALECTS[dialect].has_nan:
        rows = {name: [None if v != v else v for v in values] for name, values in rows.items()}
    return run_duckdb(translate, program, rows, "rows to score")


TRANSLATIONS = {
    name: partial(run_translation, name)
    for name in DIALECTS
    if name not in ("duckdb", "postgres", "sqlite")
}
"""What runs the SQL of databases that no test runs."""


def _parser() -> Any:
    try:
        return optional("sqlglot")
    except ImportError as error:
        raise CannotRunError("install sqlglot to check SQL that cannot be run here") from error
