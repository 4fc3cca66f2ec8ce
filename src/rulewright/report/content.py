"""All that a report tells, as plain data: a function of a model and, if there are any, rows."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Table, open_table, read_like
from rulewright.encoding.covers import PackedCovers
from rulewright.model import ClassModel, RuleModel
from rulewright.model.document import library_version
from rulewright.model.html import paragraphs
from rulewright.model.text import plain, title_of
from rulewright.report import insight
from rulewright.report.answers import answers_of, row_weights
from rulewright.report.data_summary import data_summary
from rulewright.report.performance import performance
from rulewright.report.rule_lines import COUNTED_ON, covered_examples, rule_lines
from rulewright.report.whatif import most_rows, panel_columns, panel_rows, panel_script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.report.answers import Answers, Places
    from rulewright.report.data_summary import DataSummary
    from rulewright.report.figures import Drawing, Graph
    from rulewright.report.performance import Performance
    from rulewright.report.rule_lines import RuleLine

_NOTED = {
    "learner": "learner",
    "n_rows": "training rows",
    "total_weight": "their weight",
    "stopped_by": "stopped by",
    "bins": "bins",
}


@dataclass(frozen=True)
class Panel:
    """The what-if panel; `refusal` says why there is none."""

    script: str
    refusal: str
    columns: list[dict[str, Any]]
    rows: dict[str, Any] | None


@dataclass(frozen=True)
class Content:
    """The parts of a report."""

    title: str
    kind: str
    says: list[list[list[str]]]
    data: DataSummary
    has_data: bool
    has_target: bool
    overfitted: bool
    performance: Performance | None
    stored: tuple[str, dict[str, float]]
    price: list[dict[str, str]]
    sizes: list[Graph]
    rules: list[RuleLine]
    counted_on: list[tuple[str, str]]
    effect_title: str
    in_order: bool
    class_names: tuple[str, ...]
    panel: Panel
    importance: Drawing | None
    dependence: list[Graph]
    constraints: list[tuple[str, str]]
    certificate: list[str]
    provenance: list[tuple[str, str]]
    parameters: list[tuple[str, str]]
    n_columns_used: int


def read_rows(model: RuleModel, X: Any, y: Any, sample_weight: Any) -> Table:
    """Read rows with all columns of the model that they have, and with their target."""
    task: Any = "classification" if isinstance(model, ClassModel) else "regression"
    given = X if isinstance(X, Table) else open_table(X)
    needed = set(model.columns)
    if given.named and model.schema.named:
        needed |= set(given.names) & set(model.schema.names)
    else:
        needed = set(model.schema.names)
    return read_like(given, model.schema, needed, target=y, weights=sample_weight, task=task)


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
) -> Content:
    """Put together what a report tells; see ``write_report``."""
    known = table is not None and table.target is not None
    if fresh and table is not None and learned_from(model, table):
        fresh, origin = False, f"{origin}, the rows that the model was learned from"
    overfitted = known and not fresh and answers is None
    if answers is None and table is not None and known:
        answers = answers_of(model, table, origin)
    places: Places = np.array([], dtype=np.intp)
    if table is not None and (most := most_rows(model, n_rows)):
        places = covered_examples(model, table, most)
    kinds = {rule.coverage.rows for rule in model.rules}
    return Content(
        title=title,
        kind=title_of(model),
        says=paragraphs(model.preamble().splitlines()),
        data=data_summary(model, table, answers),
        has_data=table is not None,
        has_target=known,
        overfitted=overfitted,
        performance=None if answers is None else performance(answers, fresh=fresh),
        stored=insight.stored_figures(model),
        price=insight.price_lines(model),
        sizes=insight.size_drawings(model),
        rules=rule_lines(model, table, places, judge=fresh),
        counted_on=[COUNTED_ON[k] for k in COUNTED_ON if k in kinds],
        effect_title=model.effect_title,
        in_order=model.in_order,
        class_names=tuple(map(plain, model.head_names)),
        panel=_panel(model, table, places),
        importance=insight.importance_drawing(model, table),
        dependence=insight.dependence_drawings(model, table),
        constraints=insight.entries_of(model, "constraints"),
        certificate=insight.certificate_lines(model),
        provenance=[*provenance.items(), *insight.notes_of(model, _NOTED), *_versions()],
        parameters=insight.entries_of(model, "settings"),
        n_columns_used=len(model.columns),
    )


def learned_from(model: RuleModel, table: Table) -> bool:
    """Tell whether rows are those that a model was learned from: all its counts are the same."""
    counted = [rule.coverage for rule in model.rules]
    if not counted or {one.rows for one in counted} & {"left out", "given"}:
        return False
    weights = row_weights(table)
    if model.summary.get("n_rows") != table.n_rows:
        return False
    covers = PackedCovers(model.decided_bits(table), table.n_rows)
    found = [weights[covers[i : i + 1].row_mask()].sum() for i in range(len(counted))]
    return bool(np.allclose(found, [one.support for one in counted], rtol=1e-6))


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
