"""ONNX graphs answer as models do, in the real runtime."""

import sys

import numpy as np
import onnxruntime
import pytest
from hypothesis import given

from budget import examples
from model.builders import CHURN_SCHEMA, churn_model, every_form
from report.models import model_and_rows
from rules.builders import a_rule
from rulewright import parse_conjunction
from rulewright.data import ColumnSchema, Schema
from rulewright.model import AdditiveRules
from rulewright.programs import onnx_graph

pytestmark = pytest.mark.native


@given(every_form())
@examples(25)
def test_strange_models_of_every_form_answer_alike(model):
    """Scores have the same bits on adversarial rows, but for averages."""
    assert model.verify_exports(["onnx"]).n_rows > 0


@pytest.mark.parametrize("name", ["two classes", "dates", "ripper", "rise", "numbers with lines"])
def test_learned_models_answer_alike(name):
    """Calibration, costs, dates, lists, distances and lines are exact."""
    model, _ = model_and_rows(name)
    assert model.verify_exports(["onnx"]).targets == ("onnx",)


def run(model, **columns):
    """Run the graph of a model and give its outputs by name."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.to_onnx(), options)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, columns), strict=True))


def test_inputs_and_outputs_are_as_documented():
    """Numbers are doubles, labels are text, missing is NaN or the empty text."""
    rows = {
        "age": [30.0, None, 60.0],
        "color": ["red", None, "purple"],
        "plan": [1, None, 2.5],
        "active": [True, None, False],
    }
    model = churn_model()
    found = run(
        model,
        age=np.array([[30.0], [np.nan], [60.0]]),
        color=np.array([["red"], [""], ["purple"]], dtype=object),
        plan=np.array([["1"], [""], ["2.5"]], dtype=object),
        active=np.array([["true"], [""], ["false"]], dtype=object),
    )
    assert list(found) == ["scores", "probabilities", "label"]
    np.testing.assert_array_equal(found["scores"], model.scores(rows))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), rtol=1e-14)
    assert found["label"].tolist() == model.predict(rows).tolist()


@pytest.mark.parametrize(("start", "response"), [(1e-313, 0.0), (0.0, 1e-313), (1.0, 1e-12)])
def test_the_runtime_drops_no_small_number(start, response):
    """Its optimisation takes numbers for 0 and 1 that are so in single precision only."""
    rule = a_rule(parse_conjunction("true"), 0, response, 2.0, (1.0,))
    model = AdditiveRules(CHURN_SCHEMA, ["a"], (start,), (rule, rule))
    found = run(model, age=np.zeros((1, 1)))
    assert found["scores"].tolist() == [[start + response + response]]


def test_a_model_without_rules_answers_every_row():
    """A constant is repeated as often as the first column has rows."""
    found = run(churn_model()[:0], age=np.zeros((3, 1)))
    assert found["scores"].tolist() == [[0.1, -0.2]] * 3


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (ColumnSchema("label", "numeric"), "column 'label' cannot be an input.*rename"),
        (ColumnSchema("/rule/0", "numeric"), "column '/rule/0' cannot be an input.*rename"),
        (ColumnSchema("x", "nominal", ("", "a")), "column 'x' has the empty text as a label"),
    ],
)
def test_what_cannot_be_exact_is_refused(column, message):
    """Names and labels that would be taken for something else are errors that name the column."""
    name = f'"{column.name}"'
    condition = f"{name} = a" if column.labels else f"{name} <= 1"
    rule = a_rule(parse_conjunction(condition), 0, 1.0, 2.0, (1.0, 1.0))
    schema = Schema((column,), named=True)
    with pytest.raises(ValueError, match=message):
        AdditiveRules(schema, ["a", "b"], (0.0, 0.0), (rule,)).to_onnx()


def test_too_many_operations_are_refused(monkeypatch):
    """A graph that would take minutes to load is an error."""
    monkeypatch.setattr(onnx_graph, "MAX_OPERATIONS", 10)
    with pytest.raises(ValueError, match=r"more than 10 operations.*fewer rules"):
        churn_model().to_onnx()


def test_the_package_is_asked_for(monkeypatch):
    """Without onnx the error names the extra, and nobody else misses it."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install rulewright\[onnx\]"):
        churn_model().to_onnx()
    assert "onnx" not in churn_model().verify_exports().targets
