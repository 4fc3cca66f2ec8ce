"""One file per kind of column, and the choice of the kind of a new column."""

from rulewright.data.kind import KINDS
from rulewright.data.kinds.nominal import Nominal
from rulewright.data.kinds.numeric import Numeric
from rulewright.data.source import Raw
from rulewright.data.table import Column
from rulewright.data.values import plain, refuse_written_dates

KINDS.update({kind.name: kind for kind in (Numeric(), Nominal())})


def read_column(name: str, raw: Raw, kind: str | None = None) -> Column:
    """Check a column and infer its schema and, unless it is given, its kind."""
    if kind is None:
        kind = next((known.name for known in KINDS.values() if known.claims(raw)), None)
    if kind is None:
        if raw.untyped:
            refuse_written_dates(name, raw.values)
        raw = plain(name, raw)
        kind = "numeric" if raw.type == "number" and raw.declared is None else "nominal"
    return KINDS[kind].read(name, raw)
