"""Models as text and HTML: a header, and a table of rules with effects and coverage.

The grammar, which `parse_model` reads::

    model  := title line, header lines, line of column titles, entries
    entry  := number cells rule                          a rule of its own
            | numbers "steps of" column ":" (cells range)+  all rules of one column, range by range
    rule   := body | "IF" body "THEN" class

Cells are separated by at least two blanks. Rules are numbered from 1 as printed.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from markupsafe import Markup

from rulewright.html import bold, draw_bar, lines, note, table, view
from rulewright.html import escape_line as escape_line
from rulewright.model.directions import draw_effects, draw_keys
from rulewright.model.entries import step_coverage
from rulewright.model.rule_table import (
    MEAN,
    RATE,
    SHARE,
    TEXT_TITLES,
    Bar,
    TextLine,
    table_lines,
)
from rulewright.model.scales import scale_lines
from rulewright.model.training_notes import are_weighted, base_mean, class_shares
from rulewright.rules import write_number, write_weight

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rulewright.model.entries import Entry
    from rulewright.model.rule_model import RuleModel

ALL_RULES = "print(max_rules=None) shows all"
_NOTES = {
    "training": "share: precision on training rows with 95 % interval (these rows chose the rules: "
    "expect less on new rows)",
    "outside": "share: precision on training rows, mostly rows that the rule was not grown on, "
    "with 95 % interval",
    "corrected": "share: precision on training rows, corrected for optimism by cross-validation, "
    "with 95 % interval",
    "left out": "share: precision on held-out rows with 95 % interval",
    "given": "share: precision on given rows with 95 % interval",
}
_FIGURES = (
    ("accuracy", "accuracy", "{:.3f}".format),
    ("log_loss", "log-loss", "{:.3f}".format),
    ("r2", "R2", "{:.3f}".format),
    ("rmse", "RMSE", write_number),
)


def strongest_rules(model: RuleModel, max_rules: int | None, hint: str = ALL_RULES) -> str:
    """Write the rules with the largest effects first, numbered as printed.

    `hint` says how to see the rules that are not shown.
    """
    shown = shown_entries(model, max_rules)
    hidden = hidden_text(model, [i for entry in shown for i in entry.places], hint)
    return "\n".join([header(model), *_write_table(table_lines(model, shown)), *hidden])


def hidden_text(model: RuleModel, shown: Sequence[int], hint: str = ALL_RULES) -> list[str]:
    """Write how many rules are not shown, if any, and how to see them."""
    hidden = len(model) - len(shown)
    return [f"... and {hidden:,} more; {hint}"] if hidden else []


def shown_entries(model: RuleModel, max_rules: int | None) -> list[Entry]:
    """Return the entries to read first: as many as have `max_rules` rules, an entry never cut."""
    shown: list[Entry] = []
    for entry in model.entries:
        if max_rules is not None and sum(len(one.places) for one in shown) >= max_rules:
            break
        shown.append(entry)
    return shown


def strongest(model: RuleModel, max_rules: int | None) -> list[int]:
    """Return the places of the rules in the order in which they are printed."""
    return [i for entry in model.entries for i in entry.places][:max_rules]


def all_rules(model: RuleModel) -> str:
    """Write all rules in printed order, with all digits of their effects."""
    lines = table_lines(model, model.entries, exact=True)
    return "\n".join([header(model, exact=True), *_write_table(lines)]) + "\n"


def title_of(model: RuleModel) -> str:
    """Describe in one line the kind of the model, its size, and its prediction."""
    return f"{type(model).__name__}: {write_count(len(model), 'rule')}, {model.scope}"


def write_count(number: int, noun: str) -> str:
    """Write how many there are of something."""
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s" if number else f"no {noun}s"


def header(model: RuleModel, *, exact: bool = False) -> str:
    """Write the lines above the rules: the model, where rows start, what numbers mean."""
    preamble = model.exact_preamble() if exact else model.preamble()
    lines = [title_of(model), preamble, *model.decision_lines()]
    lines += [note for note in (describe_sample(model), price_of(model)) if note]
    return "\n".join([*lines, *scale_lines(model.scales), *_explain_columns(model)])


def _explain_columns(model: RuleModel) -> list[str]:
    """Explain the shares or means of the rules, and which weights were counted."""
    kinds = {rule.coverage.rows for rule in model.rules}
    lines = [note for rows, note in _NOTES.items() if rows in kinds]
    base = "; all: share in all training rows"
    if kinds and model.n_classes is None:
        lines = ["mean: average target of the training rows that a rule covers, with 95 % interval"]
        base = "; all: average of all training rows"
        if model.at_risk:
            lines = [f"observed rate: events per unit of {model.at_risk}, with 95 % interval"]
            base = "; all: rate of all training rows"
    if lines and (class_shares(model) or base_mean(model) is not None):
        lines[-1] += base
    if steps := [step for entry in model.entries for step in entry.steps]:
        measure = "mean without interval" if model.n_classes is None else "uncorrected share"
        measure = "observed rate without interval" if model.at_risk else measure
        if any(step_coverage(model, step) is None for step in steps):
            measure += " (- is unknown)"
        lines.append(f"steps: what all rules of one column add in each range; {measure}")
    if kinds and are_weighted(model):
        by_class = (model.summary.get("settings") or {}).get("class_weight")
        why = f"class_weight={by_class}" if by_class else "row weights"
        lines.append(f"counts, shares and probabilities are weighted ({escape_line(why)})")
    return lines


def price_of(model: RuleModel) -> str:
    """Write the cost of compactness, if the summary has it; a file may hold anything."""
    try:
        parts = [
            f"{write_count(int(one['n_rules']), 'rule')} ({escape_line(str(one['learner']))}) "
            + ", ".join(f"{name} {write(one[key])}" for key, name, write in _FIGURES if key in one)
            for one in model.summary.get("price", ())
        ]
    except (TypeError, ValueError, KeyError, OverflowError):
        return ""
    return f"cost of compactness (held-out rows): {'; '.join(parts)}" if parts else ""


def describe_sample(model: RuleModel) -> str:
    """Write on which rows the rules were chosen, if not on all; a file may hold anything."""
    try:
        sample = model.summary["sample"]
        drawn, known = f"{sample['rows']:,}", f"{sample['of']:,}"
        pairs = zip(sample["by_class"], sample["all"], strict=True)
        names = zip(model.head_names, pairs, strict=True)
        whole = [
            f"all {write_weight(n)} rows of {escape_line(name)}"
            for name, (k, n) in names
            if 0 < n == k
        ]
    except (TypeError, ValueError, KeyError, OverflowError):
        return ""
    which = f", which has {' and '.join(whole)}" if whole else ""
    return f"rules chosen on a sample of {drawn} of {known} rows{which}; points from all rows"


def align_cells(lines: Sequence[Sequence[str]], left: Collection[int] = ()) -> list[str]:
    """Align all columns of a table but the last to the right, or to the left if in `left`."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = []
    for *line, last in lines:
        cells = [
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths[:-1], strict=True))
        ]
        padded.append("  ".join([*cells, last]).rstrip())
    return padded


