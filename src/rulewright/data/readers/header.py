"""Whether the first line of a delimited file is a header."""

import re
from collections.abc import Sequence
from itertools import pairwise

from rulewright.data.readers.text_rows import MISSING_FIELDS, NUMERIC, TextRows
from rulewright.data.values import text_to_number

_WHOLE = re.compile(r"[0-9]+")
_YEAR = r"(19|20)[0-9]{2}"
_SHORTEST_COUNT = 3


def is_header(first: Sequence[str], rows: TextRows) -> bool:
    """
    Return whether the first line of a file names the columns.

    It does if all its fields are names (text that is no number), or if one name stands above a
    column of numbers. Whole numbers are names too, as in ``id,2019,2020``, if there is a name
    beside them, no name occurs again in its column, and the numbers cannot be the first row:

    - each stands above a column in which nothing is a number, or
    - they count from 0, as pandas names columns: ``0,1,2,y``, or
    - they are years that rise or fall, above columns of numbers of which most are no years; a
      single year must also lie outside the range of its column.

    Any other first line with a number is a row.
    """
    named = [field not in MISSING_FIELDS and not _is_number(field) for field in first]
    if all(named):
        return True
    if first[0] == "" and len(first) > 1 and all(named[1:]):
        return True  # a nameless index column, as pandas writes it
    if any(is_name and rows.looks(at) in NUMERIC for at, is_name in enumerate(named)):
        return True
    return _has_numeric_names(first, named, rows)


def _has_numeric_names(first: Sequence[str], named: Sequence[bool], rows: TextRows) -> bool:
    nameless = first[0] == ""
    numbers = [at for at, is_name in enumerate(named) if not is_name][nameless:]
    written = [first[at] for at in numbers]
    if not any(named) or rows.n_rows == 0 or len(set(written)) < len(written):
        return False
    if not all(_WHOLE.fullmatch(field) for field in written):
        return False
    if not (
        all(rows.looks(at) in ("text", "boolean") for at in numbers)
        or (len(numbers) >= _SHORTEST_COUNT and written == [str(k) for k in range(len(numbers))])
        or _are_years(numbers, written, rows)
    ):
        return False
    return not any(rows.contains(at, first[at]) for at, is_name in enumerate(named) if is_name)


def _are_years(numbers: Sequence[int], written: Sequence[str], rows: TextRows) -> bool:
    if not all(re.fullmatch(_YEAR, field) for field in written):
        return False
    steps = {a < b for a, b in pairwise(written)}
    if len(steps) > 1 or any(rows.looks(at) not in NUMERIC for at in numbers):
        return False
    if len(numbers) == 1 and rows.spans(numbers[0], float(written[0])):
        return False
    return all(rows.share(at, _YEAR) < 0.5 for at in numbers)


def _is_number(field: str) -> bool:
    try:
        text_to_number(field.replace(",", ".", 1))
    except ValueError:
        return False
    return True
