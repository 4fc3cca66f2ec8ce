"""Programs as the source of a Python module that needs nothing but Python."""

from __future__ import annotations

import builtins
import re
from keyword import iskeyword, kwlist
from typing import TYPE_CHECKING, Any

from rulewright.data import FIRST, LAST, WEEKDAYS
from rulewright.programs.program import ClassProgram, Program
from rulewright.programs.rowwise import RowWriter, keep_used
from rulewright.programs.target import Answer, ExportTarget, Rows, n_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


_IMPORTED = ("exp", "bisect_left", "re", "datetime")
_IMPORTS = (
    "import datetime",
    "import re",
    "from bisect import bisect_left",
    "from math import exp",
)
_TITLE = '"""A rule model exported by rulewright; it needs nothing but Python."""'
_MODEL = '''{tables}

def _rules({variables}):
    """Apply the rules: a missing number is NaN, a missing label None."""
{statements}    return {outputs}


def _checked(row):
    """Read the columns that the rules use, and check them."""
    return ({columns})


def _answers(row):
    """Return all answers for a row."""
    return _rules(*_checked(row))
'''

_HELPERS = '''_NUMBER = re.compile(r"\\s*[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?\\s*", re.ASCII)


_WHOLE = re.compile(r"\\s*[+-]?\\d+\\s*", re.ASCII)


_MOMENTS = {{"date", "datetime", "Timestamp", "datetime64"}}


_NUMBERS = {{"int", "float", "Decimal", "Fraction", "integer", "floating"}}


def _fail(name, value):
    raise ValueError(f"column {{name!r}} cannot be {{value!r:.80}}")


def _value(row, name):
    """Read a value: None if missing, text, a truth value, an integer of 64 bits or a float."""
    value = row.get(name)
    if value is None or type(value) in (str, bool):
        return value
    if type(value) is float:
        return value if value == value else None
    kind = type(value).__name__
    if kind in ("NAType", "NaTType"):
        return None
    if isinstance(value, str):
        return str(value)
    if kind in ("bool", "bool_"):
        return bool(value)
    kinds = {{base.__name__ for base in type(value).__mro__}}
    if kind == "timedelta64" or not kinds & _NUMBERS:
        _fail(name, value)
    if kinds & {{"int", "integer"}} and -(2**63) <= value < 2**63:
        return int(value)
    try:
        number = float(value)
    except (OverflowError, ValueError):
        _fail(name, value)
    return number if number == number else None


def _number(row, name):
    """Read a numeric column: missing is NaN, which fails every comparison."""
    value = _value(row, name)
    if value is None:
        return float("nan")
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        _fail(name, value)
    number = float(value)
    if number - number != 0.0:
        _fail(name, value)
    return number


def _text(value):
    """Write a value as a label: 3 and 3.0 are the same."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)


def _label(row, name):
    """Read a column of labels: missing is None, anything else becomes text."""
    value = _value(row, name)
    return None if value is None else _text(value)


def _number_label(row, name):
    """Read a numeric column that is compared for equality only: " 01.0" is "1"."""
    label = _value(row, name)
    if not isinstance(label, str):
        return None if label is None else _text(label)
    if not _NUMBER.fullmatch(label):
        return label
    if _WHOLE.fullmatch(label) and len(label) < 1000 and -(2**63) <= int(label) < 2**63:
        return str(int(label))
    return _text(float(label))


def _boolean_label(row, name):
    """Read a column of truth values, which may be 1, "1" or "True"."""
    label = _label(row, name)
    if label is None or label in ("false", "true"):
        return label
    return {{"0": "false", "1": "true"}}.get(label, label.lower())


_MOMENT = re.compile(
    r"(\\d{{4}})-(\\d\\d)-(\\d\\d)(?:[T ](\\d\\d):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d{{1,9}}))?)?"
    r"(?:(Z)|([+-])(\\d\\d):?(\\d\\d))?)?",
    re.ASCII,
)


def _date(row, name):
    """Read a column of dates as milliseconds since 1970, in UTC: missing is NaN."""
    value = row.get(name)
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return float("nan")
    text = value.isoformat() if hasattr(value, "isoformat") else value
    match = _MOMENT.fullmatch(str(text).strip())
    if match is None or type(value).__name__ not in _MOMENTS and not isinstance(value, str):
        _fail(name, value)
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        days = datetime.date(year, month, day).toordinal() - 719163
        datetime.time(hour, minute, second)
    except ValueError:
        _fail(name, value)
    offset = int(match[10] or 0) * 60 + int(match[11] or 0)
    minutes = days * 1440 + hour * 60 + minute - (-offset if match[9] == "-" else offset)
    fraction = int((match[7] or "").ljust(3, "0")[:3])
    moment = float((minutes * 60 + second) * 1000 + fraction)
    return moment if {first} <= moment <= {last} else _fail(name, value)


def _month(row, name):
    """Read the months of a column of dates: 1 to 12."""
    moment = _date(row, name)
    return moment if moment != moment else float(_day(moment).month)


def _weekday(row, name):
    """Read the days of the week of a column of dates: Mon to Sun, missing is None."""
    moment = _date(row, name)
    return None if moment != moment else {weekdays}[_day(moment).weekday()]


def _hour(row, name):
    """Read the hours of a column of dates: 0 to 23."""
    return _date(row, name) // 3600000 % 24


def _day(moment):
    """Return the day of a moment, given as milliseconds since 1970."""
    return datetime.date.fromordinal(719163 + int(moment // 86400000))


def _step(table, value):
    """Return the height of a step: that below a threshold, and on it."""
    thresholds, heights = table
    return heights[bisect_left(thresholds, value)]


def _gap(value, low, high, width):
    """Return the squared distance of a number to an interval, in widths; 1 if it is missing."""
    if value != value:
        return 1.0
    gap = low - value if value < low else value - high if value > high else 0.0
    gap = gap / width if width else 0.0
    return gap * gap


def _far(pairs, value, others):
    """Return the number of a label, or the number of all other labels."""
    for label, number in pairs:
        if label == value:
            return number
    return others'''