def _write_table(lines: Sequence[TextLine]) -> list[str]:
    if not lines:
        return []
    titles = [*lines[0].cells, "rule"]
    left = {place for place, title in enumerate(titles) if title in TEXT_TITLES}
    rows = [[*line.cells.values(), line.rule] for line in lines]
    return align_cells([titles, *rows], left)


def model_view(model: RuleModel, max_rules: int | None) -> str:
    """Write the header and the rules to read first, as the text of the model has them."""
    title, *notes = header(model).splitlines()
    shown = shown_entries(model, max_rules)
    ids = [i for entry in shown for i in entry.places]
    return view(
        bold(title),
        *map(_block, paragraphs(notes)),
        draw_keys(model, ids, str(model.summary.get("target", ""))) if ids else None,
        _rules(model, table_lines(model, shown), ids) if ids else None,
        *map(note, hidden_text(model, ids)),
    )


def paragraphs(text: Sequence[str]) -> list[list[list[str]]]:
    """Return single lines of text, and lines of aligned numbers together as tables of cells."""
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


def _rules(model: RuleModel, lines: Sequence[TextLine], ids: Sequence[int]) -> Markup:
    titles, scale, effects = [*lines[0].cells, "rule"], _scale(lines), draw_effects(model, ids)
    rows = []
    for line in lines:
        drawn: dict[str, str] = {**line.cells}
        if line.place is not None and model.effect_title in drawn:
            drawn[model.effect_title] = effects[line.place] + drawn[model.effect_title]
        for title in line.cells.keys() & {SHARE, MEAN, RATE}:
            drawn[title] = _draw(line.bar, drawn[title], title, scale)
        rows.append([*drawn.values(), line.rule])
    words = (*TEXT_TITLES, SHARE, MEAN, RATE)
    return table([titles], rows, text={k for k, title in enumerate(titles) if title in words})


def _draw(bar: Bar | None, text: str, title: str, scale: tuple[float, float]) -> str:
    if bar is None:
        return text
    value, low, high, base = bar
    if title in (MEAN, RATE):
        drawn = draw_bar(value, base=base, scale=scale, point=True)
    else:
        drawn = draw_bar(value, low, high, base)
    return Markup('<span style="white-space: nowrap">{}{}</span>').format(drawn, text)


def _scale(lines: Sequence[TextLine]) -> tuple[float, float]:
    """Return the ends of the bars of means."""
    values = [x for line in lines if line.bar for x in (line.bar.value, line.bar.base)]
    known = [value for value in values if math.isfinite(value)]
    return (min(known), max(known)) if known else (0.0, 1.0)
