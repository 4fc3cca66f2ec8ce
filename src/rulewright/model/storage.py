"""Reading a saved model: every field is checked, nothing is executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.data import Schema
from rulewright.model.class_model import ClassModel
from rulewright.model.classes import classes_from_json
from rulewright.model.document import (
    MAX_CLASSES,
    MAX_RULES,
    ModelFileError,
    json_list,
    read_document,
)
from rulewright.model.forms.additive import AdditiveRules
from rulewright.model.forms.average import AveragedModel
from rulewright.model.forms.decision_list import DecisionList
from rulewright.model.forms.dnf import DnfModel
from rulewright.model.forms.nearest import NearestRules
from rulewright.model.forms.regression import RegressionRules
from rulewright.model.forms.unordered import UnorderedRules
from rulewright.model.forms.votes import RuleSetVotes
from rulewright.rules import Rule

if TYPE_CHECKING:
    import os

    from rulewright.model.rule_model import RuleModel

_COMMON_FIELDS = {"form", "schema", "rules", "summary"}


def load_model(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> RuleModel:
    """Read a model that was saved with ``model.save(path)``.

    Parameters
    ----------
    path : path
        A file written by ``save``.
    max_bytes : int, optional
        Size of the largest file that is read; 128 MiB by default. Checking a file takes up to
        about ten times its size in memory.

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
        return model_of_content(read_document(path, max_bytes))
    except RecursionError:
        raise ModelFileError(f"cannot load {str(path)!r}: nested too deeply") from None
    except ValueError as error:
        raise ModelFileError(f"cannot load {str(path)!r}: {error}") from error


def model_of_content(content: dict[str, Any]) -> RuleModel:
    """Check the content of a model, as `RuleModel.content` gives it, and make the model."""
    return _model(_form(content), content)


def _form(content: dict[str, Any]) -> type[RuleModel]:
    form = content.get("form")
    if not isinstance(form, str) or form not in FORMS:
        raise ModelFileError(f"unknown model form {form!r}; known are {sorted(FORMS)}")
    return FORMS[form]


def _model(form: type[RuleModel], content: dict[str, Any]) -> RuleModel:
    common = _COMMON_FIELDS | ({"classes"} if issubclass(form, ClassModel) else set())
    needed = common | form.fields.needed.keys()
    if missing := sorted(needed - content.keys()):
        raise ModelFileError(f"fields are missing: {missing}")
    if unknown := sorted(content.keys() - needed - form.fields.optional.keys()):
        raise ModelFileError(f"unknown fields: {unknown}")
    own = {name: value for name, value in content.items() if name not in common}
    fields, shared = form.read_fields(own), _common(content)
    if form is AveragedModel:  # its members share the columns and the classes
        frame = {name: content[name] for name in ("schema", "classes")}
        fields["members"] = tuple(_member(obj, k, frame) for k, obj in enumerate(fields["members"]))
    return form(**fields, **shared)


def _member(obj: object, k: int, frame: dict[str, Any]) -> RuleModel:
    """Read a model of which others are made."""
    try:
        if not isinstance(obj, dict) or obj.keys() & frame.keys():
            raise ModelFileError("it must be an object without schema and classes")
        return _model(_form(obj), obj | frame)
    except ValueError as error:
        raise ModelFileError(f"member {k}: {error}") from error


def _common(content: dict[str, Any]) -> dict[str, Any]:
    """Read the fields that models of all forms have."""
    rules = json_list(content["rules"], "rules", MAX_RULES)
    fields = {
        "schema": Schema.from_json(content["schema"]),
        "rules": tuple(_rule(obj, i) for i, obj in enumerate(rules)),
        "summary": content["summary"],
    }
    if "classes" in content:
        fields["classes"] = classes_from_json(content["classes"], MAX_CLASSES)
    return fields


def _rule(obj: object, i: int) -> Rule:
    try:
        return Rule.from_json(obj)
    except ValueError as error:
        raise ModelFileError(f"rule {i}: {error}") from error


FORMS: dict[str, type[RuleModel]] = {
    form.form: form
    for form in (
        AdditiveRules,
        DnfModel,
        RuleSetVotes,
        RegressionRules,
        DecisionList,
        UnorderedRules,
        NearestRules,
        AveragedModel,
    )
}
