"""Programs as the source of a Python module that needs nothing but Python."""

from __future__ import annotations

import builtins
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from rulewright.programs.rowwise import RowWriter
from rulewright.programs.target import Answer, Target, n_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rulewright.programs.program import Program
    from rulewright.programs.target import Rows

_MODULE = '''"""A rule model exported by rulewright; it needs nothing but Python."""

from bisect import bisect_left
from math import exp

_LABELS = {labels}
{tables}

def _number(value):
    """Read a value of a numeric column: missing is NaN, which fails every comparison."""
    return float("nan") if value is None else float(value)


def _label(value):
    """Read a value of a nominal column: missing is None, anything else becomes text."""
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if hasattr(value, "__index__"):
        return str(int(value))
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def _step(table, value):
    """Give the height of a step: that below a threshold, and on it."""
    thresholds, heights = table
    return heights[bisect_left(thresholds, value)]


def _answers(row):
    """Give scores, probabilities, the index of the predicted class and flags of a row."""
{statements}    return {outputs}


def {function}(row):
    """Give the probability of each class for a row, a dict from column names to values.

    A value that is absent, None or NaN is missing.
    """
    return dict(zip(_LABELS, _answers(row)[1]))


def {function}_label(row):
    """Give the predicted class of a row."""
    return _LABELS[_answers(row)[2]]
'''

_FLAG = '''

def {function}_{flag}(row):
    """Tell whether the model {flag} on a row."""
    return _answers(row)[{place}]
'''


def write_python(program: Program, function: str = "predict_proba") -> str:
    """Write a program as Python source; see ``RuleModel.to_python``."""
    taken = hasattr(builtins, function) or function in ("exp", "bisect_left")
    usable = function.isascii() and function.isidentifier() and not function.startswith("_")
    if taken or not usable or iskeyword(function):
        raise ValueError(
            f"function must be a free Python name without leading underscore, not {function!r}"
        )
    writer = _PythonWriter(program)
    statements = "".join(writer.statements())
    outputs = ", ".join(map(writer.value, program.outputs))
    source = _MODULE.format(
        labels=list(program.labels),
        tables="".join(f"{name} = ({value})\n" for value, name in writer.tables.items()),
        statements=statements,
        outputs=outputs,
        function=function,
    )
    flags = enumerate(program.flags, start=3)
    return source + "".join(
        _FLAG.format(function=function, flag=flag, place=place) for place, flag in flags
    )


def _run(write: Callable[..., str], program: Program, rows: Rows) -> tuple[list[Answer], list[str]]:
    """Give the answers of the exported module."""
    space: dict[str, Any] = {}
    exec(compile(write(program), "export", "exec"), space)
    answers = []
    for i in range(n_rows(rows)):
        row = {name: values[i] for name, values in rows.items()}
        scores, _, _, *flags = space["_answers"](row)
        chances = space["predict_proba"](row)
        answers.append(
            Answer(scores, list(chances.values()), space["predict_proba_label"](row), flags)
        )
    return answers, []


TARGET = Target("a module without dependencies", write_python, {"python": _run})


class _PythonWriter(RowWriter):
    """The syntax of Python."""

    where, true, false = "({1} if {0} else {2})", "True", "False"
    # Of all numbers only NaN differs from itself.
    missing = ("{0} is None", "{0} != {0}")
    known = ("{0} is not None", "{0} == {0}")
    prefix, declare, read = "_", "    {} = {}\n", "{}(row.get({}))"
    first = "{}[{}.index(True)]"

    def literal(self, value: Any) -> str:
        return repr(value)

    def guarded(self, test: str, statements: Iterable[str]) -> str:
        return f"    if {test}:\n" + "".join(f"        {text}\n" for text in statements)

    def labels(self, variable: str, labels: Sequence[str], negated: bool) -> str:
        found = f"in {{{', '.join(labels)}}}"
        return (
            f"{variable} is not None and {variable} not {found}"
            if negated
            else f"{variable} {found}"
        )
