"""Output of the commands: tables on a terminal, one line per rule in a file or a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from rulewright.data import Finding, Numbers, Target
from rulewright.evidence import BRIER, name_figure
from rulewright.model import escape_line, header, shown_entries, strongest_rules, table_lines
from rulewright.rules import write_number, write_weight

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Column, Table
    from rulewright.model import RuleModel, TextLine

_UNLIMITED = 100_000  # width of a file or a pipe: nothing is wrapped or cut
_GAP = 2  # spaces between the columns of a table
_SHOWN_COLUMNS = 50
_SHOWN_LABELS = 6
_SHOWN_NOTES = 20
_SHOWN_LETTERS = 24
_SUMMARY = {
    "learner": "learner",
    "target": "target",
    "positive_class": "positive class",
    "n_rows": "training rows",
    "log_loss": "training log-loss",
    "bins": "bins",
    "stopped_by": "stopped by",
    "settings": "settings",
    "constraints": "constraints",
}

_HIDDEN_FIGURES = ("ks", "gini")  # of the line of `show`: they follow the AUC


def make_console(stream: TextIO | None = None) -> Console:
    """Return a console for standard output or a file, without colours unless it is a terminal."""
    stream = stream or sys.stdout
    terminal = stream.isatty()
    return Console(
        file=stream,
        force_terminal=terminal,
        color_system="auto" if terminal else None,
        width=None if terminal else _UNLIMITED,
        highlight=False,
        markup=False,
        emoji=False,
    )


def print_data(console: Console, table: Table, weights: NDArray[Any]) -> None:
    """Print what the target and the columns of a table hold."""
    if isinstance(table.target, Numbers):
        print_numbers(console, table, weights)
    else:
        print_schema(console, table, table.known_target, weights)


def print_schema(console: Console, table: Table, target: Target, weights: NDArray[Any]) -> None:
    """Print the share of each class, then name, kind, values and missing count of each column."""
    console.print(shares_of_classes(target, weights), end="\n\n")
    print_columns(console, table)


def shares_of_classes(target: Target, weights: NDArray[Any]) -> Text:
    """Write the share of each class."""
    totals = np.bincount(target.codes, weights, len(target.classes))
    order = sorted(range(len(totals)), key=lambda k: -totals[k])
    parts = totals / totals.sum()
    shares = [
        f"{_short(str(target.classes[k]))} {write_weight(totals[k])} ({parts[k]:.1%})"
        for k in order[:_SHOWN_LABELS]
    ]
    more = f", ... ({len(order)} classes)" if len(order) > _SHOWN_LABELS else ""
    return Text(f"classes: {', '.join(shares)}{more}")


def print_numbers(console: Console, table: Table, weights: NDArray[Any]) -> None:
    """Print mean and range of the numbers, then name, kind and values of each column."""
    numbers = table.known_numbers.values
    mean = np.average(numbers, weights=weights)
    deviation = np.sqrt(np.average((numbers - mean) ** 2, weights=weights))
    known = numbers[weights > 0]
    console.print(
        f"numbers: mean {write_number(mean, digits=6)}, standard deviation "
        f"{write_number(deviation)}, from {write_number(known.min(), digits=6)} to "
        f"{write_number(known.max(), digits=6)}\n"
    )
    print_columns(console, table)


def print_columns(console: Console, table: Table) -> None:
    """Print name, kind, values and missing count of each column."""
    grid = _grid("column", "kind", "values", missing="right")
    for column in table.columns[:_SHOWN_COLUMNS]:
        grid.add_row(*map(Text, _describe_column(column)))
    console.print(grid)
    if len(table.columns) > _SHOWN_COLUMNS:
        console.print(f"... and {len(table.columns) - _SHOWN_COLUMNS} more columns")


def print_findings(console: Console, findings: Sequence[Finding]) -> None:
    """Print one line per finding."""
    if not findings:
        console.print("nothing looks wrong")
    for finding in findings:
        console.print(Text(f"{finding.kind}: {escape_line(str(finding))}"))


def print_finding_notes(console: Console, findings: Sequence[Finding], file: object) -> None:
    """Print the first findings as notes; the cross-validation reports rare classes."""
    noted = [finding for finding in findings if finding.kind != "rare class"]
    if noted:
        console.print()
    for finding in noted[:_SHOWN_NOTES]:
        console.print(Text(f"note: {escape_line(str(finding))}"))
    if len(noted) > _SHOWN_NOTES:
        more = len(noted) - _SHOWN_NOTES
        console.print(Text(f"... and {more} more notes; 'rulewright inspect {file}' prints all"))


def print_grid(
    console: Console, head: Sequence[str], rows: Sequence[Sequence[str]], *, texts: bool = False
) -> None:
    """Print a table of text: names on the left, figures on the right, or all of them texts."""
    grid = _grid(*(head if texts else head[:1]))
    for title in [] if texts else head[1:]:
        grid.add_column(title, justify="right")
    for row in rows:
        grid.add_row(*map(Text, row))
    console.print(grid)


def print_rules(console: Console, model: RuleModel, max_rules: int | None, hint: str) -> None:
    """Print the strongest rules, and how to see the others."""
    text, entries = strongest_rules(model, max_rules, hint), shown_entries(model, max_rules)
    if not console.is_terminal:
        sys.stdout.write(text + "\n")
        return
    console.print(Text(header(model)))
    if entries:
        console.print(_rules_grid(table_lines(model, entries), console.width))
    if sum(len(entry.places) for entry in entries) < len(model):
        console.print(Text(text.splitlines()[-1]))


def print_summary(console: Console, model: RuleModel) -> None:
    """Print the learner's summary."""
    for key, title in _SUMMARY.items():
        if key in model.summary:
            value = model.summary[key]
            text = f"{value:,}" if type(value) is int else escape_line(_flat(value))
            console.print(Text(f"{title}: {text}"))
    if said := _validation(model):
        console.print(Text(said))
    print_figures(console, model)


