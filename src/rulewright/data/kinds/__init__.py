"""One file per kind of column, and the choice of the kind of a new column."""

from dataclasses import replace

from rulewright.data.kind import KINDS as KINDS
from rulewright.data.kinds.date import Date
from rulewright.data.kinds.nominal import Nominal
from rulewright.data.kinds.numeric import Numeric
from rulewright.data.number_texts import NumberTexts, may_be_numbers
from rulewright.data.source import Raw
from rulewright.data.table import Column
from rulewright.data.values import convert_values, refuse_written_dates

KINDS.update({kind.name: kind for kind in (Numeric(), Nominal(), Date())})


def read_column(name: str, raw: Raw, kind: str | None = None) -> Column:
    """Check a column and infer its schema and, unless it is given, its kind."""
    if kind is None:
        kind = next((known.name for known in KINDS.values() if known.claims(raw)), None)
    if kind is None:
        if raw.untyped:
            refuse_written_dates(name, raw.values)
        raw = convert_values(name, raw)
        kind = "numeric" if _holds_numbers(raw) else "nominal"
    column = KINDS[kind].read(name, raw)
    return replace(column, decisions=(*raw.decisions, *column.decisions))


def _holds_numbers(raw: Raw) -> bool:
    if raw.written and raw.type in ("string", "mixed"):
        return may_be_numbers(raw.values) and NumberTexts(raw.values).is_numeric
    return raw.type == "number" and raw.declared is None
