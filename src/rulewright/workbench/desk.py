"""What the page of the workbench asks of a session: views and edits as plain data.

A desk holds one session. Every answer has the version of the model; an edit that was made for an
older version is refused, so that two tabs do not overwrite each other.
"""

from __future__ import annotations

import json
import os
import threading
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, replace_file
from rulewright.encoding import bin_column
from rulewright.kernels import Op
from rulewright.model import body_text, rule_cells
from rulewright.rules import Adds, Conjunction, Labels, Range, write_label, write_name
from rulewright.workbench.edits import edit_of
from rulewright.workbench.log import EditLog, LogEntry
from rulewright.workbench.preview import describe_cost
from rulewright.workbench.suggest import MOST_CUTS, MOST_TRIED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rulewright.kernels import IntArray
    from rulewright.rules import Rule
    from rulewright.workbench.preview import Preview
    from rulewright.workbench.session import Session

N_BINS = 24
"""Bars of the distribution of a column."""

TAILS = (0.01, 0.99)
"""Quantiles between which the bars of a distribution have equal widths."""

N_LABELS = 200
"""Labels of a column that the page offers."""


class OutdatedError(DataError):
    """The model or its file changed since it was shown."""


class Desk:
    """A session as the page sees it.

    Parameters
    ----------
    session : Session
        The session.
    path : Path
        The file that `save` writes.
    title : str
        Title of the page.
    """

    def __init__(self, session: Session, path: Path, title: str) -> None:
        self.session, self.path, self.title = session, path, title
        self.lock = threading.RLock()
        self.version = 0
        self._seen, self._saved = _stamp(path), session.log
        self.autosaved = path.with_name(f".{path.name}.session")
        self._previewed: tuple[Any, Preview] | None = None
        self._edits: dict[str, Callable[..., Preview]] = {
            "drop": lambda rules: session.drop(rules),
            "replace": lambda rule, text: session.replace(rule, text),
            "add": lambda text, votes=None, points=None: session.add(text, votes, points),
            "split": lambda rule, text: session.split(rule, text),
            "merge": lambda rules: session.merge(rules),
            "round": lambda digits, rules=(): session.round_thresholds(int(digits), rules),
            "set_points": lambda rule, points: session.set_points(rule, float(points)),
            "freeze": lambda rules: session.freeze(rules),
            "thaw": lambda rules: session.thaw(rules),
            "move": lambda rule, to: session.move(rule, int(to)),
            "constrain": lambda monotone=None, forbidden=(): session.constrain(
                session.state.constraints.to_json()
                | {"monotone": monotone or {}, "forbidden": forbidden}
            ),
            "refit": lambda: session.refit(),
            "grow": lambda n_rules=1, check=None: session.grow(int(n_rules), check=check),
        }

    def state(self) -> dict[str, Any]:
        """Return all that the page shows of the model."""
        session, model = self.session, self.session.state.model
        rows = None if session.state.form is None else session.state.form.rows
        return {
            "version": self.version,
            "title": self.title,
            "form": model.form,
            "scope": model.scope,
            "preamble": model.preamble().split("\n"),
            "classes": list(model.head_names),
            "rules": [self._rule(place) for place in _printed_order(model)],
            "columns": [_describe(column) for column in model.schema],
            "figures": session.figures,
            "n_rows": 0 if rows is None else rows.n_rows,
            "n_final": 0 if rows is None or rows.final is None else rows.final.n_rows,
            "opening": session.log.describe_opening(),
            "by": list(session.by),
            "constraints": session.state.constraints.to_json(),
            "broken": session.state.broken(),
            "policies": [
                {"title": one.policy.title, "state": one.state, "finding": one.finding}
                for one in session.proofs.proofs
            ],
            "log": [entry.to_json() for entry in session.log.entries],
            "can": {"undo": session.can_undo, "redo": session.can_redo},
            "file": str(self.path.name),
            "saved": session.log == self._saved,
        }

    def _rule(self, place: int) -> dict[str, Any]:
        model = self.session.state.model
        rule: Rule = model.rules[place]
        conditions = rule.body.conditions if isinstance(rule.body, Conjunction) else ()
        return {
            "number": model.numbers[place],
            "text": body_text(model, rule),
            "if": str(rule.body),
            "cells": rule_cells(model, [place])[0],
            "value": rule.outcome.value if isinstance(rule.outcome, Adds) else None,
            "head": rule.head.text(model.head_names) if model.head_names else "",
            "rows": rule.coverage.support,
            "frozen": self.session.state.frozen[place],
            "conditions": [_describe_condition(condition) for condition in conditions],
            "columns": list(rule.body.columns),
        }

    def preview(
        self, edit: dict[str, Any], version: int, by: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Return what an edit would change, for the labels of the columns `by` too."""
        self._check(version)
        if by is not None:
            self.session.compare_by(by)
        return self._preview(edit).to_json()

    def _preview(self, edit: dict[str, Any]) -> Preview:
        """Preview an edit; what was previewed last is not computed again to be applied."""
        known = {name: value for name, value in edit.items() if name != "check"}
        key = self.version, self.session.by, known
        if self._previewed is None or self._previewed[0] != key:
            self._previewed = key, self._make(**edit)
        return self._previewed[1]

    def _make(self, do: str = "", **asked: Any) -> Preview:
        if do not in self._edits:
            raise DataError(f"there is no edit {do!r}.")
        try:
            return self._edits[do](**asked)
        except TypeError:
            raise DataError(f"the edit {do!r} does not take {', '.join(asked)}.") from None

    def apply(self, edit: dict[str, Any], reason: str, version: int) -> dict[str, Any]:
        """Make an edit."""
        self._check(version)
        self.session.apply(self._preview(edit), reason)
        return self._changed()

    def undo(self, version: int) -> dict[str, Any]:
        """Return to the model before the last edit."""
        self._check(version)
        self.session.undo()
        return self._changed()

    def redo(self, version: int) -> dict[str, Any]:
        """Make the last undone edit again."""
        self._check(version)
        self.session.redo()
        return self._changed()

    def _changed(self) -> dict[str, Any]:
        self.version += 1
        self._keep()
        return self.state()

    def _keep(self) -> None:
        """Write the log beside the model, for the next start if this one ends early."""
        replace_file(self.autosaved, json.dumps(self.session.log.to_json()).encode())

    def open_final(self, version: int) -> dict[str, Any]:
        """Compare the given and the current model on the final part, and count it."""
        self._check(version)
        changes = [change.to_json() for change in self.session.open_final()]
        return {"figures": changes, "state": self._changed()}

    def _check(self, version: int) -> None:
        if version != self.version:
            raise OutdatedError("the model was changed in another tab.")

    def unsaved(self) -> list[LogEntry]:
        """Return the edits of a session that ended without being saved."""
        try:
            log = EditLog.from_json(json.loads(self.autosaved.read_text()))
        except (OSError, ValueError, DataError):
            return []
        return [entry for entry in log.entries if entry not in self.session.log.entries]

    def resume(self) -> dict[str, Any]:
        """Make the edits of a session that was not saved again; name those that do not fit."""
        left_out = []
        for entry in self.unsaved():
            try:
                self.session.apply(edit_of(entry.edit.to_json()), entry.reason, entry.author)
            except DataError as error:
                left_out.append(f"{entry.text}: {error}")
        return {"state": self._changed(), "left_out": left_out}

    def discard(self) -> dict[str, Any]:
        """Forget the edits of a session that was not saved."""
        self.autosaved.unlink(missing_ok=True)
        return self.state()

    def save(self, version: int, *, replaces: bool = False) -> dict[str, Any]:
        """Write the model to its file, unless another program has changed the file."""
        self._check(version)
        if not replaces and _stamp(self.path) != self._seen:
            raise OutdatedError(
                f"{self.path.name} was changed by another program: save again to replace it."
            )
        self.session.model.save(self.path)
        self._seen, self._saved = _stamp(self.path), self.session.log
        self.autosaved.unlink(missing_ok=True)
        return self.state()

    def column(self, name: str, head: str = "") -> dict[str, Any]:
        """Return the distribution of a column, the mean answer along it, and its thresholds.

        With classes the answer is the share of the class `head`, by default the last one.
        """
        rows, names = self.session.state.data.rows, list(self.session.state.model.head_names)
        if name not in rows.table.schema:
            raise DataError(f"there is no column {name!r}.")
        column, truth = rows.table[name], rows.targets.astype(np.float64)
        if names:
            code = names.index(head) if head in names else len(names) - 1
            truth, shown = (truth == code).astype(np.float64), f"share of {names[code]}"
        else:
            shown = "mean"
        labels, places, edges = _place(column)
        known = places >= 0
        counts = np.bincount(places[known], rows.weights[known], len(labels))
        sums = np.bincount(places[known], (rows.weights * truth)[known], len(labels))
        means = np.divide(sums, counts, out=np.full(len(labels), np.nan), where=counts > 0)
        return {
            "column": name,
            "name": write_name(name),
            "mean": shown,
            "edges": edges,
            "labels": labels,
            "values": [write_label(label) for label in column.schema.labels[:N_LABELS]],
            "counts": counts.tolist(),
            "means": means.tolist(),
            "missing": float(rows.weights[~known].sum()),
            "lows": _write_cuts(column, Op.GREATER_EQUAL),
            "highs": _write_cuts(column, Op.LESS_EQUAL),
        }

    def suggest(self, rule: int, check: Callable[[], None]) -> list[dict[str, Any]]:
        """Return alternatives of a rule."""
        return [one._asdict() for one in self.session.suggest(rule, 8, check)]

    def grow(self, n_rules: int, version: int, check: Callable[[], None]) -> dict[str, Any]:
        """Preview further rules; growing takes seconds on large tables."""
        self._check(version)
        return self._preview({"do": "grow", "n_rules": n_rules, "check": check}).to_json()

    def steps_of(self, work: str, n_rules: int = 1) -> int:
        """Return the number of steps of long work."""
        folds = len(self.session.state.data.rows.folds)
        return {"suggest": MOST_TRIED, "cuts": MOST_CUTS, "grow": folds * n_rules}[work]

    def cost(self, version: int) -> dict[str, Any]:
        """Write what fixed points cost."""
        self._check(version)
        return {"text": describe_cost(self.session.state)}

    def cuts(
        self, rule: int, column: str, check: Callable[[], None]
    ) -> list[tuple[float, float, str]]:
        """Return the change of the loss along the threshold of a rule, and each condition."""
        session = self.session
        own = session.state.model.rules[session.state.model.numbers.index(rule)]
        found = session.suggest_cuts(own, column, check=check)
        is_low = any(c.column == column and np.isfinite(c.low) for c in own.body.conditions)
        side = Op.GREATER_EQUAL if is_low else Op.LESS_EQUAL
        schema = session.state.model.schema[column]
        return [(cut, change, _write_cut(schema, side, cut)) for cut, change in found]


def _printed_order(model: Any) -> list[int]:
    return [int(i) for i in np.argsort(model.numbers)]


def _describe_condition(condition: Any) -> dict[str, Any]:
    """Return what the page edits: the ends of a range, or the labels of a set."""
    plain: dict[str, Any] = {"text": str(condition), "column": condition.column}
    if isinstance(condition, Range):
        ends = {"low": condition.low, "high": condition.high}
        plain |= {name: end for name, end in ends.items() if np.isfinite(end)}
    elif isinstance(condition, Labels):
        values = [write_label(label) for label in condition.labels]
        plain |= {"values": values, "negated": condition.negated}
    return plain


def _place(column: Any) -> tuple[list[str], IntArray, list[float]]:
    """Return the bars of a column, the bar of each row (-1: missing), and the edges of the bars.

    Columns of few values have a bar for each value, and no edges. The first and the last of other
    bars hold the tails too.
    """
    values, write = column.values, column.schema.type.write
    if not column.schema.type.ordered:
        return list(map(str, column.schema.labels)), values.astype(np.int64), []
    bins, missing = bin_column(column, N_BINS), np.isnan(values)
    if bins.exact:
        places = np.searchsorted(bins.high, values)
        return list(map(write, bins.low.tolist())), np.where(missing, -1, places), []
    low, high = np.quantile(values[~missing], TAILS).tolist()
    if low == high:
        low, high = float(bins.low[0]), float(bins.high[-1])
    edges = np.linspace(low, high, N_BINS + 1)
    near, between = (high - low) / N_BINS / 10, column.schema.type.between
    texts = [write(between(edge - near, edge + near, edge)) for edge in edges[1:-1].tolist()]
    inner = [f"{low} to {high}" for low, high in pairwise(texts)]
    labels = [f"up to {texts[0]}", *inner, f"from {texts[-1]}"]
    places = np.searchsorted(edges[1:-1], values, side="right")
    return labels, np.where(missing, -1, places), edges.tolist()


def _write_cuts(column: Any, side: Op) -> list[tuple[float, str]]:
    """Return the thresholds between the bars, each with the condition that it makes."""
    if not column.schema.type.ordered:
        return []
    bins = bin_column(column, N_BINS)
    cuts = [bins.cut(i, i + 1, side, "short") for i in range(len(bins) - 1)]
    return [(cut, _write_cut(column.schema, side, cut)) for cut in cuts]


def _write_cut(column: Any, side: Op, cut: float) -> str:
    if side == Op.GREATER_EQUAL:
        return str(Range(column.name, low=cut, kind=column.kind))
    return str(Range(column.name, high=cut, kind=column.kind))


def _describe(column: Any) -> dict[str, Any]:
    return {
        "name": column.name,
        "text": write_name(column.name),
        "ordered": column.type.ordered,
        "labels": [write_label(label) for label in column.labels[:N_LABELS]],
    }


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file is written."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
