"""One file per kind of column, and the choice of the kind of a new column."""

from rulewright.data.kind import KINDS, register
from rulewright.data.kinds.nominal import Nominal
from rulewright.data.kinds.numeric import Numeric
from rulewright.data.source import Raw
from rulewright.data.table import Column
from rulewright.data.values import plain, refuse_written_dates

register(Numeric())
register(Nominal())


def read_column(name: str, raw: Raw, kind: str | None = None) -> Column:
    """
    Check a column and find its schema.

    Parameters
    ----------
    name : str
        Name of the column.
    raw : Raw
        Its values.
    kind : str, optional
        Name of its kind. By default it is the first kind that claims the column; of other
        columns those of numbers are numeric and the rest are nominal.

    Returns
    -------
    Column
        The column with its schema.
    """
    if kind is None:
        kind = next((known.name for known in KINDS.values() if known.claims(raw)), None)
    if kind is None:
        if raw.untyped:
            refuse_written_dates(name, raw.values)
        raw = plain(name, raw)
        kind = "numeric" if raw.type == "number" and raw.declared is None else "nominal"
    return KINDS[kind].read(name, raw)
