"""Programs as JavaScript (ES2017) that needs nothing but the language: one function of a row."""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rulewright.data import FIRST, LAST, WEEKDAYS, ColumnSchema, label_value, optional
from rulewright.programs.program import ClassProgram, Program
from rulewright.programs.rowwise import RowWriter, keep_used
from rulewright.programs.target import Answer, CannotRunError, ExportTarget, Rows, n_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


# Integers up to here are exact as numbers of JavaScript.
_EXACT = 2**53

_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """arguments async await break case catch class const continue debugger default delete do
        else enum eval export extends false finally for function if implements import in instanceof
        interface let module new null package private protected public return static super switch
        this throw true try typeof undefined var void while with yield NaN Infinity""",
    )
)

_MODULE = """// A rule model exported by rulewright; it needs nothing but JavaScript (ES2017).
// {function}(row) takes an object from column names to values; a value that is absent, null,
// undefined or NaN is missing. It returns an object with {returned}.
const {function} = (() => {{
  "use strict";
{tables}
  // The rules: a missing number is NaN, a missing label null.
  const rules = ({variables}) => {{
{statements}    return {{
{outputs}    }};
  }};

  // Reads the columns that the rules use, and checks them.
  const checked = (row) => [{columns}];

{helpers}

  return (row) => rules(...checked(row));
}})();
if (typeof module === "object" && module.exports) module.exports = {function};
"""
_HELPERS = """  function get(row, name) {{
    const value = Object.prototype.hasOwnProperty.call(row, name) ? row[name] : null;
    return value === undefined || value !== value ? null : value;
  }}

  function fail(name, value) {{
    const found = typeof value === "object" ? "an object" : JSON.stringify(String(value));
    throw new TypeError("column " + JSON.stringify(name) + " cannot be " + found);
  }}

  const SPACE = "[ \\t\\n\\r\\f\\v]*";

  const WHOLE = new RegExp("^" + SPACE + "[-+]?\\\\d+" + SPACE + "$");

  const DECIMAL = new RegExp(
    "^" + SPACE + "[-+]?(\\\\d+\\\\.?\\\\d*|\\\\.\\\\d+)(e[-+]?\\\\d+)?" + SPACE + "$", "i");

  // A numeric column: missing is NaN, which fails every comparison.
  function number(row, name) {{
    const value = get(row, name);
    if (value === null) return NaN;
    const kind = typeof value;
    const known = kind === "string" ? DECIMAL.test(value)
      : ["number", "boolean", "bigint"].includes(kind);
    return known && isFinite(Number(value)) ? Number(value) : fail(name, value);
  }}

  // A number as text, as Python writes it: 3 and 3.0 are the same.
  function text(value) {{
    const size = Math.abs(value);
    if (size === Infinity) return value > 0 ? "inf" : "-inf";
    if (Math.floor(value) === value) {{
      if (size < 1e21) return value.toFixed(0);
      return String(typeof BigInt === "function" ? BigInt(value) : value);
    }}
    if (size >= 1e-4) return String(value);
    return value.toExponential().replace(/e-(\\d)$/, "e-0$1");
  }}

  // The integer of 64 bits that a text writes, without leading zeros; else null.
  function whole(value) {{
    if (!WHOLE.test(value)) return null;
    const [, sign, digits] = /([-+]?)0*(\\d+)/.exec(value);
    const most = sign === "-" ? "9223372036854775808" : "9223372036854775807";
    if (digits.length > 19 || (digits.length === 19 && digits > most)) return null;
    return sign === "-" && digits !== "0" ? "-" + digits : digits;
  }}

  // A column of labels: missing is null, anything else becomes text.
  function label(row, name) {{
    const value = get(row, name);
    if (value === null || typeof value === "string") return value;
    if (typeof value === "boolean") return String(value);
    if (typeof value === "number") return text(value);
    if (typeof value !== "bigint" || !isFinite(Number(value))) return fail(name, value);
    return whole(String(value)) || text(Number(value));
  }}

  // A numeric column that is compared for equality only: " 01.0" is "1".
  function number_label(row, name) {{
    const value = label(row, name);
    if (value === null || !DECIMAL.test(value)) return value;
    return whole(value) || text(Number(value));
  }}

  // A column of truth values, which may be 1, "1" or "True".
  function boolean_label(row, name) {{
    const value = label(row, name);
    if (value === "0" || value === "1") return value === "1" ? "true" : "false";
    return value === null ? null : value.toLowerCase();
  }}

  const MOMENT = new RegExp("^(\\\\d{{4}})-(\\\\d\\\\d)-(\\\\d\\\\d)" +
    "(?:[T ](\\\\d\\\\d):(\\\\d\\\\d)" +
    "(?::(\\\\d\\\\d)(?:[.,](\\\\d{{1,9}}))?)?(?:(Z)|([-+])(\\\\d\\\\d):?(\\\\d\\\\d))?)?$");

  // A column of dates as milliseconds since 1970, in UTC: missing is NaN.
  function date(row, name) {{
    const value = get(row, name);
    if (value === null) return NaN;
    if (value instanceof Date && isNear(value.getTime())) return value.getTime();
    const found = typeof value === "string" ? MOMENT.exec(value.trim()) : null;
    if (found === null) return fail(name, value);
    const [y, m, d, hour, minute, second] = found.slice(1, 7).map((part) => Number(part || 0));
    const day = new Date(0);
    day.setUTCFullYear(y, m - 1, d);
    const known = y > 0 && day.getUTCMonth() === m - 1 && day.getUTCDate() === d;
    if (!known || hour > 23 || minute > 59 || second > 59) return fail(name, value);
    const offset = Number(found[10] || 0) * 60 + Number(found[11] || 0);
    const minutes = hour * 60 + minute - (found[9] === "-" ? -offset : offset);
    const fraction = Number(((found[7] || "") + "000").slice(0, 3));
    const moment = day.getTime() + (minutes * 60 + second) * 1000 + fraction;
    return isNear(moment) ? moment : fail(name, value);
  }}

  function isNear(moment) {{
    return {first} <= moment && moment <= {last};
  }}

  // Parts of the dates in a column: 1 to 12, Mon to Sun or null, 0 to 23.
  function month(row, name) {{
    return new Date(date(row, name)).getUTCMonth() + 1;
  }}

  function weekday(row, name) {{
    const day = new Date(date(row, name)).getUTCDay();
    return day === day ? {weekdays}[(day + 6) % 7] : null;
  }}

  function hour(row, name) {{
    return new Date(date(row, name)).getUTCHours();
  }}

  function step(table, value) {{
    const [thresholds, heights] = table;
    let low = 0, high = thresholds.length;
    while (low < high) {{
      const middle = (low + high) >> 1;
      if (thresholds[middle] < value) low = middle + 1;
      else high = middle;
    }}
    return heights[low];
  }}

  // The squared distance of a number to an interval, in widths; 1 if it is missing.
  function gap(value, low, high, width) {{
    if (value !== value) return 1;
    const outside = value < low ? low - value : value > high ? value - high : 0;
    const share = width ? outside / width : 0;
    return share * share;
  }}

  function far(pairs, value, others) {{
    const pair = pairs.find((pair) => pair[0] === value);
    return pair ? pair[1] : others;
  }}"""
