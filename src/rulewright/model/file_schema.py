"""The JSON schema of model files: for programs that read or check them without this library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rulewright.data import COLUMNS, OBJECT, define, described, list_of, resolve
from rulewright.model.class_model import ClassModel
from rulewright.model.classes import CLASSES
from rulewright.model.document import FORMAT_VERSION, OWN_FIELDS
from rulewright.model.storage import FORMS
from rulewright.rules import COVERAGE, NUMBER_COVERAGE, Adds, Claims, Says, Votes, rule_fields

if TYPE_CHECKING:
    from rulewright.data import Part
    from rulewright.model.rule_model import RuleModel

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
    """Return the forms of models of classes, or of numbers."""
    forms = [form for form in FORMS.values() if issubclass(form, ClassModel) == of_classes]
    return define(name, {"oneOf": [define(form.form, _form(form)) for form in forms]})


def _form(form: type[RuleModel]) -> Part:
    """Return a model without columns and classes, which its members may share."""
    needed: Part = {
        "form": {"const": form.form},
        "rules": list_of(_rule(form)),
        "summary": _SUMMARY,
    }
    needed |= form.fields.needed
    return {
        **described(form.fields.about, OBJECT),
        "properties": {**needed, **form.fields.optional},
        "required": list(needed),
    }


def _rule(form: type[RuleModel]) -> Part:
    name, rule = _NAMES[form.outcome]
    outcome = define(name, form.outcome.fields.part)
    if issubclass(form, ClassModel):
        return define(rule, rule_fields(outcome, define("coverage", COVERAGE.part)).part)
    coverage = define("number_coverage", NUMBER_COVERAGE.part)
    return define("number_rule", rule_fields(outcome, coverage).part)
