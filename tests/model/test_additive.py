import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from model.builders import CHURN_ROWS, CHURN_SCHEMA, churn_model, models
from rules.builders import a_rule
from rulewright.data import ColumnSchema, DataError, Schema, read_like, read_table
from rulewright.model import AdditiveRules, IsotonicSteps
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import Adds, Conjunction, parse_conjunction

pytestmark = pytest.mark.native


def rule(text, **fields):
    good = {"head": 0, "response": 1.0, "support": 2.0, "class_weights": (1.0, 1.0)}
    return a_rule(parse_conjunction(text), **(good | fields))


def test_scores_by_hand():
    """Each row gets the intercepts plus the responses of the rules that fire, in order."""
    expected = [
        [0.1 + 0.4 + 0.05, -0.2 + 0.83 + 0.125 - 2.345678901234567],
        [0.1 + 0.3 + 0.05, -0.2],
        [0.1 + 0.05, -0.2],
        [0.1 + 0.05, -0.2 + 0.125 - 2.345678901234567],
    ]
    np.testing.assert_array_equal(churn_model().scores(CHURN_ROWS), expected)


def test_two_classes_follow_scikit_learn():
    """With two classes the decision is second minus first, and its sign is the label."""
    model = churn_model()
    scores, decision = model.scores(CHURN_ROWS), model.decision_function(CHURN_ROWS)
    np.testing.assert_array_equal(decision, scores[:, 1] - scores[:, 0])
    np.testing.assert_array_equal(
        model.predict(CHURN_ROWS), model.classes[(decision > 0).astype(int)]
    )


def test_probabilities_are_the_softmax():
    """Probabilities are the softmax of the scores, also where exp alone would overflow."""
    model = AdditiveRules(CHURN_SCHEMA, [1, 2, 3], (1000.0, 1000.0 + math.log(3.0), -1000.0), ())
    np.testing.assert_allclose(
        model.predict_proba(CHURN_ROWS), [[0.25, 0.75, 0.0]] * 4, rtol=1e-12, atol=0
    )
    assert model.decision_function(CHURN_ROWS).shape == (4, 3)


def test_one_class_is_certain():
    """A model of one class gives zero decisions, probability one and its label."""
    model = AdditiveRules(CHURN_SCHEMA, ["only"], (0.7,), ())
    np.testing.assert_array_equal(model.decision_function(CHURN_ROWS), np.zeros(4))
    np.testing.assert_array_equal(model.predict_proba(CHURN_ROWS), np.ones((4, 1)))
    assert model.predict(CHURN_ROWS).tolist() == ["only"] * 4


def test_equal_scores_give_the_first_class():
    """Ties go to the class that comes first."""
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b", "c"], (0.0, 1.0, 1.0), ())
    assert model.predict(CHURN_ROWS).tolist() == ["b"] * 4


@pytest.mark.parametrize("classes", [["a", "b"], [3, 7], [0.5, 1.5], [False, True]])
def test_labels_keep_their_type(classes):
    """Predicted labels have the type of the classes."""
    model = AdditiveRules(CHURN_SCHEMA, np.array(classes), (0.0, 1.0), ())
    assert model.predict(CHURN_ROWS).tolist() == [classes[1]] * 4
    assert model.predict(CHURN_ROWS).dtype == np.array(classes).dtype


def test_only_used_columns_are_needed():
    """Prediction does not ask for columns without rules, and names one that is missing."""
    model = churn_model()
    assert "unused" not in CHURN_ROWS
    extra = {"extra": [1] * 4, **dict(reversed(CHURN_ROWS.items()))}
    np.testing.assert_array_equal(model.scores(extra), model.scores(CHURN_ROWS))
    without = {name: values for name, values in CHURN_ROWS.items() if name != "color"}
    with pytest.raises(DataError, match="color"):
        model.scores(without)
    assert model[3:4].scores({"age": [None]}).tolist() == [[0.1 + 0.3, -0.2]]


def test_arrays_without_names():
    """A model learned without names takes its columns by position."""
    schema = Schema((ColumnSchema("x0", "numeric"), ColumnSchema("x1", "numeric")), named=False)
    rules = (rule("x1 > 0.5", class_weights=(1.0,)),)
    model = AdditiveRules(schema, ["a"], (0.0,), rules)
    X = np.array([[9.0, 0.5], [0.0, 1.0], [1.0, np.nan]])
    assert model.scores(X).ravel().tolist() == [0.0, 1.0, 0.0]
    model.verify_exports()
    with pytest.raises(DataError, match="2 features"):
        model.scores(X[:, :1])


