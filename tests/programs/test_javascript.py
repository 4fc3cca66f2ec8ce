"""The exported JavaScript, run in a real engine: quoting, reading of values, exact numbers."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from py_mini_racer import JSEvalException, MiniRacer

from budget import examples
from model.builders import (
    CHURN_ROWS,
    CHURN_SCHEMA,
    churn_model,
    dnf_models,
    finite,
    models,
    strange_text,
    vote_models,
)
from programs.builders import tamper
from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema, label_of, read_table
from rulewright.data.late_imports import optional
from rulewright.model import AdditiveRules, RegressionRules
from rulewright.model.forms.terms import LinearTerm
from rulewright.programs import ParityError, javascript
from rulewright.programs.targets import TARGETS
from rulewright.rules import Conjunction, Labels, Range

pytestmark = pytest.mark.native

NULL, UNDEFINED, NAN = "null", "undefined", "NaN"


def one_rule(condition, column, classes=("a", "b")):
    rule = a_rule(Conjunction((condition,)), 1, 0.5, 1.0, (1.0,) * len(classes))
    return AdditiveRules(Schema((column,), named=True), list(classes), (0.0, 0.0), (rule,))


def run(model, row, function="predict"):
    """Call the exported function with a row, given as JavaScript."""
    engine = MiniRacer()
    engine.eval(model.to_javascript(function))
    return json.loads(engine.eval(f"JSON.stringify({function}({row}))"))


@given(models() | dnf_models() | vote_models())
@examples(40)
def test_javascript_answers_as_the_model(model):
    """Strange names, labels and thresholds give the same scores, probabilities and labels."""
    assert model.verify_exports(["javascript"]).targets == ("javascript",)


def test_the_answer_by_hand():
    """The object has the label, the classes and their scores and probabilities."""
    model = churn_model()
    row = {name: values[0] for name, values in CHURN_ROWS.items()}
    answer = run(model, json.dumps(row), "churn")
    assert list(answer) == ["label", "classes", "scores", "probabilities"]
    assert answer["classes"] == model.classes.tolist()
    assert answer["scores"] == model.scores(CHURN_ROWS)[0].tolist()
    np.testing.assert_allclose(
        answer["probabilities"], model.predict_proba(CHURN_ROWS)[0], rtol=0, atol=1e-12
    )
    assert answer["label"] == model.predict(CHURN_ROWS)[0]


@pytest.mark.parametrize("value", [NULL, UNDEFINED, NAN, None])
def test_absent_null_undefined_and_nan_are_missing(value):
    """A value that is absent, null, undefined or NaN counts as missing."""
    columns = [] if value is None else [f"{json.dumps(name)}: {value}" for name in CHURN_ROWS]
    answer = run(churn_model(), f"{{{', '.join(columns)}}}")
    assert answer["scores"] == churn_model().scores(CHURN_ROWS)[1].tolist()


@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__", "hasOwnProperty"])
def test_columns_named_like_members_of_objects(name):
    """What every object inherits is not taken for a value of the row."""
    model = one_rule(Labels(name, ("x",), negated=True), ColumnSchema(name, "nominal", ("x",)))
    assert run(model, "{}")["scores"] == [0.0, 0.0]
    assert run(model, f"JSON.parse({json.dumps(json.dumps({name: 'y'}))})")["scores"][1] == 0.5
    numeric = one_rule(Range(name, low=-1e308), ColumnSchema(name, "numeric"))
    assert run(numeric, "{}")["scores"] == [0.0, 0.0]


@given(
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | finite
    | strange_text
    | st.sampled_from([-0.0, 1e21, -1e22, 1e-4, 9.999e-5, 1e-5, 1.5e-7, 5e-324, 1e300, 2.0**60])
)
@examples(300)
def test_labels_are_written_as_the_library_does(value):
    """The exported reader of labels agrees with the library's, to the character."""
    text = churn_model().to_javascript()
    start, stop = text.index("  function get("), text.index("  return (row) =>")
    found = ENGINE.eval(f"{{{text[start:stop]} label({json.dumps({'c': value})}, 'c') }}")
    assert found == label_of(value)


ENGINE = MiniRacer()


@pytest.mark.parametrize(
    ("value", "number"),
    [("'3.5'", 3.5), ("' -1e3 '", -1000.0), ("true", 1.0), ("7n", 7.0), ("'.5'", 0.5)],
)
def test_numbers_in_other_types(value, number):
    """Decimal text, truth values and big integers are read as numbers, as Python does."""
    model = one_rule(Range("x", number, number), ColumnSchema("x", "numeric"))
    assert run(model, f"{{x: {value}}}")["label"] == "b"