"""What reads values: a module has the parts that it needs."""
_DEFINED = re.compile(r"^  (?:function|const) (\w+)", re.MULTILINE)


def write_javascript(program: Program, function: str = "predict") -> str:
    """Write a program as JavaScript; see ``RuleModel.to_javascript``."""
    if not re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", function) or function in _RESERVED:
        raise ValueError(f"function must be a free JavaScript name, not {function!r}")
    writer = _JavaScriptWriter(program)
    statements = "".join(writer.statements())
    tables = "".join(f"  const {name} = [{value}];\n" for value, name in writer.tables.items())
    outputs = {name: writer.value(node) for name, node in program.numbers.items()}
    if isinstance(program, ClassProgram):
        outputs = _of_classes(program, writer)
        tables = f"  const LABELS = {writer.literal(list(program.labels))};\n{tables}"
    columns = "".join(f"\n    {value}," for value in writer.columns())
    helpers = _HELPERS.format(weekdays=json.dumps(WEEKDAYS), first=FIRST, last=LAST)
    kept = keep_used(helpers.split("\n\n"), f"{columns}{statements}{outputs}", _DEFINED)
    return _MODULE.format(
        function=function,
        returned=", ".join(outputs),
        tables=tables,
        helpers="\n\n".join(kept),
        columns=columns + ("\n  " if writer.variables else ""),
        variables=", ".join(writer.variables.values()),
        statements=statements,
        outputs="".join(f"      {key}: {value},\n" for key, value in outputs.items()),
    )


