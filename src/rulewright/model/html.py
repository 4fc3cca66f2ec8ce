"""Models as HTML for notebooks: what text says, with bars beside precisions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markupsafe import Markup

from rulewright.html import bold, draw_bar, lines, note, table, view
from rulewright.model.text import header, hidden_text, rule_rows, strongest
from rulewright.rules import NumberCoverage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Rule

_MEASURES = ("precision", "mean")


def model_view(model: RuleModel, max_rules: int | None) -> str:
    """Write the header and the rules to read first, as the text of the model has them."""
    title, *said = header(model).splitlines()
    ids = strongest(model, max_rules)
    return view(
        bold(title),
        *map(_block, paragraphs(said)),
        _rules(model, ids) if ids else None,
        *map(note, hidden_text(model, ids)),
    )


def paragraphs(text: Sequence[str]) -> list[list[list[str]]]:
    """Give lines of text, each alone, and lines of aligned numbers together as tables of cells."""
    found: list[list[list[str]]] = []
    for line in text:
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) > 1 and found and len(found[-1][-1]) == len(cells):
            found[-1].append(cells)
        else:
            found.append([cells])
    return found


def _block(cells: list[list[str]]) -> Markup:
    if len(cells) == 1:
        return lines([" ".join(cells[0])])
    return table(cells[:1], cells[1:], text={0})


def _rules(model: RuleModel, ids: Sequence[int]) -> Markup:
    scale, lines = _scale(model, ids), rule_rows(model, ids)
    rows = [
        [
            _draw_measure(model.rules[i], text, scale) if title in _MEASURES else text
            for title, text in line.items()
        ]
        for i, line in zip(ids, lines, strict=True)
    ]
    titles = [*lines[0]]
    text = {place for place, title in enumerate(titles) if title in ("rule", *_MEASURES)}
    return table([titles], rows, text=text)


def _draw_measure(rule: Rule, text: str, scale: tuple[float, float]) -> Markup:
    """Draw the precision of a rule with its interval, or the mean, before its text."""
    if isinstance(rule.coverage, NumberCoverage):
        drawn = draw_bar(rule.coverage.mean, scale=scale, point=True)
    else:
        drawn = draw_bar(rule.precision, *rule.precision_interval)
    return Markup('<span style="white-space: nowrap">{}{}</span>').format(drawn, text)


def _scale(model: RuleModel, ids: Sequence[int]) -> tuple[float, float]:
    """Give the ends of the bars of means."""
    coverages = [model.rules[i].coverage for i in ids]
    means = [one.mean for one in coverages if isinstance(one, NumberCoverage)]
    return (min(means), max(means)) if means else (0.0, 1.0)
