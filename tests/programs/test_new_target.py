"""A new target is one file and a line in the registry: it serves every form."""

from typing import ClassVar

import pytest
from hypothesis import given

from budget import examples
from model.builders import churn_model, dnf_models, models, vote_models
from rulewright.programs import ParityError
from rulewright.programs.rowwise import RowWriter
from rulewright.programs.target import Answer, ExportTarget, n_rows
from rulewright.programs.targets import TARGETS

pytestmark = pytest.mark.native


class ToyWriter(RowWriter):
    """A language with words for operators, which the test translates to Python to run it."""

    signs: ClassVar = {"+": "PLUS", "-": "MINUS", "==": "IS", "and": "AND", "or": "OR"}
    least, greatest = "LEAST", "MOST"
    exp, where = "EXP({})", "IF({}; {}; {})"
    missing, known = ("MISSING({})",) * 2, ("KNOWN({})",) * 2
    comment, declare, read, first = "NOTE {}\n", "LET {} := {}\n", "READ_{}({})", "{} AT FIRST {}"

    def literal(self, value):
        return repr(value)

    def guard(self, test, statements):
        return "".join(f"WHEN {test} DO {text}\n" for text in statements)

    def labels(self, variable, labels, negated):
        tests = self.join_tests("or", [f"{variable} IS {label}" for label in labels])
        return f"KNOWN({variable}) AND NOT({tests})" if negated else f"({tests})"


def write_toy(program):
    writer = ToyWriter(program)
    reads = zip(writer.variables.values(), writer.columns(), strict=True)
    text = "".join(f"LET {name} := {value}\n" for name, value in reads)
    return (
        text
        + "".join(writer.statements())
        + f"GIVE {' & '.join(map(writer.value, program.outputs))}\n"
    )


def test_every_form_can_be_written():
    """The few lines above write a model of any form, with all its values."""
    text = write_toy(churn_model().program)
    assert text.startswith("LET age := READ_number('age')\n")
    assert "WHEN age <= 34.0 AND (color IS 'red') DO score_churn += 0.83\n" in text
    assert "LET odds_churn := EXP((score_churn MINUS largest))\n" in text


@given(models() | dnf_models() | vote_models())
@examples(20)
def test_no_form_needs_more(model):
    """Programs of all forms are written without a word of the target about forms."""
    assert write_toy(model.program).count("GIVE") >= 1


def test_a_registered_target_is_exported_and_verified(monkeypatch):
    """One line in the registry, and the target is written by models and compared with them."""
    model = churn_model()
    right = model.predict_proba

    def run(write, program, rows):
        assert "NOTE rule 1: points -2.346 for churn: color is known and " in write(program)
        scores = model.scores(rows)
        labels = model.predict(rows)
        answers = zip(scores.tolist(), right(rows).tolist(), labels, strict=True)
        assert len(scores) == n_rows(rows)
        return [Answer(s, p, label, ()) for s, p, label in answers], ["toy was here"]

    monkeypatch.setitem(TARGETS, "toy", ExportTarget("a toy", write_toy, {"toy": run}))
    assert model.export("toy") == write_toy(model.commented_program)
    report = model.verify_exports()
    assert report.targets[-1] == "toy"
    assert report.notes == ("toy was here",)
    right = churn_model()[:3].predict_proba
    with pytest.raises(ParityError, match="toy answers differently"):
        model.verify_exports(["toy"])
