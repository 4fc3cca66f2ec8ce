"""The first line of a report: what the model does, and how well."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright.evidence import ClassAnswers, format_number, format_percent
from rulewright.html import cut_line
from rulewright.model import write_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.evidence import Answers, Measure
    from rulewright.model import RuleModel
    from rulewright.report.performance import Performance

_NAMED_CLASSES = 4


def name_target(model: RuleModel, *others: str | None) -> str:
    """Return the name of the target, from the model or else from the data."""
    names = (model.summary.get("target"), *others)
    return next((cut_line(name) for name in names if isinstance(name, str) and name), "")


def headline(
    model: RuleModel, target: str, performance: Performance | None, answers: Answers | None
) -> str:
    """Describe what a model predicts, from which columns, and how well."""
    n_columns = len(model.columns)
    what = f"{_what(model, target)} with {write_count(len(model.rules), 'rule')}"
    if n_columns:
        of = f"{n_columns} of {write_count(len(model.schema.names), 'column')}"
        what += f" that use {of}"
    if performance is None or answers is None:
        return f"{what}."
    rows = f"{performance.origin} ({write_count(performance.n_rows, 'row')})"
    found = {one.key: one for one in performance.figures}
    known = _class_figures(model, answers, found) if model.head_names else _number_figures(found)
    return f"{what}. On {rows}: {'; '.join(known)}."


def _what(model: RuleModel, target: str) -> str:
    names = [cut_line(name, 24) for name in model.head_names]
    if not names:
        words = {"counts": "a rate", "survival": "the time until an event"}
        return f"Predicts {target or words.get(model.task, 'a number')}"
    if len(names) > _NAMED_CLASSES:
        return f"Predicts {target or 'one of'} {'as one of ' if target else ''}{len(names)} classes"
    listed = " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
    return f"Predicts whether {target} is {listed}" if target else f"Predicts {listed}"


def _class_figures(model: RuleModel, answers: Answers, found: dict[str, Measure]) -> Sequence[str]:
    assert isinstance(answers, ClassAnswers)
    known = answers.select_known()
    parts = []
    if known.interest is not None and len(known.codes):
        name = cut_line(known.names[known.interest], 24)
        said = {
            "recall": f'finds {{}} of the "{name}" rows',
            "precision": f'{{}} of its "{name}" predictions are right',
        }
        values = {key: found[key].value for key in said if key in found}
        known_values = {key: value for key, value in values.items() if math.isfinite(value)}
        parts += [said[key].format(format_percent(p)) for key, p in known_values.items()]
    if "auc" in found:
        parts.append(f"AUC {found['auc'].value:.3f}")
    if "accuracy" in found:
        one = found["accuracy"]
        top = int(np.argmax(np.bincount(known.codes, known.weights, len(answers.names))))
        always = f'always "{cut_line(answers.names[top], 24)}": {format_percent(one.baseline)}'
        parts.append(f"accuracy {format_percent(one.value)} ({always})")
    return parts


_NUMBER_FIGURES = {
    "mae": "mean absolute error",
    "r2": "R2",
    "d2": "deviance explained",
    "concordance": "concordance",
    "pinball_loss": "pinball loss",
}


def _number_figures(found: dict[str, Measure]) -> Sequence[str]:
    parts = []
    names = {
        "d2": "deviance explained",
        "concordance": "concordance",
        "pinball_loss": "pinball loss",
    }
    for key, what in (("mae", "mean absolute error"), ("r2", "R2"), *names.items()):
        if key in found and math.isfinite(found[key].value):
            one, base = found[key], ""
            if key == "mae":
                base = f" (without rules {format_number(one.baseline)})"
            text = format_number(one.value) if key == "mae" else f"{one.value:.2f}"
            parts.append(f"{what} {text}{base}")
    return parts


def cautions(model: RuleModel, answers: Answers | None) -> list[str]:
    """Warn of problems behind good figures: no rules, a class that is never predicted."""
    found = []
    if not model.rules and not getattr(model, "linear", ()):
        found.append("The model has no rules: it predicts the same for every row.")
    elif isinstance(answers, ClassAnswers):
        known = answers.select_known()
        there, said = np.unique(known.codes), np.unique(known.chosen)
        never = [f'"{cut_line(answers.names[k], 24)}"' for k in np.setdiff1d(there, said).tolist()]
        if never and len(never) <= _NAMED_CLASSES:
            found.append(
                f"The model never predicts {' or '.join(never)} on these rows. Use its "
                "probabilities, or another threshold, to find such rows."
            )
    return found
