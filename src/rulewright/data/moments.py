"""Dates and date-times as integer milliseconds since 1970, and as text."""

import datetime
import re
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

Order = Literal["dmy", "mdy", "ymd"]
"""The order of day, month and year in a written date."""

Unit = Literal["month", "weekday", "hour"]
"""Parts of dates that recur: months 1 to 12, days from Monday to Sunday, and hours 0 to 23."""
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

DAY = 86_400_000
ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:(Z)|([+-])(\d\d):?(\d\d))?)?",
    re.ASCII,
)
FIRST, LAST = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999
_FAR_YEARS = 100_000  # from 1970
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_PARTS = {"d": r"(?P<d>\d{1,2})", "m": r"(?P<m>\d{1,2})", "y": r"(?P<y>\d{4}|\d\d)"}
_CENTURIES = ("19", "20")  # for two-digit years: 1969 to 2068
_ORDERED = {
    order: re.compile(
        r"{}(?P<mark>[-/.]){}(?P=mark){}(?P<time>[T ].*)?".format(
            *(_PARTS[part] for part in order)
        ),
        re.ASCII,
    )
    for order in get_args(Order)
}


class DatePart(NamedTuple):
    """A part of the dates in a column, as another column."""

    unit: Unit
    of: str  # name of the column of dates

    @property
    def name(self) -> str:
        """Name of the column of the part."""
        return f"{self.unit}({self.of})"

    def take(self, moments: NDArray[np.float64]) -> NDArray[Any]:
        """Return the part of each moment: label codes of weekdays, numbers of the others."""
        known = ~np.isnan(moments)
        whole = np.where(known, moments, 0).astype(np.int64)
        if self.unit == "weekday":
            return np.where(known, (whole // DAY + 3) % 7, -1).astype(np.int32)  # 1970: a Thursday
        months = whole.astype("M8[ms]").astype("M8[M]").astype(np.int64) % 12 + 1
        values = months if self.unit == "month" else whole % DAY // 3_600_000
        return np.where(known, values, np.nan)


def from_text(text: str, order: Order | None = None) -> int:
    """Return the time of an ISO date or date-time, in UTC if it has an offset; else ValueError.

    With an order of day, month and year the parts may be separated by ``-``, ``/`` or ``.``.
    """
    text = text.strip()
    if order is not None and (match := _ORDERED[order].fullmatch(text)):
        year = match["y"] if len(match["y"]) == 4 else _CENTURIES[match["y"] < "69"] + match["y"]
        day = f"{year}-{match['m']:0>2}-{match['d']:0>2}"
        text = day + re.sub(r"^([T ])(\d:)", r"\g<1>0\2", match["time"] or "")
    match = ISO.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date")
    year, month, day_, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    datetime.time(hour, minute, second)  # raises a ValueError
    days = datetime.date(year, month, day_).toordinal() - _EPOCH
    offset = int(match[10] or 0) * 60 + int(match[11] or 0)
    minutes = hour * 60 + minute - (-offset if match[9] == "-" else offset)
    moment = days * DAY + (minutes * 60 + second) * 1000 + int((match[7] or "").ljust(3, "0")[:3])
    if not FIRST <= moment <= LAST:
        raise ValueError(f"{text!r} is beyond the years 1 to 9999")
    return moment


def has_offset(text: str) -> bool:
    """Return whether a date-time has a UTC offset."""
    match = ISO.fullmatch(text.strip())
    return match is not None and bool(match[8] or match[9])


def is_absent(value: Any) -> bool:
    """Return whether a value is None, NaN, NA or NaT."""
    absent = type(value).__name__ in ("NoneType", "NAType", "NaTType")
    return absent or bool(isinstance(value, float | np.datetime64) and value != value)


def from_object(value: Any) -> float | None:
    """Return the time of a date, date-time or text; NaN if missing, None for other types."""
    if isinstance(value, str):
        try:
            return from_text(value)
        except ValueError:
            return None
    if is_absent(value):
        return np.nan
    if isinstance(value, np.datetime64):
        return float(from_array(np.array([value]))[0])
    if isinstance(value, datetime.datetime):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        days = value.toordinal() - _EPOCH
        offset = (value.utcoffset() or datetime.timedelta()) // datetime.timedelta(microseconds=1)
        # not as a date, for UTC may be in the year 10000
        return float(days * DAY + seconds * 1000 + (value.microsecond - offset) // 1000)
    if isinstance(value, datetime.date):
        return float((value.toordinal() - _EPOCH) * DAY)
    return None


def from_array(values: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Return the times of dates, NaN for NaT; far ones are infinite, for they may overflow."""
    moments = values.astype("M8[ms]").astype(np.int64).astype(np.float64)
    moments[np.abs(values.astype("M8[Y]").astype(np.int64)) > _FAR_YEARS] = np.inf
    moments[np.isnat(values)] = np.nan
    return moments


def to_text(moment: float, separator: str = "T", *, full: bool = False) -> str:
    """Format integer milliseconds: a date, and as much of a time as needed."""
    days, rest = divmod(int(moment), DAY)
    date = datetime.date.fromordinal(days + _EPOCH).isoformat()
    if rest == 0 and not full:
        return date
    seconds, milliseconds = divmod(rest, 1000)
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    if seconds % 60 or milliseconds or full:
        time += f":{seconds % 60:02}"
    if milliseconds or full:
        time += f".{milliseconds:03}"
    return f"{date}{separator}{time}"


def coarsest(first: int, last: int, near: float) -> int:
    """Return the start of the longest unit (year to second) in a span, nearest to `near`.

    Without any it is the millisecond nearest to `near`.
    """
    near = min(max(near, first), last)
    for unit in ("Y", "M", "D", "h", "m", "s"):
        below = np.datetime64(int(near), "ms").astype(f"M8[{unit}]")
        starts = [int((below + k).astype("M8[ms]").astype(np.int64)) for k in (0, 1)]
        if within := [start for start in starts if first <= start <= last]:
            return min(within, key=lambda start: abs(start - near))
    return round(near)
