"""Places of labels in a crowded chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_LETTER = 6.0
_LINE = 12.0
_GAP = 7.0
_DOT = 4.0


class Label(NamedTuple):
    """A text, and the point in pixels of its left end, centre or right end."""

    x: float
    y: float
    text: str
    align: Literal["left", "center", "right"]


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, width: float, height: float) -> bool:
        return self.left >= 0 and self.top >= 0 and self.right <= width and self.bottom <= height


def place_labels(
    dots: Sequence[tuple[float, float]],
    names: Sequence[tuple[float, float, str]],
    width: float,
    height: float,
) -> list[Label]:
    """Put names beside their dots, in order, where they cover no dot and no other name.

    Places are in pixels. `dots` are all dots (x, y) of the chart, `names` those to be labelled, as
    (x, y, text); a dot without room on any side of it gets no label.
    """
    taken = [_Box(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in dots]
    labels = []
    for x, y, text in names:
        for label in _places(x, y, text):
            box = _box(label)
            if box.within(width, height) and not any(box.meets(other) for other in taken):
                taken.append(box)
                labels.append(label)
                break
    return labels


def _places(x: float, y: float, text: str) -> list[Label]:
    """Return the places for a name: right, left, above, below, then between these."""
    return [
        Label(x + _GAP, y, text, "left"),
        Label(x - _GAP, y, text, "right"),
        Label(x, y - _LINE, text, "center"),
        Label(x, y + _LINE, text, "center"),
        *(Label(x + _GAP, y + way * _LINE, text, "left") for way in (-1, 1)),
        *(Label(x - _GAP, y + way * _LINE, text, "right") for way in (-1, 1)),
        *(Label(x + _DOT, y + way * _LINE, text, "right") for way in (-1, 1)),
        *(Label(x - _DOT, y + way * _LINE, text, "left") for way in (-1, 1)),
    ]


def _box(label: Label) -> _Box:
    length = _LETTER * len(label.text)
    left = label.x - {"left": 0.0, "center": 0.5, "right": 1.0}[label.align] * length
    return _Box(left, label.y - _LINE / 2, left + length, label.y + _LINE / 2)
