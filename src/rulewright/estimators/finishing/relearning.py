"""The learner of a model, rebuilt to learn inside folds, so that held-out rows are unseen.

A fitted estimator is cloned. A saved model names its learner and settings in its summary. If they
are incomplete, for example because a setting was an object, there is no learner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from rulewright.estimators.catalogue import LEARNERS
from rulewright.estimators.contract.base import RuleClassifier
from rulewright.estimators.contract.weights import class_weighted
from rulewright.estimators.folds.precision import counting_training_rows

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.model import AdditiveRules

_CHANGED = ("compression", "sample_rows")  # steps after learning that the learner does not repeat


def find_learner(model: Any) -> RuleClassifier[Any] | None:
    """Return an unfitted copy of the learner of a fitted estimator or of a model.

    None if the learner is unknown, or if the model was changed after learning.
    """
    learner = clone(model) if isinstance(model, RuleClassifier) else _rebuild_learner(model)
    if learner is None:
        return None
    copy: RuleClassifier[Any] = counting_training_rows(learner)
    copy.set_params(n_jobs=1, verbose=0)
    return copy


def _rebuild_learner(model: Any) -> RuleClassifier[Any] | None:
    """Rebuild the learner that a model's summary names; a file may hold anything."""
    summary = getattr(model, "summary", {})
    named = [
        name
        for name, entry in LEARNERS.entries.items()
        if entry.place.endswith(f":{summary.get('learner')}")
    ]
    settings = summary.get("settings")
    if not named or not isinstance(settings, dict) or any(name in summary for name in _CHANGED):
        return None
    kind, settings = LEARNERS[named[0]], dict(settings)
    if settings.get("class_weight", "balanced") != "balanced":
        return None  # weights of classes, as text
    if settings.get("ordinal", False) is not False:
        settings["ordinal"] = True  # the classes of the model are sorted
    if "positive_class" in settings:
        classes = {str(label): label for label in model.classes.tolist()}
        settings["positive_class"] = classes.get(settings["positive_class"])
    if "constraints" in summary:
        settings["constraints"] = summary["constraints"]
    known = all(
        name in kind.DOMAINS and kind.DOMAINS[name].accepts(settings[name]) for name in settings
    )
    return kind(**settings) if known else None


def learn_again(learner: RuleClassifier[Any], rows: TrainingSet, seed: int) -> AdditiveRules:
    """Learn a model from rows whose classes are in the order of the first model."""
    copy = clone(learner).set_params(random_state=seed)
    copy.classes_ = rows.classes
    found: AdditiveRules = copy._learn(class_weighted(rows, copy.class_weight))  # noqa: SLF001 - classes stay in order
    return found
