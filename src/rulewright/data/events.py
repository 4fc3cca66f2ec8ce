"""Targets of events: counts with exposure, and times until an event or the end of observation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from rulewright.data.errors import DataError
from rulewright.data.readers.arrays import values_of
from rulewright.data.source import Raw
from rulewright.data.target import Numbers, name_place, numbers_of, read_numbers
from rulewright.data.values import convert_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Made = TypeVar("Made", bound=Numbers)
_EVENT_WORDS = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0, "no": 0.0, "yes": 1.0}


@dataclass(frozen=True, eq=False)
class CountTarget(Numbers):
    """The count of each row, and what it is expected to be proportional to.

    Parameters
    ----------
    values : array-like
        Numbers of events, or amounts; not negative.
    exposure : array-like, optional
        Such as years under observation; above 0. 1 by default.
    """

    exposure: NDArray[np.float64] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        counts = _as_numbers(self.values, "count")
        exposure = self.exposure
        exposure = np.ones(len(counts)) if exposure is None else _as_numbers(exposure, "exposure")
        _check_lengths("counts", counts, exposure=exposure)
        _refuse(counts < 0, "count", "must be 0 or more", counts)
        _refuse(exposure <= 0, "exposure", "must be above 0", exposure)
        vars(self).update(values=counts, exposure=exposure)

    def average(self, weights: NDArray[np.float64]) -> float:
        """Return the overall rate: events per unit of exposure."""
        return float(weights @ self.values) / float(weights @ self.exposure)

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """Counts per unit of exposure."""
        return np.asarray(self.values / self.exposure)

    def take(self, rows: Any) -> Self:
        """Return the counts of some rows."""
        return replace(self, values=self.values[rows], exposure=self.exposure[rows])


@dataclass(frozen=True, eq=False)
class SurvivalTarget(Numbers):
    """For each row a time, and whether the event came then or observation ended without it.

    Parameters
    ----------
    values : array-like
        Times, 0 or more.
    events : array-like of bool or 0 and 1
        Whether the event came; otherwise the time is censored.
    entries : array-like, optional
        Times from which rows are under observation, below `values`; 0 by default.
    """

    events: NDArray[Any] = None  # type: ignore[assignment]
    entries: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        times, events = _as_numbers(self.values, "time"), _as_numbers(self.events, "event")
        _check_lengths("times", times, events=events)
        _refuse(times < 0, "time", "must be 0 or more", times)
        _refuse(~np.isin(events, (0, 1)), "event", "must be 0 (censored) or 1 (event)", events)
        entries = self.entries
        if entries is not None:
            entries = _as_numbers(entries, "entry")
            _check_lengths("times", times, entries=entries)
            _refuse(entries >= times, "entry", "must be below the time of its row", entries)
            entries = entries if entries.any() else None
        vars(self).update(values=times, events=events == 1, entries=entries)

    def average(self, weights: NDArray[np.float64]) -> float:
        """Return the overall rate: events per unit of time at risk."""
        at_risk = float(weights @ self.times_at_risk)
        return float(weights @ self.events) / at_risk if at_risk else 0.0

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """Events less those expected of an average row until its time (martingale residuals)."""
        times = np.unique(self.values[self.events])
        last = np.searchsorted(times, self.values, side="right")
        first = np.searchsorted(times, self.entry_times, side="right")
        steps = np.zeros(len(times) + 1)
        at_risk = np.cumsum(np.bincount(first, minlength=len(times) + 1))[:-1]
        at_risk -= np.cumsum(np.bincount(last, minlength=len(times) + 1))[:-1]
        events = np.bincount(last[self.events] - 1, minlength=len(times))
        steps[1:] = np.cumsum(events / at_risk)
        return np.asarray(self.events - (steps[last] - steps[first]))

    @property
    def entry_times(self) -> NDArray[np.float64]:
        """When the observation of each row starts; before all events by default."""
        return np.full(len(self), -1.0) if self.entries is None else self.entries

    @property
    def times_at_risk(self) -> NDArray[np.float64]:
        """How long each row was under observation."""
        return self.values if self.entries is None else self.values - self.entries

    def take(self, rows: Any) -> Self:
        """Return the times of some rows."""
        entries = None if self.entries is None else self.entries[rows]
        return replace(self, values=self.values[rows], events=self.events[rows], entries=entries)


def read_counts(y: Any, n_rows: int | None = None) -> CountTarget:
    """Read counts: an array, a `CountTarget`, or two columns, counts and exposure."""
    if isinstance(y, CountTarget):
        _check_n_rows(y, n_rows)
        return y
    columns = () if y is None else _columns_of(y)
    if len(columns) > 2:
        raise DataError(
            f"y has {len(columns)} columns. Counts need one column, and a second for exposure."
        )
    given = columns if len(columns) == 2 else [y]
    found = [read_numbers(column, n_rows).values for column in given]
    return CountTarget(found[0], (), *found[1:])


def counts_of(raws: Sequence[Raw], names: Sequence[str], path: str | None = None) -> CountTarget:
    """Create counts from columns: the counts and, if there is a second one, the exposure."""
    pairs = zip(raws, names, strict=True)
    first, *rest = (numbers_of(raw, f"column {name!r}", path) for raw, name in pairs)
    exposure = [one.values for one in rest]
    called = [f"column {name!r}" for name in names]
    return _named(called, path, lambda: CountTarget(first.values, first.decisions, *exposure))


def read_survival(y: Any, n_rows: int | None = None) -> SurvivalTarget:
    """Read times and events.

    That is a `SurvivalTarget`, a structured array with a Boolean field of events and a field of
    times as in scikit-survival, or two or three columns: time, event and, if wanted, entry.
    """
    if isinstance(y, SurvivalTarget):
        _check_n_rows(y, n_rows)
        return y
    if y is None:
        raise DataError("A survival learner requires y to be passed, but the target y is None.")
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        columns = _fields_of(y, names)
    elif not 2 <= len(columns := _columns_of(y)) <= 3:
        raise DataError(
            "y must hold times and events: a structured array with fields of events (bool) and of "
            "times, columns of times and events, or SurvivalTarget(times, events=events)."
        )
    time, event, *entry = (
        read_numbers(column.astype(float) if column.dtype == bool else column, n_rows).values
        for column in map(np.asarray, columns)
    )
    return SurvivalTarget(time, (), event, *entry)


def survival_of(
    raws: Sequence[Raw], names: Sequence[str], path: str | None = None
) -> SurvivalTarget:
    """Create times and events from columns: time, event and, if there is a third one, entry."""
    called = [f"column {name!r}" for name in names]
    if len(raws) < 2:
        raise DataError(
            f"Times need a column of events: give the names of both, such as ({names[0]!r}, "
            "'event')."
        )
    time, *entry = (
        numbers_of(raw, name, path)
        for raw, name in zip([raws[0], *raws[2:]], [called[0], *called[2:]], strict=True)
    )
    events = _read_events(raws[1], called[1], path)
    entries = [one.values for one in entry]
    return _named(
        called, path, lambda: SurvivalTarget(time.values, time.decisions, events, *entries)
    )


def _read_events(raw: Raw, name: str, path: str | None) -> NDArray[np.float64]:
    """Read events from 0 and 1, Booleans, or yes and no."""
    values = convert_values(name, raw).values
    if values.dtype.kind in "bf":
        values = values.astype(np.float64)
    elif values.dtype.kind in "OUT":
        words = [None if value is None else str(value).strip().lower() for value in values]
        for row, (word, value) in enumerate(zip(words, values, strict=True)):
            if word is not None and word not in _EVENT_WORDS:
                raise DataError(
                    f"{name_place(name, row, path)} holds {value!r:.80}, but an event is 0 or 1: "
                    "1 if it came, 0 if observation ended without it."
                )
        values = np.array([np.nan if word is None else _EVENT_WORDS[word] for word in words])
    return numbers_of(Raw(values), name, path).values


def _named(names: Sequence[str], path: str | None, make: Callable[[], Made]) -> Made:
    """Make a target; errors name the columns, and their file if there is one."""
    try:
        return make()
    except DataError as error:
        where = "" if path is None else f"{path}: "
        raise DataError(f"{where}{error} It was read from {' and '.join(names)}.") from None


def _fields_of(y: Any, names: Sequence[str]) -> list[Any]:
    """Return time, event and the rest of a structured array, whose event is the Boolean field."""
    events = [name for name in names if y.dtype[name].kind == "b"]
    if len(names) != 2 or len(events) != 1:
        raise DataError(
            f"y has the fields {', '.join(names)}, but it needs two: events (bool) and times."
        )
    (event,) = events
    (time,) = (name for name in names if name != event)
    return [np.ascontiguousarray(y[time]), np.ascontiguousarray(y[event])]


def _columns_of(y: Any) -> list[Any]:
    """Return the columns of a target of two dimensions; none of one."""
    if isinstance(y, tuple) and all(np.ndim(part) == 1 for part in y):
        return list(y)
    values = values_of(y, "y").values
    return [values[:, k] for k in range(values.shape[1])] if values.ndim == 2 else []


def _as_numbers(values: Any, what: str) -> NDArray[np.float64]:
    if values is None:
        raise DataError(f"The {what}s of the rows are required.")
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise DataError(f"The {what}s must be a 1d array, got the shape {numbers.shape}.")
    _refuse(~np.isfinite(numbers), what, "must be a finite number", numbers)
    return numbers


def _refuse(wrong: NDArray[np.bool_], what: str, why: str, values: NDArray[np.float64]) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"The {what} in row {row} (counting from 0) is {values[row]:g}: it {why}.")


def _check_lengths(what: str, values: NDArray[np.float64], **others: NDArray[np.float64]) -> None:
    for name, other in others.items():
        if len(other) != len(values):
            raise DataError(f"There are {len(values)} {what}, but {len(other)} {name}.")


def _check_n_rows(target: Numbers, n_rows: int | None) -> None:
    if n_rows is not None and len(target) != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"but y has {len(target)}."
        )