"""What reads values: a module has the parts that it needs."""
_DEFINED = re.compile(r"^(?:def )?(_\w+)", re.MULTILINE)

_OF_NUMBER = '''

def {function}(row):
    """Return the number of a row, a dict from column names to values.

    A value that is absent, None or NaN is missing.
    """
    return _answers(row){item}
'''

_DERIVED = '''

def {function}_{name}(row):
    """Return {name} of a row."""
    return _answers(row)[{place}]
'''

_OF_CLASSES = '''

_LABELS = {labels}


def {function}(row):
    """Return the probability of each class for a row, a dict from column names to values.

    A value that is absent, None or NaN is missing.
    """
    return dict(zip(_LABELS, _answers(row)[1]))


def {function}_label(row):
    """Return the predicted class of a row."""
    return _LABELS[_answers(row)[2]]
'''

_FLAG = '''

def {function}_{flag}(row):
    """Return whether the model {flag} on a row."""
    return _answers(row)[{place}]
'''


def write_python(program: Program, function: str | None = None) -> str:
    """Write a program as Python source; see ``RuleModel.to_python``."""
    if function is None:
        function = "predict_proba" if isinstance(program, ClassProgram) else "predict"
    taken = hasattr(builtins, function) or function in _IMPORTED
    usable = function.isascii() and function.isidentifier() and not function.startswith("_")
    if taken or not usable or iskeyword(function):
        raise ValueError(
            f"function must be a free Python name without leading underscore, not {function!r}"
        )
    writer = _PythonWriter(program)
    statements = "".join(writer.statements())
    outputs = ", ".join(map(writer.value, program.outputs))
    source = _MODEL.format(
        tables="".join(f"\n{name} = ({value})" for value, name in writer.tables.items()),
        columns="".join(f"\n        {value}," for value in writer.columns())
        + ("\n    " if writer.variables else ""),
        variables=", ".join(writer.variables.values()),
        statements=statements,
        outputs=outputs,
    )
    if not isinstance(program, ClassProgram):
        return _add_helpers(source + _write_numbers(program, function))
    source += _OF_CLASSES.format(labels=list(program.labels), function=function)
    flags = enumerate(program.flags, start=3)
    return _add_helpers(
        source
        + "".join(_FLAG.format(function=function, flag=flag, place=place) for place, flag in flags)
    )


def _write_numbers(program: Program, function: str) -> str:
    """Write the function of the prediction, and one for each further number."""
    _, *others = program.numbers
    source = _OF_NUMBER.format(function=function, item="[0]" if others else "")
    return source + "".join(
        _DERIVED.format(function=function, name=name, place=place)
        for place, name in enumerate(others, start=1)
    )


def _add_helpers(source: str) -> str:
    """Write the imports and the helpers that a module needs around its text."""
    helpers = _HELPERS.format(weekdays=list(WEEKDAYS), first=FIRST, last=LAST)
    kept = keep_used(helpers.split("\n\n\n"), source, _DEFINED)
    source = "\n\n\n".join([source.rstrip("\n"), *kept])
    words = set(re.findall(r"\w+", source))
    imports = [line for line in _IMPORTS if line.split()[-1] in words]
    return "\n".join([_TITLE, *([""] if imports else []), *imports, source, ""])


def _run(write: Callable[..., str], program: Program, rows: Rows) -> tuple[list[Answer], list[str]]:
    """Return the answers of the exported module."""
    space: dict[str, Any] = {}
    exec(compile(write(program), "export", "exec"), space)
    answers = []
    for i in range(n_rows(rows)):
        row = {name: values[i] for name, values in rows.items()}
        if not isinstance(program, ClassProgram):
            names = ("predict", *(f"predict_{name}" for name in [*program.numbers][1:]))
            answers.append(Answer.numbers(program, [space[name](row) for name in names]))
            continue
        scores, _, _, *flags = space["_answers"](row)
        chances = space["predict_proba"](row)
        answers.append(
            Answer(scores, list(chances.values()), space["predict_proba_label"](row), flags)
        )
    return answers, []


TARGET = ExportTarget("a module without dependencies", write_python, {"python": _run})


class _PythonWriter(RowWriter):
    """The syntax of Python."""

    where, true, false = "({1} if {0} else {2})", "True", "False"
    # Of all numbers only NaN differs from itself.
    missing = ("{0} is None", "{0} != {0}")
    known = ("{0} is not None", "{0} == {0}")
    prefix, declare, read, comment = "_", "    {} = {}\n", "{}(row, {})", "    # {}\n"
    reserved = (*kwlist, "exp", "max", "min")
    first = "{}[{}.index(True)]"

    def literal(self, value: Any) -> str:
        return repr(value)

    def guard(self, test: str, statements: Iterable[str]) -> str:
        return f"    if {test}:\n" + "".join(f"        {text}\n" for text in statements)

    def labels(self, variable: str, labels: Sequence[str], negated: bool) -> str:
        found = f"in {{{', '.join(labels)}}}"
        return (
            f"{variable} is not None and {variable} not {found}"
            if negated
            else f"{variable} {found}"
        )
