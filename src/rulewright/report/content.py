"""All that a report shows, as plain data: a function of a model and, if there are any, rows."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Finding, Table, examine
from rulewright.explain import EvaluatedRows, answers_on, is_learned_from
from rulewright.governance import GroupTable, Proof, Proofs, group_tables
from rulewright.model import (
    RuleModel,
    describe_edits,
    draw_effects,
    draw_keys,
    escape_line,
    library_version,
    paragraphs,
    rule_cells,
    scale_lines,
    title_of,
)
from rulewright.report import insight
from rulewright.report.answers import with_positive, with_precisions
from rulewright.report.columns import ColumnView, column_views
from rulewright.report.data_summary import DataSummary, data_summary
from rulewright.report.headline import cautions, headline, name_target
from rulewright.report.performance import Performance, performance
from rulewright.report.rule_lines import COUNTED_ON, RuleLine, covered_examples, rule_lines
from rulewright.report.whatif import (
    RowChange,
    most_rows,
    panel_columns,
    panel_rows,
    panel_script,
    row_changes,
    twin_rules,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from rulewright.data import Column
    from rulewright.evidence import Answers, Places
    from rulewright.report.figures import Drawing, LineChart
    from rulewright.report.pictures import GraphPictures, MatchedMolecules, Picture

_NOTED = {
    "learner": "learner",
    "n_rows": "training rows",
    "total_weight": "their weight",
    "stopped_by": "stopped by",
    "bins": "bins",
}


_MEASURES = {"counts": "Observed rate", "survival": "Excess events per row"}
"""What is counted where rules apply, of targets that are no plain numbers."""


@dataclass(frozen=True)
class Panel:
    """The what-if panel, or the reason for its absence in `refusal`."""

    script: str
    refusal: str
    columns: list[dict[str, Any]]
    rows: dict[str, Any] | None


@dataclass(frozen=True)
class Content:
    """The parts of a report."""

    title: str
    kind: str
    target: str
    headline: str
    measure: str
    cautions: list[str]
    numbers: dict[int, int]
    odds: list[str]
    bars: dict[int, Markup]
    keys: Markup
    decides: bool
    columns: list[ColumnView]
    groups: list[GroupTable]
    policies: tuple[Proof, ...]
    says: list[list[list[str]]]
    data: DataSummary
    has_data: bool
    has_target: bool
    overfitted: bool
    performance: Performance | None
    stored: tuple[str, dict[str, float]]
    price: list[dict[str, str]]
    sizes: list[LineChart]
    rules: list[RuleLine]
    pictures: dict[int, list[Picture]]
    matches: list[MatchedMolecules]
    counted_on: list[tuple[str, str]]
    effect_title: str
    in_order: bool
    class_names: tuple[str, ...]
    twins: list[tuple[int, int, str]]
    panel: Panel
    changes: list[RowChange]
    importance: Drawing | None
    constraints: list[tuple[str, str]]
    certificate: list[str]
    provenance: list[tuple[str, str]]
    parameters: list[tuple[str, str]]
    n_columns_used: int


def content_of(
    model: RuleModel,
    table: Table | None,
    *,
    title: str,
    origin: str,
    fresh: bool,
    answers: Answers | None,
    n_rows: int,
    provenance: Mapping[str, str],
    findings: Sequence[Finding] | None = None,
    pictures: GraphPictures | None = None,
    positive: Any = None,
    precisions: Sequence[float] = (),
    by: Mapping[str, Column] | None = None,
    policies: Proofs | None = None,
    target: str = "",
) -> Content:
    """Collect the content of a report; see ``write_report``."""
    known = table is not None and table.target is not None
    rows = None if table is None else EvaluatedRows(model, table)
    if fresh and rows is not None and is_learned_from(rows):
        fresh, origin = False, f"{origin}, the rows that the model was learned from"
    overfitted = known and not fresh and answers is None
    if answers is None and rows is not None and known:
        answers = answers_on(rows, origin)
    if answers is not None:
        answers = with_precisions(with_positive(answers, positive), precisions)
    places: Places = np.array([], dtype=np.intp)
    if rows is not None and (most := most_rows(model, n_rows)):
        places = covered_examples(rows, most)
    if findings is None and table is not None:
        findings = examine(table, provenance.get("target", "target"))
    kinds = {rule.coverage.rows for rule in model.rules}
    lines = rule_lines(model, rows, places, judge=fresh)
    named = None if table is None else table.target_name
    target = name_target(model, target, named, provenance.get("target"))
    measured = None if answers is None else performance(answers, fresh=fresh, target=target)
    importances = insight.column_importances(model, rows)
    columns = column_views(model, rows, importances, target)
    return Content(
        title=title or (f"Rules for {target}" if target else "Rule model report"),
        kind=title_of(model),
        target=target,
        headline=headline(model, target, measured, answers),
        measure=_MEASURES.get(model.task, ""),
        cautions=cautions(model, answers),
        numbers=dict(enumerate(model.numbers)),
        odds=[cells.get("odds", "") for cells in rule_cells(model, range(len(model.rules)))],
        bars=draw_effects(model, range(len(model.rules))),
        keys=draw_keys(model, range(len(model.rules)), target),
        decides=model.decides,
        columns=columns,
        groups=group_tables(answers, dict(by or {}), target or "value"),
        policies=() if policies is None else policies.proofs,
        says=paragraphs(
            [
                *model.preamble().splitlines(),
                *model.decision_lines(),
                *scale_lines(model.scales),
            ]
        ),
        data=data_summary(model, table, answers, findings or ()),
        has_data=table is not None,
        has_target=known,
        overfitted=overfitted,
        performance=measured,
        stored=insight.compare_stored(insight.stored_figures(model), measured),
        price=insight.price_lines(model),
        sizes=insight.size_drawings(model),
        rules=lines,
        pictures={} if pictures is None else pictures.of_rules(model.rules, lines),
        matches=[] if pictures is None else pictures.matches(model.rules, lines, places),
        counted_on=[COUNTED_ON[k] for k in COUNTED_ON if k in kinds],
        effect_title=model.effect_title,
        in_order=model.in_order,
        class_names=tuple(map(escape_line, model.head_names)),
        twins=twin_rules(rows),
        panel=_panel(model, table, places),
        changes=row_changes(model, table, places),
        importance=insight.importance_drawing(model, importances, target),
        constraints=insight.entries_of(model, "constraints"),
        certificate=insight.certificate_lines(model),
        provenance=[
            *provenance.items(),
            *insight.notes_of(model, _NOTED),
            *(("edit", line) for line in describe_edits(model)),
            *_versions(),
        ],
        parameters=insight.entries_of(model, "settings"),
        n_columns_used=len(model.columns),
    )


def _panel(model: RuleModel, table: Table | None, places: Any) -> Panel:
    columns = panel_columns(model, table)
    rows = panel_rows(model, table, places) if table is not None and len(places) else None
    try:
        return Panel(panel_script(model), "", columns, rows)
    except (ValueError, TypeError) as error:  # labels that JavaScript cannot hold
        return Panel("", str(error), columns, rows)


def _versions() -> list[tuple[str, str]]:
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    versions = f"rulewright {library_version()}, Python {platform.python_version()}"
    return [("report made", made), ("versions", f"{versions}, NumPy {np.__version__}")]
