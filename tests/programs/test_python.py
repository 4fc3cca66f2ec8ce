import builtins
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from budget import examples
from model.builders import CHURN_ROWS, assert_chosen, churn_model, dnf_models, models, vote_models
from rulewright.data import label_of
from rulewright.programs.parity import adversarial_rows

pytestmark = pytest.mark.native


def run(source):
    """Execute exported source where only four of Python's own modules can be imported."""

    def only_these(name, *rest):
        assert name in ("math", "bisect", "datetime", "re")
        return builtins.__import__(name, *rest)

    space = {"__builtins__": vars(builtins) | {"__import__": only_these}}
    exec(compile(source, "export", "exec"), space)
    return space


@given(models() | dnf_models() | vote_models())
@examples(60)
def test_python_answers_as_the_model(model):
    """The exported functions give the model's answers on adversarial rows."""
    rows = adversarial_rows(model.program)
    space = run(model.to_python())
    scores = model.scores(rows)
    expected = model.probabilities(scores)
    for i in range(0, len(expected), 5):
        row = {name: values[i] for name, values in rows.items()}
        answer = space["predict_proba"](row)
        assert list(answer) == model.classes.tolist()
        np.testing.assert_allclose(list(answer.values()), expected[i], rtol=0, atol=1e-12)
        assert_chosen(model, scores[i], space["predict_proba_label"](row))


def test_absent_none_and_nan_are_missing():
    """A value that is absent, None or NaN counts as missing."""
    function = run(churn_model().to_python("score_row"))["score_row"]
    expected = dict(
        zip(["stay", "churn"], churn_model().predict_proba(CHURN_ROWS)[1].tolist(), strict=True)
    )
    nothing = dict.fromkeys(CHURN_ROWS)
    nan = {name: float("nan") for name in CHURN_ROWS}
    for row in ({}, nothing, nan):
        assert function(row) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "value",
    [
        *("red", "", True, np.False_, 3, 3.0, np.int8(3), np.float32(0.1), 0.1, -0.0, 2**70),
        *(1e22, 1e-7, Decimal("3.0"), Decimal("0.1"), Fraction(1, 3), np.str_("red")),
    ],
)
def test_labels_are_written_as_the_library_does(value):
    """The exported reader of labels agrees with the library's."""
    assert run(churn_model().to_python())["_label"]({"c": value}, "c") == label_of(value)


def test_a_module_begins_with_its_rules_and_has_the_readers_it_needs():
    """Nothing about dates or numbers is written for a model of labels."""
    model = churn_model()
    text = model.with_rules(model.rules[:0]).to_python()
    assert "_number" not in text
    assert "import re" not in text
    text = model.to_python()
    assert text.index("def _rules(") < text.index("def _label(")
    assert "def _number(" in text
    assert "_moment" not in text.lower()
    assert "import datetime" not in text


@pytest.mark.parametrize(
    "name", ["", "1st", "a b", "class", "exp", "sum", "_label", "_COSTS", "x\n", "\xaa"]
)
def test_function_names_that_would_break_the_code_are_refused(name):
    """The name of the function must be a free Python name."""
    with pytest.raises(ValueError, match="free Python name"):
        churn_model().to_python(name)
