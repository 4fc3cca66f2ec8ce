"""Write the hand-over document of a model."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulewright.data import offer_names
from rulewright.explain import (
    EvaluatedRows,
    answers_on,
    is_learned_from,
    model_of,
    rows_with_target,
)
from rulewright.governance.documents.parts import HandOver
from rulewright.governance.documents.sections import QUESTIONS, Known, make_sections
from rulewright.governance.groups import group_columns, group_tables
from rulewright.governance.proving import Proofs, prove
from rulewright.html import escape_line
from rulewright.model import ClassModel, read_class

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from rulewright.governance.policies import Policy

_OPENING = (
    "What the model and its data say is filled in. Places marked 'To be written' need a person.",
    "The headings follow model cards (Mitchell et al., 2019) and Annex IV of Regulation (EU) "
    "2024/1689, the AI Act; numbers of articles say where to look. This document does not claim "
    "that the model complies with them.",
)


def document(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    by: str | Sequence[str] | Mapping[str, Any] = (),
    favourable: Any = None,
    sample_weight: Any = None,
    policies: Proofs | Policy | Sequence[Policy] | None = None,
    notes: Mapping[str, str] | None = None,
    title: str = "",
    origin: str = "the given rows",
    files: Mapping[str, str] | None = None,
) -> HandOver:
    """Write the hand-over document of a model, filled in as far as it is known.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        The model.
    X : table, optional
        Rows that the model was not learned from, for figures. Without rows the document has the
        figures that the model keeps.
    y : array-like or str, optional
        Their target, or the name of its column in X.
    by : str, sequence of str or mapping of str to array-like
        Columns with groups to compare, or values of the rows by name.
    favourable : class label, optional
        The class that figures by group are about; of two classes by default the rarer one.
    sample_weight : array-like or str, optional
        Weights of the rows, or the name of their column in X.
    policies : Policy, sequence of Policy or Proofs, optional
        Policies to prove, or their proofs.
    notes : mapping of str to str, optional
        What a person has written, by the keys that the document names, such as ``purpose``.
    title : str
        The title; by default it names the target.
    origin : str
        Name of the rows, to be read after "on".
    files : mapping of str to str, optional
        Further entries of the section on versions, such as names and hashes of files.

    Returns
    -------
    HandOver
        The document; ``to_markdown()`` and ``to_html()`` write it, ``unwritten`` lists the places
        that are left.
    """
    fitted = model_of(model, "document")
    given = check_notes(notes or {})
    answers, groups = None, []
    if X is not None:
        table = rows_with_target(fitted, X, y, sample_weight)
        rows = EvaluatedRows(fitted, table)
        if is_learned_from(rows):
            origin = f"{origin}, the rows that the model was learned from: expect worse on others"
        answers = answers_on(rows, origin)
        place = None
        if favourable is not None:
            if not isinstance(fitted, ClassModel):
                raise ValueError("favourable names a class, but the model is for regression.")
            place = read_class(favourable, fitted.class_names, "favourable")
        groups = group_tables(answers, group_columns(X, fitted, by), "value", place)
    elif by:
        raise ValueError("by= names columns of the rows: give X and y")
    proofs = policies if isinstance(policies, Proofs) or policies is None else None
    if policies is not None and proofs is None:
        proofs = prove(fitted, policies)  # type: ignore[arg-type]
    target = fitted.summary.get("target")
    named = f"Rule model for {escape_line(target)}" if isinstance(target, str) else "Rule model"
    known = Known(fitted, answers, groups, proofs, given, origin, files or {})
    return HandOver(title or named, _OPENING, make_sections(known))


def check_notes(notes: Mapping[str, str]) -> dict[str, str]:
    """Return notes by key, or raise a ValueError for an unknown key."""
    for key, value in notes.items():
        if key not in QUESTIONS:
            raise ValueError(f"notes: no place {key!r}. {offer_names(key, [*QUESTIONS])}")
        if not isinstance(value, str):
            raise ValueError(f"notes: {key} must be text, not {type(value).__name__}")
    return dict(notes)


def read_notes(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read what a person has written from a TOML file: a line ``key = "text"`` for each place."""
    try:
        return check_notes(tomllib.loads(Path(path).read_text("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a TOML file: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
