"""Reading a saved model, and the JSON schema for programs that read one without this library.

Every field is checked, nothing is executed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.data import COLUMNS, OBJECT, Part, Schema, define, described, list_of, resolve
from rulewright.model.class_labels import CLASSES, classes_from_json
from rulewright.model.class_model import ClassModel
from rulewright.model.decisions import DECISION_FIELDS, decision_from_json
from rulewright.model.document import (
    FORMAT_VERSION,
    MAX_CLASSES,
    MAX_RULES,
    OWN_FIELDS,
    ModelFileError,
    json_list,
    read_document,
)
from rulewright.model.forms.additive import AdditiveRules
from rulewright.model.forms.average import AveragedModel
from rulewright.model.forms.card import RuleCard
from rulewright.model.forms.dnf import DnfModel
from rulewright.model.forms.hazards import HazardRules
from rulewright.model.forms.lists import DecisionList, UnorderedRules
from rulewright.model.forms.nearest import NearestRules
from rulewright.model.forms.rates import RateRules
from rulewright.model.forms.regression import RegressionRules
from rulewright.model.forms.votes import RuleSetVotes
from rulewright.rules import COVERAGE, NUMBER_COVERAGE, Adds, Claims, Rule, Says, Votes, rule_fields

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
    decided = DECISION_FIELDS.keys() if issubclass(form, ClassModel) else set()
    if unknown := sorted(content.keys() - needed - form.fields.optional.keys() - decided):
        raise ModelFileError(f"unknown fields: {unknown}")
    own = {name: value for name, value in content.items() if name not in common | decided}
    fields, shared = form.read_fields(own), _common(content)
    if form is AveragedModel:  # its members share the columns and the classes
        frame = {name: content[name] for name in ("schema", "classes")}
        fields["members"] = tuple(_member(obj, k, frame) for k, obj in enumerate(fields["members"]))
    return form(**fields, **shared)


def _member(obj: object, k: int, frame: dict[str, Any]) -> RuleModel:
    """Read a member of a composite model."""
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
        fields["decision"] = decision_from_json(content)
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
        RuleCard,
        DnfModel,
        RuleSetVotes,
        RegressionRules,
        RateRules,
        HazardRules,
        DecisionList,
        UnorderedRules,
        NearestRules,
        AveragedModel,
    )
}


_SUMMARY = define(
    "summary",
    described(
        "What the learner noted down: settings, figures and on which rows they were computed, "
        "provenance.",
        OBJECT,
    ),
)
_NAMES = {
    Adds: ("adds", "adding_rule"),
    Claims: ("claims", "claiming_rule"),
    Votes: ("votes_outcome", "voting_rule"),
    Says: ("says", "saying_rule"),
}
"""What outcomes and the rules with them are called."""


def model_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the files that ``model.save`` writes.

    It is made from the fields that the readers of files check. Whatever ``load_model`` reads of the
    present format version is valid. The reverse does not hold: loading also checks the hash, that
    conditions fit the columns, and that lists have as many items as there are classes.
    """
    definitions: dict[str, Any] = {}
    with_classes = {"properties": {"classes": CLASSES}, "required": ["classes"]}
    schema: dict[str, Any] = resolve(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:rulewright:model-file:{FORMAT_VERSION}",
            "title": f"A model file of rulewright, format version {FORMAT_VERSION}",
            "description": "What model.save(path) writes and load_model(path) reads. Loading "
            "checks more than a schema can say: the hash, that conditions fit the columns, that "
            "lists have one item per class, that probabilities sum to 1.",
            "type": "object",
            "properties": {**OWN_FIELDS, "schema": COLUMNS},
            "required": [*OWN_FIELDS, "schema"],
            "oneOf": [
                _forms("number_form", of_classes=False),
                {"allOf": [with_classes, _forms("class_form", of_classes=True)]},
            ],
            "unevaluatedProperties": False,
        },
        definitions,
    )
    return {**schema, "$defs": definitions}


def _forms(name: str, *, of_classes: bool) -> Part:
    """Return the forms of classifiers, or of regressors."""
    forms = [form for form in FORMS.values() if issubclass(form, ClassModel) == of_classes]
    return define(name, {"oneOf": [define(form.form, _form_part(form)) for form in forms]})


def _form_part(form: type[RuleModel]) -> Part:
    """Return a model without columns and classes, which its members may share."""
    needed: Part = {"form": {"const": form.form}, "rules": list_of(_rule_part(form))}
    needed |= {"summary": _SUMMARY, **form.fields.needed}
    decided = DECISION_FIELDS if issubclass(form, ClassModel) else {}
    return {
        **described(form.fields.about, OBJECT),
        "properties": {**needed, **form.fields.optional, **decided},
        "required": list(needed),
    }


def _rule_part(form: type[RuleModel]) -> Part:
    name, rule = _NAMES[form.outcome]
    outcome = define(name, form.outcome.fields.part)
    if issubclass(form, ClassModel):
        return define(rule, rule_fields(outcome, define("coverage", COVERAGE.part)).part)
    coverage = define("number_coverage", NUMBER_COVERAGE.part)
    return define("number_rule", rule_fields(outcome, coverage).part)