def _validation(model: RuleModel) -> str:
    """Write figures of rows that a model was not learned from; a file may hold anything."""
    noted: Any = model.summary.get("validation")
    try:
        positive = str(noted.get("positive", ""))
        parts = [
            f"{write_figure_name(key, model, positive)} "
            f"{_digits(one['value'])} [{_digits(one['low'])}, {_digits(one['high'])}]"
            for key, one in noted["figures"].items()
            if None not in (one["value"], one["low"], one["high"]) and key not in _HIDDEN_FIGURES
        ]
        return f"on {escape_line(str(noted['rows']))}: {', '.join(parts)}"
    except (TypeError, ValueError, KeyError, AttributeError):
        return ""


def write_figure_name(key: str, model: RuleModel, positive: str = "") -> str:
    """Write the name of a figure as inside a sentence."""
    name = escape_line(name_figure(key, len(model.head_names), positive))
    return lower_first(name)


def lower_first(name: str) -> str:
    """Write a name as inside a sentence; names of people and acronyms stay."""
    first = name.split()[0]
    keeps = first.isupper() or first in ("Brier", "Gini")
    return name if keeps else first.lower() + name.removeprefix(first)


def _digits(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.4g}"


def print_settings(console: Console, model: RuleModel) -> None:
    """Print all parameters of the learner."""
    for name, value in model.summary.get("settings", {}).items():
        console.print(Text(f"{name} = {escape_line(_flat(value))}"))
    console.print()


def print_figures(console: Console, model: RuleModel, *, of_training: bool = True) -> None:
    """Print the reliability of the probabilities, and the curve of the compression.

    A model with figures of held-out rows has those only: one set of figures.
    """
    figures = model.summary.get("reliability", {})
    hidden = "validation" in model.summary or (
        not of_training and figures.get("rows") == "training"
    )
    if figures and not hidden:
        counted_on = figures["rows"]
        left_out = counted_on.startswith("left out")
        rows = f"rows {counted_on}" if left_out else f"{counted_on} rows"
        console.print(Text(f"on {escape_line(rows)}: {_reliability(figures, model)}"))
        if "uncalibrated" in figures:
            before = _reliability(figures["uncalibrated"], model)
            console.print(Text(f"  before calibration: {before}"))
    if "compression" in model.summary:
        print_curve(console, model.summary["compression"])


def _reliability(figures: Mapping[str, Any], model: RuleModel) -> str:
    known = [key for key in ("accuracy", "log_loss", "brier", BRIER, "ece") if key in figures]
    return ", ".join(f"{write_figure_name(key, model)} {figures[key]:.3f}" for key in known)


def print_curve(console: Console, compression: Mapping[str, Any]) -> None:
    """Print the cross-validated figures of each number of rules, and mark the chosen one."""
    before, kept = compression["n_rules_before"], compression["n_rules"]
    console.print(
        f"compression: {kept} of {before} rules, chosen by "
        f"{escape_line(str(compression['chosen_by']))}"
    )
    grid = _grid(**dict.fromkeys(("rules", "log-loss", "accuracy"), "right"))
    for point in compression["curve"]:
        grid.add_row(
            f"{'> ' if point['n_rules'] == kept else ''}{point['n_rules']}",
            f"{point['log_loss']:.3f} ± {point['log_loss_sd']:.3f}",
            f"{point['accuracy']:.3f}",
        )
    console.print(grid)
    if "warning" in compression:
        console.print(Text(escape_line(str(compression["warning"]))))


def _rules_grid(lines: Sequence[TextLine], width: int) -> Grid:
    titles, cells = [*lines[0].cells], [_shorten_class(one.cells) for one in lines]
    grid = _grid(**{title: "left" if title == "class" else "right" for title in titles})
    grid.add_column("rule")
    taken = sum(max(len(h), *(len(own[h]) for own in cells)) + _GAP for h in titles)
    for one, own in zip(lines, cells, strict=True):
        grid.add_row(*map(Text, (*own.values(), wrap_rule(one.parts, width - taken))))
    return grid


def _shorten_class(cells: dict[str, str]) -> dict[str, str]:
    return cells | {"class": _short(cells["class"])} if "class" in cells else cells


def wrap_rule(parts: Sequence[str], width: int) -> str:
    """Write a rule in lines that break between its conditions and before its outcome."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return "\n".join(lines)


def _grid(*left: str, **justified: Any) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for title in left:
        grid.add_column(title)
    for title, justify in justified.items():
        grid.add_column(title, justify=justify, no_wrap=True)
    return grid


def _describe_column(column: Column) -> tuple[str, str, str, str]:
    schema, text = column.schema, column.schema.type.describe(column, _short)
    return escape_line(schema.name), schema.kind, text, str(np.count_nonzero(column.is_missing))


def _short(label: str) -> str:
    text = escape_line(label)
    return text if len(text) <= _SHOWN_LETTERS else text[: _SHOWN_LETTERS - 3] + "..."


def _flat(value: object) -> str:
    """Write plain data in one line, nested data in brackets."""
    if isinstance(value, dict):
        return ", ".join(f"{name}={_inner(item)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_inner, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _inner(value: object) -> str:
    return f"[{_flat(value)}]" if isinstance(value, dict | list) else _flat(value)
