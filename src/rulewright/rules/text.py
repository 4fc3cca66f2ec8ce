"""Read conditions, conjunctions and formulas back from their text.

::

    formula     := joint ("or" joint)*
    joint       := unit ("and" unit)*
    unit        := "not" unit | "(" formula ")" | "true" | condition
    conjunction := "true" | condition ("and" condition)*
    condition   := plain ["(" ("or" alternative)+ ")"]
    alternative := plain | "missing"
    plain       := name ("<" | "<=" | ">" | ">=" | "=") number
                 | number ("<" | "<=") name ("<" | "<=") number
                 | name ("=" | "!=") label
                 | name ["not"] "in" "{" label ("," label)* "}"
                 | name "is" ("missing" | "known")
                 | name ("<=" | ">=") label                        (where labels are ordered)
    order       := name ":" label ("<" label)*

All alternatives of a condition are about one column. Names and labels are bare words such as
``red`` and ``12-month``, words with brackets such as ``max(price)``, or JSON strings in double
quotes. The label ``true`` needs no quotes; a label that is a number or a keyword does.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from rulewright.data import KINDS, Kind
from rulewright.rules.condition import Labels, Plain, Presence, Range
from rulewright.rules.conjunction import Conjunction
from rulewright.rules.formula import And, Formula, Not, Or, normalise
from rulewright.rules.label_sets import AnyOf, Condition
from rulewright.rules.words import KEYWORDS, call_end, word_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


_SYMBOL = re.compile(r"<=|>=|!=|[<>={},()]")
_JSON = json.JSONDecoder()


def parse_condition(text: str) -> Condition:
    """Read one condition; ``parse_condition(str(c)) == c`` for every condition.

    Raises
    ------
    ValueError
        When the text is no condition; the message says where, and what was expected.
    """
    reader = _Reader(text)
    condition = reader.condition()
    reader.end("the end")
    return condition


def parse_conjunction(text: str) -> Conjunction:
    """Read a conjunction and merge it to canonical form; ``true`` is the empty one.

    Raises
    ------
    ValueError
        When the text is no conjunction; the message says where, and what was expected.
    Contradiction
        When the conditions on some column cannot hold together.
    """
    reader = _Reader(text)
    if reader.skip("true"):
        reader.end("the end")
        return Conjunction()
    conditions = [reader.condition()]
    while reader.skip("and"):
        conditions.append(reader.condition())
    reader.end("'and' or the end")
    return Conjunction.of(conditions)


def parse_order(text: str) -> tuple[str, tuple[str, ...]]:
    """Read the name of a column and its labels in their order: ``size: small < medium``."""
    name, colon, order = text.partition(": ")
    if not colon:
        raise ValueError(f"expected the labels of a column in their order, found {text[:60]!r}")
    reader = _Reader(order)
    labels = [reader.label()]
    while reader.skip("<"):
        labels.append(reader.label())
    reader.end("'<' or the end")
    return parse_condition(f"{name} is known").column, tuple(labels)


def parse_formula(text: str, orders: Mapping[str, Sequence[str]] | None = None) -> Formula:
    """Read a formula; ``parse_formula(str(f)) == f`` for every normalised formula.

    `orders` gives the labels of ordered columns, which may be compared with ``<=`` and ``>=``.

    Raises
    ------
    ValueError
        When the text is no formula; the message says where, and what was expected.
    """
    reader = _Reader(text, orders)
    formula = reader.formula()
    reader.end("'and', 'or' or the end")
    return normalise(formula)


class _Token(NamedTuple):
    """A word (name or label), number, sign (symbol or keyword) or the end of the text."""

    kind: Literal["word", "number", "sign", "end"]
    text: str  # of a quoted word: what the quotes hold
    start: int


class _Reader:
    """Reads formulas from the front of a text, looking one token ahead."""

    def __init__(self, text: str, orders: Mapping[str, Sequence[str]] | None = None) -> None:
        self._orders = orders or {}
        self._tokens = _tokens(text)
        self._next = next(self._tokens)

    def formula(self) -> Formula:
        """Read a formula."""
        parts = [self._joint()]
        while self.skip("or"):
            parts.append(self._joint())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _joint(self) -> Formula:
        parts = [self._unit()]
        while self.skip("and"):
            parts.append(self._unit())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _unit(self) -> Formula:
        if self.skip("not"):
            return Not(self._unit())
        if self.skip("("):
            formula = self.formula()
            self._sign(")")
            return formula
        return Conjunction() if self.skip("true") else Conjunction((self.condition(),))

    def condition(self) -> Condition:
        """Read a condition."""
        first = self._plain()
        if not self.skip("("):
            return first
        alternatives = [first]
        while self._sign("or", ")") == "or":
            missing = self.skip("missing")
            alternatives.append(Presence(first.column, True) if missing else self._plain())
        return AnyOf(tuple(alternatives))

    def _plain(self) -> Plain:
        if self._at_number():
            return self._interval()
        name = self._word("a column name or a number")
        if self.skip("not"):
            self._sign("in")
            return Labels(name, self._label_set(), negated=True)
        sign = self._sign("<=", "<", ">=", ">", "=", "!=", "in", "not in", "is")
        if sign == "is":
            return Presence(name, missing=self._sign("missing", "known") == "missing")
        if sign == "in":
            return Labels(name, self._label_set())
        if sign == "=" and self._at_number():
            value, kind = self._number()
            return Range(name, value, value, kind=kind)
        if sign in ("=", "!="):
            return Labels(name, (self.label(),), negated=sign == "!=")
        if sign in ("<=", ">=") and name in self._orders and self._next.kind == "word":
            return self._labels_to(name, sign)
        if sign in ("<=", "<"):
            high, kind = self._number()
            return Range(name, high=high, high_open=sign == "<", kind=kind)
        low, kind = self._number()
        return Range(name, low, low_open=sign == ">", kind=kind)

    def _labels_to(self, name: str, sign: str) -> Labels:
        """Read the label up to which, or from which, a condition holds."""
        order, start = self._orders[name], self._next.start
        label = self.label()
        if label not in order:
            raise ValueError(f"at character {start + 1}: column {name!r} has no label {label!r}")
        place = order.index(label)
        return Labels(name, tuple(order[: place + 1] if sign == "<=" else order[place:]))

    def _at_number(self) -> bool:
        return self._next.kind == "number"

    def skip(self, sign: str) -> bool:
        """Step over a sign if it comes next."""
        found = self._next.kind == "sign" and self._next.text == sign
        if found:
            self._step()
        return found

    def end(self, expected: str) -> None:
        """Raise a ValueError unless the text ends here."""
        if self._next.kind != "end":
            raise self._error(expected)

    def _interval(self) -> Range:
        (low, kind), low_sign = self._number(), self._sign("<=", "<")
        name = self._word("a column name")
        high_sign, start = self._sign("<=", "<"), self._next.start
        high, high_kind = self._number()
        if high_kind != kind:
            raise ValueError(f"at character {start + 1}: the bounds are of different kinds")
        return Range(name, low, high, low_sign == "<", high_sign == "<", kind)

    def _label_set(self) -> tuple[str, ...]:
        self._sign("{")
        labels = [self.label()]
        while self._sign(",", "}") == ",":
            labels.append(self.label())
        return tuple(labels)

    def label(self) -> str:
        """Read a label."""
        if self._next.kind == "number":
            raise self._error(f'a label (a label that is a number is quoted: "{self._next.text}")')
        if self.skip("true"):
            return "true"
        return self._word("a label")

    def _word(self, expected: str) -> str:
        if self._next.kind != "word":
            raise self._error(expected)
        return self._step().text

    def _number(self) -> tuple[float, str]:
        """Read a threshold; return it with the name of its kind."""
        literal = _literal(self._next.text, 0)
        if self._next.kind != "number" or literal is None:
            raise self._error("a number")
        number = literal[0].parse(self._next.text)
        if math.isinf(number):
            raise self._error("a number in the range of floats")
        self._step()
        return number, literal[0].name

    def _sign(self, *expected: str) -> str:
        if self._next.kind != "sign" or self._next.text not in expected:
            raise self._error(" or ".join(f"'{sign}'" for sign in expected))
        return self._step().text

    def _step(self) -> _Token:
        token = self._next
        if token.kind != "end":
            self._next = next(self._tokens)
        return token

    def _error(self, expected: str) -> ValueError:
        kind, text, start = self._next
        found = "the end" if kind == "end" else repr(text)
        return ValueError(f"at character {start + 1}: expected {expected}, found {found}")


def _tokens(text: str) -> Iterator[_Token]:
    start = 0
    while start < len(text):
        if text[start].isspace():
            start += 1
        else:
            token, start = _token(text, start)
            yield token
    yield _Token("end", "", start)


def _token(text: str, start: int) -> tuple[_Token, int]:
    """Read the token that starts at a place; give it and the place after it."""
    if text[start] == '"':
        try:
            word, end = _JSON.raw_decode(text, start)
        except json.JSONDecodeError as error:
            raise ValueError(f"at character {error.pos + 1}: {error.msg}") from None
        return _Token("word", word, start), end
    if (after := call_end(text, start)) is not None:
        return _Token("word", text[start:after], start), after
    if (word := word_at(text, start)) is not None:
        kind: Literal["sign", "word"] = "sign" if word in KEYWORDS else "word"
        return _Token(kind, word, start), start + len(word)
    if literal := _literal(text, start):
        return _Token("number", literal[1], start), start + len(literal[1])
    if match := _SYMBOL.match(text, start):
        return _Token("sign", match[0], start), match.end()
    raise ValueError(
        f"at character {start + 1}: expected a name, number or sign, found {text[start]!r} "
        "(names and labels with unusual characters are written in double quotes)"
    )


def _literal(text: str, start: int) -> tuple[Kind, str] | None:
    """Return the longest literal of any kind of column that starts at a place."""
    matches = ((kind, kind.literal.match(text, start)) for kind in KINDS.values())
    found = [(kind, match[0]) for kind, match in matches if match]
    return max(found, key=lambda pair: len(pair[1]), default=None)
