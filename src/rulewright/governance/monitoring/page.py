"""The page of a monitor: a line for each figure over time, small and below each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.governance.monitoring.monitor import PSI_SHIFT, Monitor, Tracked
from rulewright.html import bold, draw_series, lines, note, page, table, view
from rulewright.model import body_text, title_of

if TYPE_CHECKING:
    from markupsafe import Markup


def monitor_page(found: Monitor) -> str:
    """Write the page as HTML that needs no network and no other file."""
    title = f"Monitor: {title_of(found.plan.model)}"
    rows = f"{found.counts.rows.sum():,.0f} rows in {len(found.periods)} periods"
    span = f"{found.periods[0]} to {found.periods[-1]}"
    about = (
        f"{rows}, {span}, compared with {found.reference.rows[0]:,.0f} rows "
        f"({found.reference.periods[0]})."
    )
    return page(
        title,
        view(
            note(about),
            *_alarms(found),
            bold("Scores and figures"),
            _figures(found),
            bold("Columns"),
            note(
                "PSI: population stability index; above 0.1 look, above 0.25 large. Missing values "
                "and labels that training rows did not have are shares of rows."
            ),
            _columns(found),
            bold("Rules"),
            note(
                "The ground is the expected range: of coverage the interval of the reference, of "
                "precision the stated interval of the rule. A dot is an alarm."
            ),
            _rules(found),
        ),
    )


def _alarms(found: Monitor) -> list[Any]:
    promise = (
        f"If nothing changes, at most {found.alpha:.0%} of monitored models ever have an alarm, "
        "however often this page is read."
    )
    alarms = found.alarms
    if not alarms:
        return [bold("No alarms"), note(promise)]
    word = "alarm" if len(alarms) == 1 else "alarms"
    texts = [found.alarm_text(one) for one in alarms]
    return [bold(f"{len(alarms)} {word}"), lines(texts), note(promise)]


def _line(name: str, values: Any, **options: Any) -> list[Any]:
    """Return the cells of one figure: its name, its first and last value, and the chart."""
    shown = [float(value) for value in values]
    first, last = (_number(value) for value in (shown[0], shown[-1]))
    return [name, first, draw_series(shown, f"{name} from {first} to {last}", **options), last]


def _figures(found: Monitor) -> Markup:
    counts = found.counts
    mean = counts.totals.sum(axis=1) / counts.rows
    cells = [
        _line("rows", counts.rows),
        _line(f"mean {found.plan.score_name}", mean, zero=False),
        _line("PSI of scores", found.score_psi, band=(0.0, PSI_SHIFT), top=2 * PSI_SHIFT),
        *(_line(name, values, zero=False) for name, values in found.figures.items()),
    ]
    if found.calibration is not None:
        cells.append(_line("mean outcome - mean score", found.calibration))
    return table([["figure", "first", "by period", "last"]], cells, text={0, 2})


def _columns(found: Monitor) -> Markup:
    cells = []
    for name, psi in found.column_psi.items():
        line = _line(name, psi, band=(0.0, PSI_SHIFT), top=2 * PSI_SHIFT)
        for role in ("missing", "unseen"):
            share = found.shares(name, role)
            line += _line(f"{role} {name}", share, top=1.0)[2:]
        cells.append(line)
    titles = ["column", "first", "PSI", "last", "missing", "last", "unseen", "last"]
    return table([titles], cells, text={0, 2, 4, 6})


def _rules(found: Monitor) -> Markup:
    model = found.plan.model
    precision = {one.rule: one for one in found.precision}
    titles = ["rule", "", "coverage", "last", "e-value"]
    if precision:
        titles += ["precision", "last", "e-value"]
    cells = []
    for one in sorted(found.coverage, key=lambda one: one.rule):
        text = body_text(model, model.rules[model.numbers.index(one.rule)])
        line: list[Any] = [one.rule, text, *_tracked(one)]
        cells.append(line + (_tracked(precision[one.rule]) if precision else []))
    return table([titles], cells, text={1, 2, 5})


def _tracked(one: Tracked) -> list[Any]:
    text = f"{one.what} of rule {one.rule}"
    band = (one.low, one.high)
    series = draw_series(one.shares.tolist(), text, band=band, mark=one.alarm, zero=False)
    return [series, _number(one.shares[-1]), _number(np.max(one.evidence))]


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if 1000 <= value < 1e6 else f"{value:.3g}"
