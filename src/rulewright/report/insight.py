"""What matters and what it costs: importances, partial dependence, sizes, notes of the learner."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.evidence import BRIER, name_figure
from rulewright.explain import Dependence, importance, partial_dependence
from rulewright.html import cut_line
from rulewright.model import (
    AdditiveRules,
    RegressionRules,
    RuleModel,
    RuleSetVotes,
    escape_line,
    write_count,
)
from rulewright.report.figures import Axis, ChartLine, Drawing, LineChart, bars
from rulewright.trust import certificate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.data import Kind, Table
    from rulewright.explain import EvaluatedRows

_SHOWN_COLUMNS = 15
_DRAWN_COLUMNS = 6
_POINTS = 40
_ROWS = 500
_KEPT_CLASSES = 4


def importance_drawing(model: RuleModel, rows: EvaluatedRows | None) -> Drawing | None:
    """Draw how much each column matters, or where terms do not add up how many rules use it."""
    if isinstance(model, AdditiveRules | RegressionRules):
        try:
            found = (importance(model) if rows is None else rows.importance).by_column()
        except ValueError:  # neither rows nor a note of the weight of the training rows
            found = {}
        if found:
            return _importance(model, found)
    uses = Counter(name for rule in model.rules for name in rule.body.columns)
    if not uses:
        return None
    items = [(escape_line(name), float(n), str(n)) for name, n in uses.most_common(_SHOWN_COLUMNS)]
    text = f"Of {write_count(len(model.rules), 'rule')} {items[0][2]} use {cut_line(items[0][0])}."
    title = "Columns by the rules that use them"
    return Drawing(title, bars(items, Axis("number of rules"), title, text), text)


def _importance(model: RuleModel, found: Mapping[str, float]) -> Drawing:
    largest = max(found.values()) or 1.0
    shown = list(found.items())[:_SHOWN_COLUMNS]
    items = [(escape_line(k), 100 * v / largest, f"{100 * v / largest:.0f}") for k, v in shown]
    unit = "points" if model.head_names else "units of the target"
    text = (
        f"{cut_line(items[0][0])} matters most: what its rules add has a standard deviation of "
        f"{shown[0][1]:.3g} {unit}. A rule shares its part among its columns."
    )
    title = "Importance of columns"
    return Drawing(title, bars(items, Axis("importance (largest = 100)"), title, text), text)


def dependence_drawings(rows: EvaluatedRows | None) -> list[LineChart]:
    """Draw how the mean answer depends on the most important columns, of models that add up."""
    if rows is None or not isinstance(rows.model, AdditiveRules | RegressionRules):
        return []
    if len(rows) > _ROWS:
        rows = rows.take(np.linspace(0, len(rows) - 1, _ROWS).astype(np.intp))
    model, table = rows.model, rows.table
    weighty = [k for k, v in rows.importance.by_column().items() if v > 0]
    known = [name for name in weighty if not table[name].is_missing.all()][:_DRAWN_COLUMNS]
    drawn = [partial_dependence(model, table, name, max_points=_POINTS) for name in known]
    return [_dependence(model, one, table) for one in drawn]


def _dependence(model: RuleModel, found: Dependence, rows: Table) -> LineChart:
    name, values = found.columns[0], found.values
    names = [cut_line(part, 22) for part in found.names]
    y = Axis("mean prediction (units of the target)")
    if len(names) == 2:
        values, y = values[:, 1:] - values[:, :1], Axis(f"mean points for {cut_line(names[1], 16)}")
        names = [""]
    elif len(names) > 2:
        moved = np.argsort(-np.ptp(values, axis=0), kind="stable")[:_KEPT_CLASSES]
        values, names, y = values[:, moved], [names[k] for k in moved], Axis("mean points")
    else:
        names = [""]
    points = [point[0] for point in found.points]
    ordered, write = rows[name].schema.type.ordered, _writer(rows[name].schema.type)
    x = np.array(points, np.float64) if ordered else np.arange(len(points), dtype=np.float64)
    axis = Axis(cut_line(name, 34), write=None if rows[name].schema.type.arithmetic else write)
    if not ordered:
        axis = Axis(
            cut_line(name, 34), -0.5, len(points) - 0.5, labels=tuple(map(escape_line, points))
        )
    kind: Any = "steps" if ordered and len(points) > 1 else "points"
    lines = [ChartLine(names[k], x, values[:, k], kind) for k in range(len(names))]
    low, high = int(np.argmin(values[:, 0])), int(np.argmax(values[:, 0]))
    text = (
        f"Lowest at {cut_line(write(points[low]), 20)} ({values[low, 0]:.3g}), highest at "
        f"{cut_line(write(points[high]), 20)} ({values[high, 0]:.3g}), other columns as they are."
    )
    title = f"Dependence on {cut_line(name)}"
    return LineChart(title, lines, axis, y, text)


def _writer(kind: Kind) -> Callable[[Any], str]:
    """Give how people read the values of a column: dates to the day."""
    if kind.arithmetic:
        return lambda value: f"{value:,.6g}"
    return (lambda value: kind.write(value)[:10]) if kind.ordered else str


def size_drawings(model: RuleModel) -> list[LineChart]:
    """Draw error against the number of rules, if the summary tells; a file may hold anything."""
    drawings = []
    for read in (_draw_left_out, _compression):
        try:
            drawings += read(model)
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError):
            continue
    return drawings


def _draw_left_out(model: RuleModel) -> list[LineChart]:
    size = model.summary.get("size")
    if size is None:
        return []
    losses, chosen = np.array(size["left_out_loss"], np.float64), int(size["n_rules"])
    unit = "log-loss" if model.head_names else "mean squared error"
    return _sizes(np.arange(len(losses)), losses, chosen, unit)


def _compression(model: RuleModel) -> list[LineChart]:
    found = model.summary.get("compression")
    if found is None:
        return []
    sizes = np.array([point["n_rules"] for point in found["curve"]], np.float64)
    losses = np.array([point["log_loss"] for point in found["curve"]], np.float64)
    return _sizes(sizes, losses, int(found["n_rules"]), "log-loss")


def _sizes(sizes: Any, losses: Any, chosen: int, unit: str) -> list[LineChart]:
    at = float(losses[int(np.flatnonzero(sizes == chosen)[0])])
    text = (
        f"Without rules {losses[0]:.3f}, with the {write_count(chosen, 'rule')} of this model "
        f"{at:.3f} (marked), at best {losses.min():.3f} with {int(sizes[losses.argmin()])}."
    )
    lines = [
        ChartLine("", np.asarray(sizes, np.float64), losses),
        ChartLine("", np.array([float(chosen)]), np.array([at]), "points"),
    ]
    title, y = "Error against number of rules", Axis(f"{unit} on held-out rows, uncorrected")
    return [LineChart(title, lines, Axis("number of rules"), y, text)]


def price_lines(model: RuleModel) -> list[dict[str, str]]:
    """Give what few rules lose against many, by the titles of a table, if the summary tells."""
    titles = {"accuracy": "Accuracy", "log_loss": "Log-loss", "r2": "R2", "rmse": "RMSE"}
    try:
        return [
            {"Learner": escape_line(str(one["learner"])), "Rules": str(int(one["n_rules"]))}
            | {title: f"{float(one[key]):.4g}" for key, title in titles.items() if key in one}
            for one in model.summary.get("price", ())
        ]
    except (TypeError, ValueError, KeyError, OverflowError):
        return []


def stored_figures(model: RuleModel) -> tuple[str, dict[str, float]]:
    """Give the figures that the model keeps, after the name of the rows they are of."""
    n_classes = len(model.head_names)
    try:
        noted = model.summary["validation"]
        positive = str(noted.get("positive", ""))
        known = {
            escape_line(name_figure(key, n_classes, positive)): float(one["value"])
            for key, one in noted["figures"].items()
            if one["value"] is not None
        }
        return str(noted["rows"]), known
    except (TypeError, ValueError, KeyError, AttributeError):
        pass  # not judged, or a file that holds anything
    try:
        noted = model.summary["reliability"]
        rows = str(noted["rows"])
        keys = [key for key in ("accuracy", "log_loss", "brier", BRIER, "ece") if key in noted]
        figures = {name_figure(key, n_classes): float(noted[key]) for key in keys}
    except (TypeError, ValueError, KeyError):
        return "", {}
    return (f"rows {rows}" if rows.startswith("left out") else f"{rows} rows"), figures


def certificate_lines(model: RuleModel) -> list[str]:
    """Write the certificate of a vote that holds its evidence."""
    if not isinstance(model, RuleSetVotes) or model.evidence is None:
        return []
    return str(certificate(model)).splitlines()


def notes_of(model: RuleModel, titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Write entries of the summary under other titles."""
    noted = model.summary
    return [(title, _flat(noted[key])) for key, title in titles.items() if key in noted]


def entries_of(model: RuleModel, key: str) -> list[tuple[str, str]]:
    """Write the items of a dict in the summary."""
    found = model.summary.get(key)
    return (
        [(escape_line(str(k)), _flat(v)) for k, v in found.items()]
        if isinstance(found, dict)
        else []
    )


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{escape_line(str(k))}: {_flat(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_flat, value))
    return f"{value:.6g}" if isinstance(value, float) else escape_line(str(value))
