"""A card on one page, to print and to fill in by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from rulewright import html
from rulewright.data import replace_file
from rulewright.evidence import format_percent
from rulewright.model import RuleCard, write_points, write_signed_points

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from rulewright.model import Entry

_STYLE = Markup(
    "<style>.box { display: inline-block; width: 3.2em; height: 1.3em; border: 1px solid; } "
    "tr { break-inside: avoid; } .total td { border-top: 2px solid; font-weight: 600; } "
    "@media print { :root { color-scheme: light; } body { margin: 0; } "
    ".rulewright table { font-size: 11pt; } }</style>"
)
_BOX = Markup('<span class="box"></span>')


def write_card(model: Any, path: str | os.PathLike[str], *, title: str = "") -> None:
    """Write a card as one HTML page, whole or not at all; see `card_html`."""
    replace_file(path, card_html(model, title=title).encode())


def card_html(model: Any, *, title: str = "") -> str:
    """Write a card of two classes as one HTML page: items with boxes, and a table of totals.

    Parameters
    ----------
    model : RuleCard or fitted estimator
        The card.
    title : str
        Title of the page; by default it names the class that points count for.

    Returns
    -------
    str
        The page; it needs no network and no other file.
    """
    model = getattr(model, "model_", model)
    if not isinstance(model, RuleCard) or len(model.classes) != 2:
        raise ValueError("a card page needs a RuleCard of two classes; to_card makes one")
    name = model.shown_names[model.positive]
    body = html.view(
        _STYLE,
        html.note(
            "Write the points of every item that applies into its box; for a block of ranges, the "
            "points of one line. Add up the boxes, and look up the total."
        ),
        html.table([["item", "points", "yours"]], _item_rows(model), text={0}),
        html.bold(f"Probability of {name} by total"),
        html.table([_TITLES[: 2 + 3 * bool(_counted(model))]], _total_rows(model), text=()),
        html.note(_gap_text(model)),
    )
    return html.page(title or f"Card for {name}", body)


_TITLES = ["total", "probability", "rows", "observed", "95 % interval"]


def _item_rows(model: RuleCard) -> Iterator[list[Any]]:
    """Yield the lines to fill in: the start, items, blocks of ranges, and the total."""
    if model.start:
        yield ["start", write_points(model.start), write_points(model.start)]
    for entry in model.entries:
        yield from _entry_rows(model, entry)
    yield [Markup("<b>total</b>"), "", _BOX]


def _entry_rows(model: RuleCard, entry: Entry) -> Iterator[list[Any]]:
    """Yield an item, or the ranges of a column."""
    if not entry.steps:
        (place,) = entry.places
        points = write_signed_points(model.points[place])
        yield [str(model.rules[place].body), points, _BOX]
        return
    yield [f"one of these for {entry.steps[0].body.column}:", "", _BOX]
    for step in entry.steps:
        sign = 1 if step.outcome.head.first == model.positive else -1
        value = model.to_points(sign * step.outcome.value)
        yield [f"\N{EM SPACE}{step.body}", write_signed_points(value), ""]


def _counted(model: RuleCard) -> list[dict[str, Any]]:
    """Return the totals of the training rows, if the model has noted them."""
    card = model.summary.get("card")
    lines = card.get("totals") if isinstance(card, dict) else None
    return lines if isinstance(lines, list) else []


def _total_rows(model: RuleCard) -> Iterator[list[Any]]:
    """Yield totals with their probability, and what was observed on training rows."""
    lines = _counted(model)
    if not lines:
        for shown in model.shown_totals():
            yield [write_points(shown.total), format_percent(shown.probability)]
        return
    for line in lines:
        low, high = float(line["low"]), float(line["high"])
        first, last = model.probability_of([low, high]).tolist()
        text = write_points(low) if low == high else f"{write_points(low)} to {write_points(high)}"
        chance = format_percent(first)
        if low < high:
            chance += f" to {format_percent(last)}"
        ends = " to ".join(format_percent(float(end)) for end in line["interval"])
        share = format_percent(float(line["share"]))
        yield [text, chance, f"{float(line['weight']):,.0f}", share, ends]


def _gap_text(model: RuleCard) -> str:
    """Write how good the points are, if that is known."""
    card = model.summary.get("card")
    if not isinstance(card, dict) or not {"loss", "gap"} <= card.keys():
        return "Every point multiplies the odds by the same factor."
    loss, gap = float(card["loss"]), float(card["gap"])
    proof = (
        "no other whole points of these items have a lower one"
        if gap == 0
        else f"other points of these items gain at most {gap:.2g}"
    )
    return f"Log-loss on training rows {loss:.4f}; {proof}. Observed figures are of those rows."