def test_a_table_that_was_read_is_not_read_again():
    """A table with the columns of the model gives the same scores."""
    model = churn_model()
    table = read_like(CHURN_ROWS, model.schema, model.columns)
    np.testing.assert_array_equal(model.scores(table), model.scores(CHURN_ROWS))


def test_a_table_with_other_kinds_and_labels_is_recoded():
    """A table that was read without the model's schema gives the same scores."""
    model, table = churn_model(), read_table(CHURN_ROWS)
    assert table["color"].schema != model.schema["color"]
    assert table["plan"].schema.kind != model.schema["plan"].kind
    np.testing.assert_array_equal(model.scores(table), model.scores(CHURN_ROWS))


@given(models())
@examples(50)
def test_a_slice_is_a_stage(model):
    """The scores of the first rules plus what the others add are the scores of all."""
    rows = adversarial_rows(model.program)
    covers = model.covers(rows)
    for m in range(len(model) + 1):
        staged = model[:m].scores(rows)
        for i in range(m, len(model)):
            staged[covers[:, i], model[i].head.classes] += model[i].outcome.value
        np.testing.assert_array_equal(staged, model.scores(rows))
    for m, staged in enumerate(model.staged_scores(rows)):
        np.testing.assert_array_equal(staged, model[:m].scores(rows))


@given(models())
@examples(30)
def test_any_number_of_threads_gives_the_same_scores(model):
    """Threads share rows and change no bit."""
    rows = adversarial_rows(model.program)
    np.testing.assert_array_equal(model.scores(rows, n_threads=1), model.scores(rows, n_threads=3))


@given(models())
@examples(40)
def test_bits_are_the_covers(model):
    """Packed covers say what the covers say, and nothing beyond the last row."""
    covers, bits = (
        cover(adversarial_rows(model.program)) for cover in (model.covers, model.cover_bits)
    )
    assert bits.shape == (len(model), -(-len(covers) // 64))
    for i, words in enumerate(bits.tolist()):
        rows = [64 * w + b for w, word in enumerate(words) for b in range(64) if word >> b & 1]
        assert rows == np.flatnonzero(covers[:, i]).tolist()


@given(models(), st.data())
@examples(40)
def test_merging_keeps_the_scores(model, data):
    """Equal rules become one, in whatever order their conditions stand; scores stay."""
    again = [
        replace(one, body=Conjunction(tuple(reversed(one.body.conditions))))
        for one in data.draw(
            st.lists(st.sampled_from(model.rules), max_size=8) if model.rules else st.just([])
        )
    ]
    model = model.with_rules([*model.rules, *again])
    merged, rows = model.merge_rules(), adversarial_rows(model.program)
    np.testing.assert_allclose(merged.scores(rows), model.scores(rows), rtol=0, atol=1e-12)
    kinds = [(one.body.key, one.head) for one in merged]
    assert len(set(kinds)) == len(kinds)
    assert all(one.outcome.value != 0.0 for one in merged)
    first = [(one.body.key, one.head) for one in model]
    assert kinds == sorted(kinds, key=first.index)


def test_merging_by_hand():
    """The first place stays, opposite responses cancel, other heads are other rules."""
    rules = [
        rule("age <= 3 and color = red", response=1.0),
        rule("age <= 4", response=0.5),
        rule("age <= 4", head=1, response=0.5),
        rule("color = red and age <= 3", response=2.0, support=9.0),
        rule("age <= 4", response=-0.5),
    ]
    merged = AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.0, 0.0), tuple(rules)).merge_rules()
    assert merged.rules == (rules[0].with_outcome(Adds(0, 3.0)), rules[2])


@given(models(), st.floats(0.0, 10.0), st.data())
@examples(40)
def test_scaling_is_part_of_the_scores(model, slope, data):
    """The scores of the scaled model are slope times score plus offset."""
    model = replace(model, steps=None)
    offsets = data.draw(st.tuples(*[st.floats(-5.0, 5.0)] * len(model.classes)))
    scaled, rows = model.scale_scores(slope, offsets), adversarial_rows(model.program)
    expected = slope * model.scores(rows) + np.array(offsets)
    np.testing.assert_allclose(scaled.scores(rows), expected, rtol=0, atol=1e-11)
    assert scaled.decision == model.decision


