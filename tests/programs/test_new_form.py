"""A new model form is one file: it writes its program and gets prediction and every export."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from budget import examples
from model.builders import CHURN_ROWS, CHURN_SCHEMA, conditions
from rules.builders import formulas
from rulewright.data import read_like
from rulewright.data.json_fields import DISTRIBUTION, Fields
from rulewright.model import ClassModel, load_model, model_schema, storage
from rulewright.programs import recipes
from rulewright.programs.nodes import Constant, FirstThat
from rulewright.programs.parity import adversarial_rows
from rulewright.programs.program import ClassProgram
from rulewright.rules import Coverage, Rule, Says, parse_formula

pytestmark = pytest.mark.native


@dataclass(frozen=True, eq=False, repr=False)
class LastWord(ClassModel):
    """The last rule that holds says the probabilities."""

    form: ClassVar[str] = "last"
    outcome: ClassVar = Says
    fields: ClassVar = Fields({"default": DISTRIBUTION}, about="The last rule that holds decides.")

    schema: Any
    classes: Any
    rules: tuple[Rule, ...]
    default: tuple[float, ...]
    summary: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def base_program(self):
        cases = tuple((rule.body, rule.outcome.distribution) for rule in reversed(self.rules))
        said = FirstThat(Constant(self.default), cases)
        order = tuple(range(len(self.classes)))
        chosen = recipes.prefer_first(said, order)
        return ClassProgram(self.schema, said, tuple(self.classes.tolist()), said, chosen)

    @property
    def decides(self):
        return True

    def preamble(self):
        return "The last rule that applies decides."

    def form_fields(self):
        return {"default": list(self.default)}

    @classmethod
    def read_fields(cls, content):
        return {"default": tuple(content["default"])}


def last_word(*rules):
    made = [Rule(body, Says(says), Coverage(1.0, (1.0, 1.0))) for body, says in rules]
    return LastWord(CHURN_SCHEMA, np.array(["no", "yes"]), tuple(made), (0.75, 0.25))


LAST = last_word(
    (parse_formula("age <= 34 and color = red"), (0.0, 1.0)),
    (parse_formula("age is missing or not active = false"), (0.5, 0.5)),
    (parse_formula("color = red"), (0.25, 0.75)),
)
says = st.sampled_from([(0.0, 1.0), (0.5, 0.5), (0.9, 0.1), (0.3, 0.7)])
on_columns = st.sampled_from(CHURN_SCHEMA.columns).flatmap(conditions)


def test_the_last_word_by_hand():
    """The last rule that holds decides, where none does the default; ties go to the first."""
    assert LAST.predict_proba(CHURN_ROWS)[:, 1].tolist() == [0.75, 0.5, 0.25, 0.75]
    assert LAST.predict(CHURN_ROWS).tolist() == ["yes", "no", "no", "yes"]
    assert "THEN yes" in LAST.to_text()
    assert [LAST.explain(CHURN_ROWS).rule_ids(row) for row in range(4)] == [
        [0, 2, 1],
        [1],
        [],
        [2, 1],
    ]


def test_explanations_without_changes():
    """A form that does not say what rules change still tells which hold."""
    rows = {name: values[1:3] for name, values in CHURN_ROWS.items()}
    assert str(LAST.explain(rows)).splitlines() == [
        "row 0: no with probability 0.500 (yes 0.500)",
        "  probability  reason",
        "     0.500 no  rule 3: age is missing or active != false",
        "row 1: no with probability 0.750 (yes 0.250)",
        "  reason",
        "  start: where no rule applies",
    ]


@given(st.lists(st.tuples(formulas(on_columns), says), max_size=5))
@examples(30)
def test_every_export_follows_from_the_program(rules):
    """SQL, Python and JavaScript answer as the native program, and that as the definition."""
    model = last_word(*rules)
    assert len(model.verify_exports().targets) == 4
    rows = adversarial_rows(model.program)
    table = read_like(rows, CHURN_SCHEMA)
    expected = np.tile(np.array(model.default), (len(table), 1))
    for body, distribution in rules:
        expected[body.holds(table)] = distribution
    np.testing.assert_array_equal(model.predict_proba(rows), expected)


def test_the_form_is_saved_and_loaded(monkeypatch, tmp_path):
    """One line in the registry of forms, and files of the form can be read and have a schema."""
    monkeypatch.setitem(storage.FORMS, "last", LastWord)
    LAST.save(tmp_path / "last.json")
    loaded = load_model(tmp_path / "last.json")
    assert loaded == LAST
    document = json.loads((tmp_path / "last.json").read_text())
    Draft202012Validator(model_schema()).validate(document)
    document["default"] = "none"
    assert not Draft202012Validator(model_schema()).is_valid(document)
    np.testing.assert_array_equal(loaded.scores(CHURN_ROWS), LAST.scores(CHURN_ROWS))
    assert loaded[:1].predict_proba(CHURN_ROWS)[1:, 1].tolist() == [0.25] * 3