@pytest.mark.parametrize("value", ["''", "'abc'", "'0x10'", "[1]", "{}", "new Date()"])
@pytest.mark.parametrize("kind", ["numeric", "nominal"])
def test_values_that_cannot_be_read_are_refused(value, kind):
    """What is no number, or no label, throws an error that names the column."""
    if kind == "nominal" and value.startswith("'"):
        return
    column = ColumnSchema("x <y>", kind, ("1",) if kind == "nominal" else ())
    test = Range("x <y>", low=0.0) if kind == "numeric" else Labels("x <y>", ("1",))
    with pytest.raises(JSEvalException, match='column "x <y>" cannot be'):
        run(one_rule(test, column), f"{{'x <y>': {value}}}")


def test_names_and_labels_cannot_become_code():
    """Ends of scripts and line separators are escaped, and the text stays ASCII."""
    evil = "</script><!--\u2028\u2029\"';\n\\"
    column = ColumnSchema(evil, "nominal", (evil,))
    model = one_rule(Labels(evil, (evil,)), column, classes=("a", evil))
    text = model.to_javascript()
    assert text.isascii()
    assert "</script" not in text
    assert "<!--" not in text
    assert run(model, json.dumps({evil: evil}))["label"] == evil
    model.verify_exports(["javascript"])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            one_rule(
                Labels("c", (str(2**53 + 2),)),
                ColumnSchema("c", "nominal", (str(2**53 + 2),), "number"),
            ),
            "label 9007199254740994 of column 'c' is too large",
        ),
        (
            one_rule(Range("x", low=0.0), ColumnSchema("x", "numeric"), (1, 2**53 + 2)),
            "class label 9007199254740994 is too large",
        ),
    ],
)
def test_integers_that_javascript_cannot_hold_are_refused(model, message):
    """Integers beyond 2^53 are refused, not rounded."""
    with pytest.raises(ValueError, match=message):
        model.to_javascript()


@pytest.mark.parametrize("name", ["", "1st", "a b", "class", "eval", "x\n", "é", "a.b", "let"])
def test_function_names_that_would_break_the_code_are_refused(name):
    """The name of the function must be a free JavaScript name."""
    with pytest.raises(ValueError, match="free JavaScript name"):
        churn_model().to_javascript(name)


@pytest.mark.parametrize("name", ["number", "label", "LABELS", "v0", "$f_1"])
def test_function_names_may_be_those_used_inside(name):
    """The names inside the function are its own."""
    assert run(churn_model(), "{}", name)["label"] == "stay"


def test_the_module_can_be_required():
    """Where there is a module object, as in Node, it exports the function."""
    engine = MiniRacer()
    engine.eval("var module = {exports: {}};" + churn_model().to_javascript())
    assert engine.eval("module.exports === predict")


@pytest.mark.parametrize(
    ("old", "new"), [("+= 0.83", "+= 0.84"), ("<= 34.0", "< 34.0"), ('"red"', '"Red"')]
)
def test_a_wrong_export_is_found(monkeypatch, old, new):
    """The check sees a response, a comparison or a label that is wrong."""
    assert old in churn_model().to_javascript()
    tamper(monkeypatch, "javascript", lambda text: text.replace(old, new))
    with pytest.raises(ParityError, match="javascript answers differently"):
        churn_model().verify_exports(["javascript"])


def test_without_an_engine_the_report_says_so(monkeypatch):
    """JavaScript that cannot be run is a note of the report, or an error if it was asked for."""

    def missing(name):
        if name == "py_mini_racer":
            raise ImportError(name)
        return optional(name)

    monkeypatch.setattr(javascript, "optional", missing)
    report = churn_model().verify_exports()
    assert report.targets == ("duckdb", "sqlite", "python")
    assert "javascript was not run: install mini-racer" in str(report)
    with pytest.raises(RuntimeError, match="install mini-racer"):
        churn_model().verify_exports(["javascript"])


def test_the_registry_has_what_the_model_writes():
    """The methods of a model and its general export write the same text."""
    model = churn_model()
    assert list(TARGETS) == ["sql", "python", "javascript", "onnx"]
    assert model.export("javascript", function="f") == model.to_javascript("f")
    with pytest.raises(ValueError, match="sql, python, javascript"):
        model.export("fortran")
    assert CHURN_SCHEMA is model.program.schema


def test_large_scores_are_compared_as_numbers():
    """JavaScript writes 1e20 as a whole number, whose decimals are not those of the double."""
    line = LinearTerm("a", -1e20, 1e20, 0.0, 1.0, (1.527121607227587,))
    model = RegressionRules(read_table({"a": [1.0]}).schema, 0.0, (), linear=(line,))
    assert model.verify_exports(["javascript"]).targets == ("javascript",)
