"""What the page of the workbench asks of a session: views and edits as plain data.

A desk holds one session. Every answer has the version of the model; an edit that was made for an
older version is refused, so that two tabs do not overwrite each other.
"""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, replace_file
from rulewright.encoding import bin_column
from rulewright.model import body_text, rule_cells, write_count
from rulewright.rules import Range, write_number
from rulewright.workbench.edits import edit_of
from rulewright.workbench.log import LogEntry
from rulewright.workbench.preview import describe_cost

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rulewright.rules import Rule
    from rulewright.workbench.preview import Preview
    from rulewright.workbench.session import Session

N_BINS = 24
"""Bars of the distribution of a column."""


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
            "refit": lambda: session.refit(),
            "grow": lambda n_rules=1, check=None: session.grow(int(n_rules), check=check),
        }

    def state(self) -> dict[str, Any]:
        """Return all that the page shows of the model."""
        session, model = self.session, self.session.state.model
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
            "n_rows": 0 if session.state.form is None else session.state.form.rows.n_rows,
            "broken": session.state.broken(),
            "log": [entry.to_json() for entry in session.log.entries],
            "can": {"undo": session.can_undo, "redo": session.can_redo},
            "file": str(self.path.name),
            "saved": session.log == self._saved,
        }

    def _rule(self, place: int) -> dict[str, Any]:
        model = self.session.state.model
        rule: Rule = model.rules[place]
        conditions = getattr(rule.body, "conditions", ())
        return {
            "number": model.numbers[place],
            "text": body_text(model, rule),
            "if": str(rule.body),
            "cells": rule_cells(model, [place])[0],
            "value": getattr(rule.outcome, "value", None),
            "head": rule.head.text(model.head_names) if model.head_names else "",
            "rows": rule.coverage.support,
            "frozen": self.session.state.frozen[place],
            "conditions": [
                {"text": str(c), "column": c.column, "cut": _cut_of(c)} for c in conditions
            ],
            "columns": list(rule.body.columns),
        }

    def preview(self, edit: dict[str, Any], version: int) -> dict[str, Any]:
        """Return what an edit would change."""
        self._check(version)
        return self._preview(edit).to_json()

    def _preview(self, edit: dict[str, Any]) -> Preview:
        known = dict(edit)
        word = known.pop("do", None)
        if word not in self._edits:
            raise DataError(f"there is no edit {word!r}.")
        try:
            return self._edits[word](**known)
        except TypeError:
            raise DataError(f"the edit {word!r} does not take {', '.join(known)}.") from None

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
        data = json.dumps([entry.to_json() for entry in self.session.log.entries])
        replace_file(self.autosaved, data.encode())
        return self.state()

    def _check(self, version: int) -> None:
        if version != self.version:
            raise OutdatedError("the model was changed in another tab: reload the page.")

    def unsaved(self) -> list[LogEntry]:
        """Return the edits of a session that ended without being saved."""
        try:
            found = [LogEntry.from_json(one) for one in json.loads(self.autosaved.read_text())]
        except (OSError, ValueError, TypeError):
            return []
        known = len(self.session.log.entries)
        return found[known:]

    def resume(self) -> dict[str, Any]:
        """Make the edits of a session that was not saved again."""
        for entry in self.unsaved():
            self.session.apply(edit_of(entry.edit.to_json()), entry.reason, entry.author)
        return self._changed()

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

    def column(self, name: str) -> dict[str, Any]:
        """Return the distribution of a column and the mean answer along it."""
        rows = self.session.state.data.rows
        if name not in rows.table.schema:
            raise DataError(f"there is no column {name!r}.")
        column = rows.table[name]
        truth = rows.targets.astype(np.float64)
        if self.session.state.model.n_classes is not None:
            truth = (truth == self.session.state.model.n_classes - 1).astype(np.float64)
        if column.schema.type.ordered:
            known = ~np.isnan(column.values)
            bins = bin_column(column, N_BINS)
            places = np.searchsorted(bins.high, column.values[known])
            places = np.minimum(places, len(bins) - 1)
            ends = list(zip(bins.low.tolist(), bins.high.tolist(), strict=True))
            labels = [
                write_number(low) if low == high else f"{write_number(low)} to {write_number(high)}"
                for low, high in ends
            ]
        else:
            known, ends = column.values >= 0, []
            places, labels = column.values[known], list(column.schema.labels)
        counts = np.bincount(places, rows.weights[known], len(labels))
        sums = np.bincount(places, (rows.weights * truth)[known], len(labels))
        means = np.divide(sums, counts, out=np.full(len(labels), np.nan), where=counts > 0)
        shown = [None if np.isnan(mean) else mean for mean in means.tolist()]
        return {
            "column": name,
            "labels": labels,
            "ends": ends,
            "counts": counts.tolist(),
            "means": shown,
            "missing": float(rows.weights[~known].sum()),
        }

    def suggest(self, rule: int, check: Callable[[], None]) -> list[dict[str, Any]]:
        """Return alternatives of a rule."""
        return [one._asdict() for one in self.session.suggest(rule, 8, check)]

    def grow(self, n_rules: int, version: int, check: Callable[[], None]) -> dict[str, Any]:
        """Preview further rules; growing takes seconds on large tables."""
        self._check(version)
        return self._preview({"do": "grow", "n_rules": n_rules, "check": check}).to_json()

    def cost(self, version: int) -> dict[str, Any]:
        """Write what fixed points cost."""
        self._check(version)
        return {"text": describe_cost(self.session.state)}

    def cuts(self, rule: int, column: str, check: Callable[[], None]) -> list[tuple[float, float]]:
        """Return the change of the loss along the threshold of a rule."""
        return self.session.suggest_cuts(rule, column, check=check)


def _printed_order(model: Any) -> list[int]:
    return [int(i) for i in np.argsort(model.numbers)]


def _cut_of(condition: Any) -> dict[str, Any] | None:
    """Return the single threshold of a condition, to be moved by a slider."""
    if not isinstance(condition, Range) or condition.kind != "numeric":
        return None
    low, high = np.isfinite(condition.low), np.isfinite(condition.high)
    if low == high:
        return None
    sign = (">" if condition.low_open else ">=") if low else ("<" if condition.high_open else "<=")
    return {"sign": sign, "value": condition.low if low else condition.high}


def _describe(column: Any) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "ordered": column.type.ordered,
        "labels": list(column.labels[:200]),
        "more": write_count(max(len(column.labels) - 200, 0), "more label"),
    }


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return what changes when a file is written."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
