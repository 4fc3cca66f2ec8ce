"""Charts as inline SVG, by hand: no chart library is needed to make or to see them.

Colours are variables of the page, which has a light and a dark set; dashes and marks tell lines
apart without colours. Every chart has axis titles, and a description for those who cannot see it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.kernels import FloatArray

_WIDTH, _HEIGHT = 440, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 86, 24, 12, 48
_MOST_TICKS = 5  # of labels, which are wide
_LETTER = 7.6  # of 12 px, in a wide font
_ROW = 26
N_LOOKS = 6
_LARGEST, _SMALLEST = 2.0**1020, 1e-300  # numbers and steps of an axis, so that no length overflows
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4", "4 6")


@dataclass(frozen=True, eq=False)
class ChartLine:
    """Numbers to draw: a line, steps, points (with intervals if there are any) or a reference."""

    name: str
    x: FloatArray
    y: FloatArray
    kind: Literal["line", "steps", "points", "dots", "reference"] = "line"
    low: FloatArray | None = None
    high: FloatArray | None = None
    look: int | None = None  # its colour; by default the next one


@dataclass(frozen=True)
class Axis:
    """The title of an axis with its unit; limits that are left out follow from the numbers."""

    title: str
    low: float | None = None
    high: float | None = None
    percent: bool = False
    labels: tuple[str, ...] = ()
    write: Callable[[float], str] | None = None  # for dates and other special values

    def limits(self, values: FloatArray) -> tuple[float, float]:
        """Return the ends of the axis: those set, or a little beyond the finite numbers."""
        known = np.clip(values[np.isfinite(values)], -_LARGEST, _LARGEST)
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        beyond = (high - low) * 0.04 or abs(high) * 0.04 or 1.0
        return (
            low - beyond if self.low is None else self.low,
            high + beyond if self.high is None else self.high,
        )

    def text(self, value: float) -> str:
        """Write a tick."""
        if self.labels:
            room = (_WIDTH - _LEFT - _RIGHT) / min(len(self.labels), _MOST_TICKS)
            return _cut(self.labels[round(value)], int(room / _LETTER) - 1)
        if self.write is not None:
            return self.write(value)
        return percent_text(value, 4) if self.percent else _short(value)

    def ticks(self, low: float, high: float) -> list[float]:
        """Return about five round numbers between the ends."""
        if self.labels:
            step = -(-len(self.labels) // _MOST_TICKS)
            return [float(k) for k in range(0, len(self.labels), step)]
        if self.write is not None:
            return [low + share * (high - low) for share in (0.1, 0.5, 0.9)]  # texts are wide
        return _round_numbers(low, high)


@dataclass(frozen=True, eq=False)
class LineChart:
    """Lines over each other on two axes, with what they show in words."""

    title: str
    lines: Sequence[ChartLine]
    x: Axis
    y: Axis
    text: str

    @property
    def svg(self) -> Markup:
        """The drawing for a page."""
        return chart(self.lines, self.x, self.y, self.title, self.text)


@dataclass(frozen=True)
class Drawing:
    """A finished drawing with its title and its description."""

    title: str
    svg: Markup
    text: str


def chart(lines: Sequence[ChartLine], x: Axis, y: Axis, title: str, description: str) -> Markup:
    """Draw lines and points over each other, with a legend if more than one has a name."""
    ends = [part for line in lines for part in (line.low, line.high) if part is not None]
    x_low, x_high = x.limits(np.concatenate([line.x for line in lines]))
    y_low, y_high = y.limits(np.concatenate([*(line.y for line in lines), *ends]))
    places = _Places(x_low, x_high, y_low, y_high)
    parts = [*_axes(x, y, places)]
    looks = itertools.count()
    named = []
    for line in lines:
        look = next(looks) % N_LOOKS if line.kind != "reference" else N_LOOKS
        look = look if line.look is None else line.look
        parts.append(_draw_line(line, look, places))
        if line.name:
            named.append((line, look))
    legend, height = _legend(named) if len(named) > 1 else (Markup(""), 0)
    return _svg([*parts, legend], _WIDTH, _HEIGHT + height, title, description)


def bars(
    items: Sequence[tuple[str, float, str]], axis: Axis, title: str, description: str
) -> Markup:
    """Draw horizontal bars from 0: a name, a number and its text each."""
    left = min(190.0, 14 + _LETTER * max((len(name) for name, _, _ in items), default=0))
    right = 10 + _LETTER * max((len(text) for _, _, text in items), default=0)
    low, high = min(0.0, *(v for _, v, _ in items)), max(0.0, *(v for _, v, _ in items))
    scale = (_WIDTH - left - right) / ((high - low) or 1.0)
    zero, parts = left - low * scale, []
    for row, (name, value, text) in enumerate(items):
        y = 6 + row * _ROW
        start, width = zero + min(0.0, value) * scale, max(abs(value) * scale, 0.5)
        label = _cut(name, int((left - 10) / _LETTER))
        parts.append(
            Markup(
                '<g><title>{}: {}</title><text class="name" x="{:.1f}" y="{}">{}</text>'
                '<rect class="f0" x="{:.1f}" y="{}" width="{:.1f}" height="16" rx="2"/>'
                '<text x="{:.1f}" y="{}">{}</text></g>'
            ).format(
                *(name, text, left - 8, y + 13, label),
                *(start, y + 1, width, start + width + 5, y + 13, text),
            )
        )
    bottom = 6 + len(items) * _ROW
    parts.append(
        Markup(
            '<path class="axis" d="M{:.1f} 2V{}"/><text class="title" x="{:.1f}" y="{}">{}'
        ).format(zero, bottom, _WIDTH / 2, bottom + 18, axis.title)
        + Markup("</text>")
    )
    return _svg(parts, _WIDTH, bottom + 26, title, description)


class _Places:
    """Where numbers are on the drawing."""

    def __init__(self, x_low: float, x_high: float, y_low: float, y_high: float) -> None:
        self.x_ends, self.y_ends = (x_low, x_high), (y_low, y_high)

    def x(self, values: FloatArray | float) -> FloatArray:
        low, high = self.x_ends
        inside = np.clip(np.asarray(values, np.float64), low, high)
        return _LEFT + (inside - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, values: FloatArray | float) -> FloatArray:
        low, high = self.y_ends
        inside = np.clip(np.asarray(values, np.float64), low, high)
        return _HEIGHT - _BOTTOM - (inside - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)


def _axes(x: Axis, y: Axis, places: _Places) -> list[Markup]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for value in y.ticks(*places.y_ends):
        at = float(places.y(value))
        parts.append(
            Markup(
                '<path class="grid" d="M{} {:.1f}H{}"/>'
                '<text class="name" x="{}" y="{:.1f}">{}</text>'
            ).format(_LEFT, at, right, _LEFT - 6, at + 4, y.text(value))
        )
    for value in x.ticks(*places.x_ends):
        at = float(places.x(value))
        parts.append(
            Markup(
                '<path class="axis" d="M{:.1f} {}v5"/>'
                '<text class="tick" x="{:.1f}" y="{}">{}</text>'
            ).format(at, bottom, at, bottom + 18, x.text(value))
        )
    parts.append(
        Markup(
            '<path class="axis" d="M{} {}V{}H{}"/>'
            '<text class="title" x="{:.1f}" y="{}">{}</text>'
            '<text class="title" transform="translate(13 {:.1f}) rotate(-90)">{}</text>'
        ).format(
            *(_LEFT, _TOP, bottom, right),
            *((_LEFT + right) / 2, bottom + 39, x.title),
            *((_TOP + bottom) / 2, y.title),
        )
    )
    return parts


def _draw_line(line: ChartLine, look: int, places: _Places) -> Markup:
    xs, ys = places.x(line.x), places.y(line.y)
    parts = []
    if line.low is not None and line.high is not None:
        ends = zip(xs, places.y(line.low), places.y(line.high), strict=True)
        path = "".join(f"M{x:.1f} {a:.1f}V{b:.1f}" for x, a, b in ends)
        parts.append(Markup('<path class="l{} whisker" d="{}"/>').format(look, path))
    if line.kind in ("points", "dots"):
        size = 4 if line.kind == "points" else 2.2
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}"/>' for x, y in zip(xs, ys, strict=True)
        )
        parts.append(Markup('<g class="f{} {}">{}</g>').format(look, line.kind, Markup(dots)))
    else:
        parts.append(_stroke(_path(xs, ys, steps=line.kind == "steps"), look))
    return Markup("").join(parts)


def _stroke(path: str, look: int) -> Markup:
    dash = "5 4" if look == N_LOOKS else _DASHES[look]
    return Markup('<path class="l{}" d="{}"{}/>').format(
        look, path, Markup(' stroke-dasharray="{}"').format(dash) if dash else ""
    )


def _path(xs: FloatArray, ys: FloatArray, *, steps: bool) -> str:
    if not len(xs):
        return ""
    path = f"M{xs[0]:.1f} {ys[0]:.1f}"
    if steps:
        return path + "".join(f"H{x:.1f}V{y:.1f}" for x, y in zip(xs[1:], ys[1:], strict=True))
    return path + "".join(f"L{x:.1f} {y:.1f}" for x, y in zip(xs[1:], ys[1:], strict=True))


def _legend(named: Sequence[tuple[ChartLine, int]]) -> tuple[Markup, int]:
    """Name the lines below the drawing, two in a row."""
    parts = []
    for place, (line, look) in enumerate(named):
        x, y = 50 + (place % 2) * 195, _HEIGHT + 10 + (place // 2) * 20
        mark = _stroke(f"M{x} {y - 4}h26", look)
        if line.kind in ("points", "dots"):
            mark = Markup('<circle class="f{}" cx="{}" cy="{}" r="4"/>').format(look, x + 13, y - 4)
        text = Markup('<text x="{}" y="{}">{}</text>').format(x + 32, y, _cut(line.name, 19))
        parts.append(mark + text)
    return Markup("").join(parts), 20 * -(-len(named) // 2) + 4


def _svg(parts: Sequence[Markup], width: float, height: float, title: str, text: str) -> Markup:
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {:.0f}" role="img" aria-label="{}">{}</svg>'
    ).format(width, height, f"{title}. {text}", Markup("").join(parts))


def percent_text(share: float, digits: int = 3) -> str:
    """Write a share in percent with some significant digits."""
    return f"{100 * share:.{digits}g}\N{NO-BREAK SPACE}%"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: max(1, most - 1)] + "…"


def _short(value: float) -> str:
    if value and (abs(value) >= 1e15 or abs(value) < 1e-3):
        return f"{value:.2g}"
    if abs(value) >= 1e7:
        return f"{value / 1e6:,.4g} M"
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:,.6g}"


def _round_numbers(low: float, high: float) -> list[float]:
    if not high > low:
        return [low]
    rough = max((high - low) / 4, _SMALLEST)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((s * size for s in (1, 2, 2.5, 5, 10) if s * size >= rough), 10 * size)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]
