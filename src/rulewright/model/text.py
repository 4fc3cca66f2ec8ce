"""Models as text and HTML: a line per rule, what it says in a named unit, support, precision."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markupsafe import Markup

from rulewright.html import bold, draw_bar, lines, note, table, view
from rulewright.html import escape_line as escape_line
from rulewright.model.directions import draw_effects, draw_keys
from rulewright.rules import NumberCoverage, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model.rule_model import RuleModel

ALL_RULES = "print(max_rules=None) shows all"
_NOTES = {
    True: "precision is counted on training rows, which chose the rules: expect less on new rows",
    False: "mean is counted on training rows, which chose the rules",
}
_HONEST = {
    "outside": "precision is that of training rows that a rule was not grown on, where others "
    "count a fifth at most",
    "corrected": "precision is that of training rows, less what rules lose on rows left out",
}
_FIGURES = (
    ("accuracy", "accuracy", ".3f"),
    ("log_loss", "log-loss", ".3f"),
    ("r2", "R2", ".3f"),
    ("rmse", "RMSE", ".4g"),
)
COVERED = {
    "training": "training rows",
    "outside": "training rows",
    "corrected": "training rows",
    "left out": "rows left out",
    "given": "given rows",
}
"""What the covered rows of a coverage are called."""


def strongest_rules(model: RuleModel, max_rules: int | None, hint: str = ALL_RULES) -> str:
    """Write the rules with the largest responses first, numbered by their place in the model.

    `hint` says how to see the rules that are not shown.
    """
    shown = strongest(model, max_rules)
    return "\n".join([header(model), *_lines(model, shown), *hidden_text(model, shown, hint)])


def hidden_text(model: RuleModel, shown: Sequence[int], hint: str = ALL_RULES) -> list[str]:
    """Say how many rules are not shown, if any, and how to see them."""
    hidden = len(model) - len(shown)
    return [f"... and {hidden} more; {hint}"] if hidden else []


def strongest(model: RuleModel, max_rules: int | None) -> list[int]:
    """Return the places of the rules to read first: the largest responses, or the first ones."""
    if model.in_order:
        return [*range(len(model))][:max_rules]
    order = sorted(range(len(model)), key=lambda i: -model.strength(i))
    return order[:max_rules]


def all_rules(model: RuleModel) -> str:
    """Write all rules in the order they were learned."""
    return "\n".join([header(model), *_lines(model, range(len(model)))]) + "\n"


def title_of(model: RuleModel) -> str:
    """Say in one line what kind of model this is, how large, and what it predicts."""
    return f"{type(model).__name__}: {write_count(len(model), 'rule')}, {model.scope}"


def write_count(number: int, noun: str) -> str:
    """Write how many there are of something."""
    return f"1 {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def header(model: RuleModel) -> str:
    """Write what stands above the rules: what the model is, where rows start, what numbers mean."""
    lines = [title_of(model), model.preamble(), *model.decision_lines()]
    lines += [note for note in (describe_sample(model), price_of(model)) if note]
    counted_on = {rule.coverage.rows for rule in model.rules}
    if "training" in counted_on:
        lines.append(_NOTES[model.n_classes is not None])
    lines += [note for rows, note in _HONEST.items() if rows in counted_on]
    return "\n".join(lines)


def price_of(model: RuleModel) -> str:
    """Say what few rules lose against many, if the summary tells; a file may hold anything."""
    try:
        parts = [
            f"{write_count(int(one['n_rules']), 'rule')} ({escape_line(str(one['learner']))}) "
            + ", ".join(f"{said} {one[key]:{how}}" for key, said, how in _FIGURES if key in one)
            for one in model.summary.get("price", ())
        ]
    except (TypeError, ValueError, KeyError, OverflowError):
        return ""
    return f"cost of compactness (held-out rows): {'; '.join(parts)}" if parts else ""


def describe_sample(model: RuleModel) -> str:
    """Say on which rows the rules were chosen, if not on all; a file may hold anything."""
    try:
        sample = model.summary["sample"]
        drawn, known = f"{sample['rows']:,}", f"{sample['of']:,}"
        pairs = zip(sample["by_class"], sample["all"], strict=True)
        names = zip(model.head_names, pairs, strict=True)
        whole = [f"all {n:,} rows of {escape_line(name)}" for name, (k, n) in names if 0 < n == k]
    except (TypeError, ValueError, KeyError, OverflowError):
        return ""
    which = f", which has {' and '.join(whole)}" if whole else ""
    return f"rules chosen on a sample of {drawn} of {known} rows{which}; points from all rows"


def rule_cells(model: RuleModel, ids: Sequence[int]) -> list[dict[str, str]]:
    """Give what rules say and what they cover, by the titles of the columns of a table."""
    counted_on = {model.rules[i].coverage.rows for i in ids}
    return [_cells(model, i, len(counted_on) == 1) for i in ids]


def _cells(model: RuleModel, i: int, same_rows: bool) -> dict[str, str]:
    rule, coverage = model.rules[i], model.rules[i].coverage
    cells = {"#": str(i), **model.origin(i), model.effect_title: model.effect(rule)}
    support, rows = f"{coverage.support:.6g}", COVERED[coverage.rows]
    cells |= {rows: support} if same_rows else {"covers": f"{support} {rows}"}
    if isinstance(coverage, NumberCoverage):
        return cells | {"mean": coverage.mean_text}
    return cells | {"precision": coverage.share_text(rule.head)}


def align_cells(lines: Sequence[Sequence[str]]) -> list[str]:
    """Pad all cells of a table but the last of each line, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            [*(cell.rjust(w) for cell, w in zip(line, widths[:-1], strict=False)), line[-1]]
        ).rstrip()
        for line in lines
    ]


def rule_rows(model: RuleModel, ids: Sequence[int]) -> list[dict[str, str]]:
    """Give the table of rules as people read it: a line per rule, by the titles of the columns."""
    names = [escape_line(name) for name in model.head_names]
    cells = zip(ids, rule_cells(model, ids), strict=True)
    return [line | {"rule": claim(model.rules[i], names)} for i, line in cells]


def _lines(model: RuleModel, ids: Sequence[int]) -> list[str]:
    rows = rule_rows(model, ids)
    return align_cells([[*rows[0]], *([*row.values()] for row in rows)]) if rows else []


def claim(rule: Rule, names: Sequence[str]) -> str:
    """Write a rule without its number; names are those of the classes, if there are classes."""
    return f"IF {rule.body} THEN {rule.head.text(names)}" if names else f"IF {rule.body}"


_MEASURES = ("precision", "mean")


def model_view(model: RuleModel, max_rules: int | None) -> str:
    """Write the header and the rules to read first, as the text of the model has them."""
    title, *said = header(model).splitlines()
    ids = strongest(model, max_rules)
    return view(
        bold(title),
        *map(_block, paragraphs(said)),
        draw_keys(model, ids, str(model.summary.get("target", ""))) if ids else None,
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
    effects, rows = draw_effects(model, ids), []
    for i, line in zip(ids, lines, strict=True):
        drawn: dict[str, str] = {**line, model.effect_title: effects[i] + line[model.effect_title]}
        for title in line.keys() & set(_MEASURES):
            drawn[title] = _draw_measure(model.rules[i], line[title], scale)
        rows.append([*drawn.values()])
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
