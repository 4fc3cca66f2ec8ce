"""The scale of a card, the signs of its points, and how the command line writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from rulewright.data import DataError
from rulewright.search import offer_names

if TYPE_CHECKING:
    from rulewright.data import Schema


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The scale of the points of a card.

    Parameters
    ----------
    double : float
        Points that double the odds of the class that points count for.
    score : float
        A score whose odds are known.
    odds : float
        The odds at that score.

    Examples
    --------
    >>> Scale(double=20, score=600, odds=50).log_odds(620)
    4.605170185988092
    """

    double: float = 20.0
    score: float = 600.0
    odds: float = 50.0

    def __post_init__(self) -> None:
        for name in ("double", "score", "odds"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
                raise ValueError(f"scale: {name} must be a finite number, not {value!r}")
        for name in ("double", "odds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"scale: {name} must be above 0, not {getattr(self, name)}")

    @classmethod
    def of(cls, value: Any) -> Scale | None:
        """Read None, a scale, or a mapping of its fields."""
        if value is None or isinstance(value, Scale):
            return value
        if not isinstance(value, Mapping) or not set(value) <= {"double", "score", "odds"}:
            raise ValueError(
                f"scale={value!r} must be None, a Scale, or a dict with double, score and odds"
            )
        return cls(**value)

    @property
    def unit(self) -> float:
        """Value of a point in log-odds."""
        return math.log(2) / self.double

    def log_odds(self, score: float) -> float:
        """Return the log-odds at a score."""
        return math.log(self.odds) + self.unit * (score - self.score)

    def start_of(self, intercept: float) -> float:
        """Return the score, a whole number, that is nearest to log-odds."""
        return float(round(self.score + (intercept - math.log(self.odds)) / self.unit))


@dataclass(frozen=True)
class ScaleDomain:
    """A scale, a dict of its fields, or None."""

    def accepts(self, value: object) -> bool:
        """Return whether the value may be a scale; `Scale.of` checks its numbers."""
        return value is None or isinstance(value, Scale | Mapping)

    def parse(self, text: str) -> object:
        """Read ``double=20,score=600,odds=50`` from the command line."""
        if text == "none":
            return None
        return {name: float(value) for name, value in _pairs(text).items()}

    def __str__(self) -> str:
        return "a Scale, a dict such as double=20,score=600,odds=50, or None"


@dataclass(frozen=True)
class SignsDomain:
    """A sign for some columns."""

    def accepts(self, value: object) -> bool:
        """Return whether the value is a mapping to signs, or None."""
        return value is None or (isinstance(value, Mapping) and {*value.values()} <= {*SIGNS})

    def parse(self, text: str) -> object:
        """Read ``income=-,late=+`` from the command line."""
        return None if text == "none" else _pairs(text)

    def __str__(self) -> str:
        return "a dict of column name to '+' or '-', or None"


@dataclass(frozen=True)
class ColumnsDomain:
    """Names of columns."""

    def accepts(self, value: object) -> bool:
        """Return whether the value is a list of names, or None."""
        is_list = isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)
        return value is None or is_list

    def parse(self, text: str) -> object:
        """Read ``income,age`` from the command line."""
        return None if text == "none" else [name.strip() for name in text.split(",")]

    def __str__(self) -> str:
        return "a list of column names or None"


SIGNS = {"+": 1, "-": -1}


def _pairs(text: str) -> dict[str, str]:
    """Read ``name=value`` pairs between commas."""
    pairs = [part.rpartition("=") for part in text.split(",")]
    return {name.strip(): value.strip() for name, _, value in pairs}


def find_places(schema: Schema, option: str, names: Iterable[str]) -> list[int]:
    """Return the positions of columns; an unknown name is an error."""
    for name in (found := list(names)):
        if name not in schema:
            raise DataError(
                f"{option}: there is no column {name!r}. {offer_names(name, schema.names)}"
            )
    return [schema.index(name) for name in found]


def read_signs(schema: Schema, signs: Mapping[str, str] | None) -> dict[int, int]:
    """Return the sign of the points of columns by position."""
    given = signs or {}
    places = find_places(schema, "signs", given)
    return dict(zip(places, [SIGNS[sign] for sign in given.values()], strict=True))
