"""Ranges of parameters: one table per estimator serves the checks, the errors and the CLI."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping


class Domain(Protocol):
    """What a parameter may be."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value is allowed."""
        ...

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        ...


@dataclass(frozen=True)
class Integer:
    """A whole number of at least `low`, one of `words`, or None when `optional`."""

    low: int
    optional: bool = False
    words: tuple[str, ...] = ()

    def accepts(self, value: object) -> bool:
        """Tell whether the value is allowed."""
        if value is None:
            return self.optional
        if isinstance(value, str):
            return value in self.words
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            return False
        return int(value) >= self.low

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        if text in self.words:
            return text
        return None if text == "none" else int(text)

    def __str__(self) -> str:
        others = [*self.words, *(["none"] if self.optional else [])]
        return " or ".join([f"a whole number >= {self.low}", *others])


@dataclass(frozen=True)
class Real:
    """A number from `low` to `high`, without `low` when `above`; or None when `optional`."""

    low: float
    high: float = math.inf
    above: bool = False
    optional: bool = False

    def accepts(self, value: object) -> bool:
        """Tell whether the value is allowed."""
        if value is None:
            return self.optional
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        enough = number > self.low if self.above else number >= self.low
        return enough and number <= self.high and math.isfinite(number)

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return None if self.optional and text == "none" else float(text)

    def __str__(self) -> str:
        least = f"> {self.low:g}" if self.above else f">= {self.low:g}"
        most = "" if self.high == math.inf else f" and <= {self.high:g}"
        return f"a number {least}{most}" + (" or none" if self.optional else "")


@dataclass(frozen=True)
class Choice:
    """One of a few words; None is allowed when `optional`."""

    words: tuple[str, ...]
    optional: bool = False

    def accepts(self, value: object) -> bool:
        """Tell whether the value is allowed."""
        if value is None:
            return self.optional
        return isinstance(value, str) and value in self.words

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return None if self.optional and text == "none" else text

    def __str__(self) -> str:
        return "one of " + ", ".join(self.words) + (" or none" if self.optional else "")


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def accepts(self, value: object) -> bool:
        """Tell whether the value is allowed."""
        return isinstance(value, bool)

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return {"true": True, "false": False}[text.lower()]

    def __str__(self) -> str:
        return "true or false"


def plain(value: object) -> object:
    """Return a parameter as plain data: a NumPy number becomes a Python one."""
    return value.item() if isinstance(value, np.generic) else value


def check_parameters(
    estimator: str, values: Mapping[str, object], domains: Mapping[str, Domain]
) -> None:
    """Raise a ValueError for the first parameter outside its domain."""
    for name, domain in domains.items():
        if not domain.accepts(values[name]):
            raise ValueError(f"{estimator}: {name}={values[name]!r} must be {domain}")


def parse_settings(
    estimator: str, settings: Mapping[str, str], domains: Mapping[str, Domain]
) -> dict[str, object]:
    """Read ``name=value`` settings of the command line by the domains of an estimator."""
    parsed: dict[str, object] = {}
    for name, text in settings.items():
        if name not in domains:
            raise ValueError(
                f"{estimator} has no parameter {name!r}; it has {', '.join(sorted(domains))}"
            )
        try:
            parsed[name] = domains[name].parse(text)
        except (ValueError, KeyError):
            raise ValueError(f"{estimator}: {name}={text} must be {domains[name]}") from None
        check_parameters(estimator, parsed, {name: domains[name]})
    return parsed
