"""Reading a saved model: every field is checked, nothing is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.data import Schema
from rulewright.model.classes import classes_from_json
from rulewright.model.document import ModelFileError, read_document
from rulewright.model.forms.additive import AdditiveRules
from rulewright.model.forms.dnf import DnfModel
from rulewright.model.forms.rule_sets import rule_set_from_json
from rulewright.model.forms.votes import RuleSetVotes
from rulewright.model.steps import Steps
from rulewright.rules import Rule

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from rulewright.model.rule_model import RuleModel

MAX_RULES = 10_000_000
MAX_CLASSES = 100_000
_COMMON_FIELDS = {"form", "schema", "classes", "rules", "summary"}


def load_model(path: str | os.PathLike[str]) -> RuleModel:
    """Read a model that was saved with ``model.save(path)``.

    Parameters
    ----------
    path : path
        A file written by ``save``.

    Returns
    -------
    RuleModel
        A model with the same predictions, to the bit.

    Raises
    ------
    ModelFileError
        When the file is not a sound model file; the message says what is wrong.
    """
    try:
        content = read_document(path)
        form = content.get("form")
        if not isinstance(form, str) or form not in _FORMS:
            raise ModelFileError(f"unknown model form {form!r}; known are {sorted(_FORMS)}")
        return _FORMS[form](content)
    except RecursionError:
        raise ModelFileError(f"cannot load {str(path)!r}: nested too deeply") from None
    except ValueError as error:
        raise ModelFileError(f"cannot load {str(path)!r}: {error}") from error


def _additive(content: dict[str, Any]) -> AdditiveRules:
    _check_fields(content, _COMMON_FIELDS | {"intercepts"}, optional={"costs", "steps"})
    intercepts = _list(content, "intercepts", MAX_CLASSES)
    costs = _list(content, "costs", MAX_CLASSES) if "costs" in content else None
    steps = _list(content, "steps", MAX_CLASSES) if "steps" in content else None
    return AdditiveRules(
        intercepts=tuple(intercepts),
        costs=None if costs is None else tuple(costs),
        steps=None if steps is None else tuple(Steps.from_json(obj) for obj in steps),
        **_common(content),
    )


def _dnf(content: dict[str, Any]) -> DnfModel:
    weights = ("class_weights", "default_weights")
    _check_fields(content, _COMMON_FIELDS | {"default", *weights}, optional=set())
    counts: dict[str, Any] = {key: tuple(_list(content, key, MAX_CLASSES)) for key in weights}
    return DnfModel(default=content["default"], **counts, **_common(content))


def _votes(content: dict[str, Any]) -> RuleSetVotes:
    _check_fields(content, _COMMON_FIELDS | {"members", "priors", "abstain"}, optional=set())
    members: Any = []
    for sets in _list(content, "members", MAX_CLASSES):
        if not isinstance(sets, list) or len(sets) > MAX_RULES:
            raise ModelFileError(f"members must be lists of at most {MAX_RULES} rule sets")
        members.append([rule_set_from_json(obj) for obj in sets])
    priors = tuple(_list(content, "priors", MAX_CLASSES))
    common = _common(content)
    return RuleSetVotes(members=members, priors=priors, abstain=content["abstain"], **common)


def _common(content: dict[str, Any]) -> dict[str, Any]:
    """Read the fields that models of all forms have."""
    rules = _list(content, "rules", MAX_RULES)
    return {
        "schema": Schema.from_json(content["schema"]),
        "classes": classes_from_json(content["classes"], MAX_CLASSES),
        "rules": tuple(_rule(obj, i) for i, obj in enumerate(rules)),
        "summary": content["summary"],
    }


def _rule(obj: object, i: int) -> Rule:
    try:
        return Rule.from_json(obj)
    except ValueError as error:
        raise ModelFileError(f"rule {i}: {error}") from error


def _check_fields(content: dict[str, Any], needed: set[str], optional: set[str]) -> None:
    if missing := sorted(needed - content.keys()):
        raise ModelFileError(f"fields are missing: {missing}")
    if unknown := sorted(content.keys() - needed - optional):
        raise ModelFileError(f"unknown fields: {unknown}")


def _list(content: dict[str, Any], key: str, limit: int) -> list[Any]:
    values = content[key]
    if not isinstance(values, list):
        raise ModelFileError(f"{key} must be a list, not {type(values).__name__}")
    if len(values) > limit:
        raise ModelFileError(f"{key} has {len(values)} items, more than {limit}")
    return values


_FORMS: dict[str, Callable[[dict[str, Any]], RuleModel]] = {
    AdditiveRules.form: _additive,
    DnfModel.form: _dnf,
    RuleSetVotes.form: _votes,
}