def _of_classes(program: ClassProgram, writer: _JavaScriptWriter) -> dict[str, str]:
    """Write the answers of a model of classes, by their names."""
    for label in program.labels:
        _check_exact(label, f"class label {label!r}")
    scores, probabilities, chosen, *flags = map(writer.value, program.outputs)
    outputs = {"label": f"LABELS[{chosen}]", "classes": "LABELS.slice()"}
    outputs |= {"scores": scores, "probabilities": probabilities}
    return outputs | dict(zip(program.flags, flags, strict=True))


def _run(write: Callable[..., str], program: Program, rows: Rows) -> tuple[list[Answer], list[str]]:
    """Return the answers of V8, if mini-racer is installed."""
    try:
        engine = optional("py_mini_racer").MiniRacer()
    except ImportError as error:
        raise CannotRunError("install mini-racer to run JavaScript") from error
    lines = [
        {name: _plain(values[i]) for name, values in rows.items()} for i in range(n_rows(rows))
    ]
    engine.eval(write(program, "predict"))
    text = json.dumps(json.dumps(lines))
    found = json.loads(engine.eval(f"JSON.stringify(JSON.parse({text}).map(predict))"))
    if not isinstance(program, ClassProgram):
        answers = [[float(answer[name]) for name in program.numbers] for answer in found]
        return [Answer.numbers(program, values) for values in answers], []
    return [
        Answer(
            list(map(float, answer["scores"])),  # JSON writes large ones as whole numbers
            answer["probabilities"],
            answer["label"],
            [answer[flag] for flag in program.flags],
        )
        for answer in found
    ], []


def _plain(value: Any) -> Any:
    return None if value != value else value


TARGET = ExportTarget("one function without dependencies", write_javascript, {"javascript": _run})


class _JavaScriptWriter(RowWriter):
    """The syntax of JavaScript."""

    signs = MappingProxyType({"==": "===", "and": "&&", "or": "||"})
    least, greatest = "Math.min", "Math.max"
    exp, where = "Math.exp({0})", "({0} ? {1} : {2})"
    # Of all numbers only NaN differs from itself.
    missing = ("{0} === null", "{0} !== {0}")
    known = ("{0} !== null", "{0} === {0}")
    declare, read, first = "    let {} = {};\n", "{}(row, {})", "{}[{}.indexOf(true)]"
    comment, reserved = "    // {}\n", (*_RESERVED, "Math", "LABELS", "step", "gap", "far")

    def literal(self, value: Any) -> str:
        # Escaped so that the text may stand inside a <script> element of a page.
        return json.dumps(value, allow_nan=False).replace("<", "\\u003c")

    def guard(self, test: str, statements: Iterable[str]) -> str:
        return f"    if ({test}) {{ {'; '.join(statements)}; }}\n"

    def mark(self, column: ColumnSchema, value: Any) -> str:
        if not column.type.ordered:
            _check_exact(label_value(value, column), f"label {value} of column {column.name!r}")
        return super().mark(column, value)

    def labels(self, variable: str, labels: Sequence[str], negated: bool) -> str:
        tests = [f"{variable} {'!==' if negated else '==='} {label}" for label in labels]
        if negated:
            return self.join_tests("and", [f"{variable} !== null", *tests])
        return tests[0] if len(tests) == 1 else f"({self.join_tests('or', tests)})"


def _check_exact(value: object, what: str) -> None:
    if isinstance(value, int) and abs(value) > _EXACT:
        raise ValueError(
            f"{what} is too large to be exact as a number of JavaScript; use it as text"
        )