@pytest.mark.parametrize(
    ("slope", "offsets", "message"),
    [
        (-1.0, (0.0, 0.0), "slope"),
        (math.nan, (0.0, 0.0), "slope"),
        (math.inf, (0.0, 0.0), "slope"),
        (1.0, (0.0,), "as many offsets"),
        (1.0, (0.0, math.inf), "finite"),
    ],
)
def test_wrong_scales_are_refused(slope, offsets, message):
    """Scales that would turn rules around or make scores infinite are refused."""
    with pytest.raises(ValueError, match=message):
        churn_model().scale_scores(slope, offsets)


def test_steps_forbid_scaling():
    """Steps were made for the scores as they are."""
    model = replace(churn_model(), steps=(IsotonicSteps((), (0.5,)),) * 2)
    with pytest.raises(ValueError, match="scale the model first"):
        model.scale_scores(2.0, (0.0, 0.0))


def test_slicing_and_length():
    """A model is a sequence of rules whose slices are models."""
    model = churn_model()
    assert len(model) == 6
    assert len(model[:2]) == 2
    assert model[:2].rules == model.rules[:2]
    assert model[3] is model.rules[3]
    assert model[-1] is model.rules[-1]
    assert list(model) == list(model.rules)
    assert model[:0]
    with pytest.raises(IndexError):
        model[6]


def test_equality_and_pickle():
    """Models are equal when their content is, also after pickling a used one."""
    model = churn_model()
    model.scores(CHURN_ROWS)
    assert pickle.loads(pickle.dumps(model)) == model == churn_model()
    assert model != model[:5]
    assert model != replace(model, decision=((0.0, 1.0), (1.0, 0.0)))
    assert model != replace(model, steps=(IsotonicSteps((), (0.5,)),) * 2)
    assert model != "model"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"classes": []}, "at least one"),
        ({"classes": ["a", "a"]}, "different"),
        ({"classes": np.array(["a", 1], dtype=object)}, "all strings"),
        ({"classes": [1.0, math.nan]}, "finite"),
        ({"intercepts": (0.0,)}, "intercepts"),
        ({"intercepts": (0.0, math.inf)}, "finite"),
        ({"intercepts": (0.0, "1")}, "must be a number"),
        ({"rules": (rule("height <= 3"),)}, "rule 0: the schema lacks the column 'height'"),
        ({"rules": (rule("color <= 3"),)}, "needs a numeric column"),
        ({"rules": (rule("age = red"),)}, "needs a nominal column"),
        ({"rules": (rule("color = pink"),)}, "no label 'pink'"),
        ({"rules": (rule("true", class_weights=(1.0,)),)}, "class weights"),
        ({"rules": (rule("true", response=1e308),) * 2}, "finite"),
        ({"rules": ("age <= 3",)}, "must be a Rule"),
        ({"schema": None}, "must be a Schema"),
        ({"summary": []}, "must be a dict"),
        ({"decision": 1.0}, "threshold 1 must be"),
        ({"decision": "1"}, 'must be "accuracy"'),
        ({"decision": np.zeros(2)}, "2 rows of 2 numbers"),
        ({"decision": np.ones((2, 2))}, "0 where the prediction is true"),
        ({"decision": [[0.0, math.nan], [1.0, 0.0]]}, "NaN"),
        ({"decision": [[0.0, 1.0], [math.inf, 0.0]]}, "'a' for 'b' is inf"),
        ({"steps": (IsotonicSteps((), (0.5,)),)}, "2 IsotonicSteps"),
        ({"steps": (None, None)}, "2 IsotonicSteps"),
    ],
)
def test_wrong_models_are_refused(fields, message):
    """What does not fit together is refused when the model is made."""
    good = {
        "schema": CHURN_SCHEMA,
        "classes": ["a", "b"],
        "intercepts": (0.0, 0.0),
        "rules": (),
        "summary": {},
    }
    with pytest.raises(ValueError, match=message):
        AdditiveRules(**(good | fields))


def test_rows_without_columns():
    """A model without rules needs no column but the number of rows."""
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.0, 1.0), (rule("true"),))
    assert model.columns == ()
    assert model.scores(CHURN_ROWS).tolist() == [[1.0, 1.0]] * 4
    assert model.rules[0].body == Conjunction()
