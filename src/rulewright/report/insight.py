"""Importances, the cost of compactness, and notes of the learner."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.evidence import BRIER, format_number, name_figure
from rulewright.explain import importance
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
    from collections.abc import Mapping

    from rulewright.explain import EvaluatedRows
    from rulewright.report.performance import Performance

_SHOWN_COLUMNS = 15
_TITLES = {
    "accuracy": "Accuracy",
    "log_loss": "Log-loss",
    "brier": "Brier score",
    "ece": "ECE",
    "brier_score": "Brier score",
    "auc": "AUC",
    "balanced_accuracy": "Balanced accuracy",
    "r2": "R2",
    "mae": "MAE",
    "rmse": "RMSE",
    "cost": "Cost",
}


def column_importances(model: RuleModel, rows: EvaluatedRows | None) -> dict[str, float]:
    """Return how much each column matters, of models that add up; of others nothing."""
    if not isinstance(model, AdditiveRules | RegressionRules):
        return {}
    try:
        return (importance(model) if rows is None else rows.importance).by_column()
    except ValueError:  # neither rows nor a note of the weight of the training rows
        return {}


def importance_drawing(
    model: RuleModel, found: Mapping[str, float], target: str = ""
) -> Drawing | None:
    """Draw how much each column matters, or where terms do not add up how many rules use it."""
    if found:
        return _importance(model, found, target)
    uses = Counter(name for rule in model.rules for name in rule.body.columns)
    if not uses:
        return None
    items = [(escape_line(name), float(n), str(n)) for name, n in uses.most_common(_SHOWN_COLUMNS)]
    text = f"{items[0][2]} of {write_count(len(model.rules), 'rule')} use {cut_line(items[0][0])}."
    title = "Columns by the rules that use them"
    return Drawing(title, bars(items, Axis("number of rules"), title, text), text)


def _importance(model: RuleModel, found: Mapping[str, float], target: str) -> Drawing:
    total = sum(found.values()) or 1.0
    shown = list(found.items())[:_SHOWN_COLUMNS]
    items = [(escape_line(k), 100 * v / total, f"{100 * v / total:.0f} %") for k, v in shown]
    unit = " points" if model.head_names else f" (in units of {target})" if target else ""
    text = (
        f"{cut_line(items[0][0])} contributes most: what its rules add varies by "
        f"{format_number(shown[0][1], 3)}{unit} from row to row (standard deviation). The effect "
        "of a rule with several columns is divided equally among them."
    )
    title = "What each column contributes"
    return Drawing(title, bars(items, Axis("share of all effects (%)"), title, text), text)


def size_drawings(model: RuleModel) -> list[LineChart]:
    """Draw error against the number of rules, if the summary has it; a file may hold anything."""
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
    counted = "rules and linear terms" if size.get("linear") else "rules"
    if model.head_names:
        return _sizes(np.arange(len(losses)), losses, chosen, "log-loss", counted)
    if model.task != "regression" or model.summary["settings"].get("loss", "squared") != "squared":
        return _sizes(np.arange(len(losses)), losses, chosen, "loss of a row", counted)
    unit = size.get("unit")  # older models do not know it: their errors are relative
    errors, name = np.sqrt(np.maximum(losses, 0.0)), "RMSE"
    if unit is None:
        errors, name = 100 * errors / (errors[0] or 1.0), "RMSE in % of that without rules"
    return _sizes(np.arange(len(losses)), errors * float(unit or 1.0), chosen, name, counted)


def _compression(model: RuleModel) -> list[LineChart]:
    found = model.summary.get("compression")
    if found is None:
        return []
    sizes = np.array([point["n_rules"] for point in found["curve"]], np.float64)
    losses = np.array([point["log_loss"] for point in found["curve"]], np.float64)
    return _sizes(sizes, losses, int(found["n_rules"]), "log-loss")


def _sizes(
    sizes: Any, losses: Any, chosen: int, unit: str, counted: str = "rules"
) -> list[LineChart]:
    at = float(losses[int(np.flatnonzero(sizes == chosen)[0])])
    least = f"{format_number(losses.min())}, at {int(sizes[losses.argmin()])}"
    text = (
        f"{unit[0].upper()}{unit[1:]} without rules: {format_number(losses[0])}. At the size of "
        f"this model (marked): {format_number(at)}. Lowest: {least}."
    )
    lines = [
        ChartLine("", np.asarray(sizes, np.float64), losses),
        ChartLine("", np.array([float(chosen)]), np.array([at]), "points"),
    ]
    title, y = "Error by number of rules", Axis(f"{unit}, out-of-fold")
    return [LineChart(title, lines, Axis(f"number of {counted}"), y, text)]


def price_lines(model: RuleModel) -> list[dict[str, str]]:
    """Return the cost of compactness by the titles of a table, if the summary has it."""
    titles = {"accuracy": "Accuracy", "log_loss": "Log-loss", "r2": "R2", "rmse": "RMSE"}
    try:
        return [
            {"Learner": escape_line(str(one["learner"])), "Rules": str(int(one["n_rules"]))}
            | {title: format_number(float(one[key])) for key, title in titles.items() if key in one}
            for one in model.summary.get("price", ())
        ]
    except (TypeError, ValueError, KeyError, OverflowError):
        return []


def stored_figures(model: RuleModel) -> tuple[str, dict[str, float]]:
    """Return the figures that the model keeps, after the name of the rows they are of."""
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
        pass  # not evaluated, or a file that holds anything
    try:
        noted = model.summary["reliability"]
        rows = str(noted["rows"])
        keys = [key for key in ("accuracy", "log_loss", "brier", BRIER, "ece") if key in noted]
        return f"{rows} rows", {name_figure(key, n_classes): float(noted[key]) for key in keys}
    except (TypeError, ValueError, KeyError):
        return "", {}


def compare_stored(
    stored: tuple[str, dict[str, float]], performance: Performance | None
) -> tuple[str, dict[str, float]]:
    """Leave out stored figures that only repeat the figures of the report."""
    if performance is None:
        return stored
    rows, known = stored
    shown = {one.name: one for one in performance.figures}
    known = {name: value for name, value in known.items() if name in shown}
    new = any(
        shown[name].text(value) != shown[name].text(shown[name].value)
        for name, value in known.items()
    )
    return (rows, known) if new else ("", {})


def certificate_lines(model: RuleModel) -> list[str]:
    """Write the certificate of a vote that holds its evidence."""
    if not isinstance(model, RuleSetVotes) or model.evidence is None:
        return []
    return str(certificate(model)).splitlines()


def notes_of(model: RuleModel, titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Write entries of the summary under other titles."""
    noted = dict(model.summary)
    if noted.get("total_weight") == noted.get("n_rows"):
        noted.pop("total_weight", None)  # each row counts once
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
    return format_number(value, 6) if isinstance(value, float) else escape_line(str(value))
