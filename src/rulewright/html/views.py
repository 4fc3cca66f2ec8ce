"""A view in a notebook: one block with its own style, no script, for light and dark pages.

Text has the colour of the page around it, lines and grounds are mixed from that, and bars have
colours that stand out from white and from black. So no theme needs to be known. Where a page drops
styles, tables and numbers are left.
"""

from __future__ import annotations

import math
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence


_PAGE = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width"><title>{title}</title>'
    "<style>:root {{ color-scheme: light dark; }} body {{ max-width: 72em; margin: 2em auto; "
    "padding: 0 1em; font-family: system-ui, sans-serif; }}</style>"
    "</head><body>\n<h1>{title}</h1>\n{body}\n</body></html>\n"
)


@cache
def style_of(name: str) -> Markup:
    """Return a style sheet of this room: "view", or "bars" on a page that defines colours.

    The colours are --raised, --c0, --c1 and --ink.
    """
    return Markup((resources.files("rulewright.html") / f"{name}.css").read_text("utf-8"))


def view(*parts: str | None) -> str:
    """Put parts, text or HTML, below each other; text is escaped."""
    blocks = Markup("\n").join(part for part in parts if part is not None)
    bars = Markup(".rulewright {{\n{}}}\n").format(style_of("bars"))
    style = Markup("<style>\n{}{}</style>").format(bars, style_of("view"))
    return str(Markup('<div class="rulewright">{}\n{}\n</div>').format(style, blocks))


def page(title: str, body: str) -> str:
    """Write a whole page around a view; it needs no network and no other file."""
    return str(Markup(_PAGE).format(title=title, body=Markup(body)))


def bold(text: str) -> Markup:
    """Write a line in bold."""
    return Markup("<p><b>{}</b></p>").format(text)


def lines(texts: Iterable[str]) -> Markup:
    """Write a paragraph for each text."""
    return Markup("\n").join(Markup("<p>{}</p>").format(text) for text in texts)


def note(text: str) -> Markup:
    """Write a line that matters less."""
    return Markup('<p class="soft">{}</p>').format(text)


def table(
    titles: Sequence[Sequence[object]],
    rows: Iterable[Sequence[object]],
    *,
    text: Collection[int] = (),
    wrap: bool = True,
) -> Markup:
    """
    Write a table.

    Parameters
    ----------
    titles : sequence of sequences
        Lines of titles.
    rows : iterable of sequences
        Lines of cells, text or HTML.
    text : collection of int
        Columns that hold text; all others hold numbers, which are set to the right.
    wrap : bool
        Whether text may take several lines.
    """
    head, body = (
        Markup("\n").join(_line(cells, tag, text) for cells in part)
        for part, tag in ((titles, "th"), (rows, "td"))
    )
    kind = "" if wrap else Markup(' class="tight"')
    return Markup("<table{}>\n<thead>\n{}\n</thead>\n<tbody>\n{}\n</tbody>\n</table>").format(
        kind, head, body
    )


def _line(cells: Sequence[object], tag: str, text: Collection[int]) -> Markup:
    return Markup("<tr>{}</tr>").format(
        Markup("").join(_cell(cell, tag, place not in text) for place, cell in enumerate(cells))
    )


def _cell(cell: Any, tag: str, number: bool) -> Markup:
    names = (' scope="col"' if tag == "th" else "") + (' class="n"' if number else "")
    return Markup("<{}{}>{}</{}>").format(tag, Markup(names), cell, tag)


def draw_bar(
    value: float,
    low: float = math.nan,
    high: float = math.nan,
    base: float = math.nan,
    *,
    scale: tuple[float, float] = (0.0, 1.0),
    point: bool = False,
) -> Markup:
    """
    Draw a number on a scale.

    Parameters
    ----------
    value, low, high : float
        The number, and the ends of its interval; an end that is NaN is not drawn.
    base : float
        A number to compare with, drawn as a mark; none if it is NaN.
    scale : pair of float
        The ends of the bar.
    point : bool
        Draw a point, where a bar from the left end would mean nothing.
    """
    start, width = scale[0], (scale[1] - scale[0]) or 1.0
    ends = {"p": value, "l": low, "h": high, "b": base}
    shares = {key: (x - start) / width for key, x in ends.items() if math.isfinite(x)}
    whisker = Markup("<i></i>") if "l" in shares and "h" in shares else ""
    mark = Markup("<b></b>") if "b" in shares else ""
    kind = "bar point" if point else "bar"
    return Markup('<span class="{}" style="{}" aria-hidden="true"><s></s>{}{}</span>').format(
        kind, _style(shares), whisker, mark
    )


def draw_move(
    change: float, largest: float, look: int | None = None, *, signed: bool = True
) -> Markup:
    """
    Draw a change as a bar from the middle, to the right where it is positive.

    Parameters
    ----------
    change, largest : float
        The change, and the one that fills a side.
    look : int, optional
        The colour, 0 to 5; by default 0 to the right and 1 to the left.
    signed : bool
        Whether 0 is in the middle; else bars start at the left end.
    """
    share = min(1.0, abs(change) / largest) if largest else 0.0
    half, middle = (0.5 * share, 0.5) if signed else (share, 0.0)
    left = middle if change >= 0 else middle - half
    kind = f"{'move' if signed else 'from'} k{int(change < 0) if look is None else look}"
    return Markup('<span class="bar {}" style="{}" aria-hidden="true"><s></s></span>').format(
        kind, _style({"l": left, "p": half})
    )


def draw_key(look: int, text: str) -> Markup:
    """Draw the colour of bars before what it says."""
    return Markup('<span class="key"><i class="k{}" aria-hidden="true"></i>{}</span>').format(
        look, text
    )


def _style(shares: Mapping[str, float]) -> str:
    return ";".join(f"--{k}:{100 * min(1.0, max(0.0, x)):.1f}%" for k, x in shares.items())
