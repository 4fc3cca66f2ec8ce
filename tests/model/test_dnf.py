import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from model.builders import CHURN_SCHEMA, dnf_models, saved, write
from rules.builders import a_rule
from rulewright.data import read_like, read_table
from rulewright.encoding.booleans import encode_booleans
from rulewright.model import AdditiveRules, DnfModel, ModelFileError, load_model
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import Claims, parse_conjunction

pytestmark = pytest.mark.native

ROWS = {
    "age": [20.0, 30.0, 50.0, None, 70.0, 25.0],
    "color": ["red", "blue", None, "green", "red", "green"],
}
TARGET = ["yes", "yes", "no", "no", "no", "no"]


def terms(*texts):
    """Read conjunctions."""
    return [parse_conjunction(text) for text in texts]


def table(target=TARGET, weights=None):
    """Read the rows with a target."""
    return read_table(ROWS, target=target, weights=weights)


def two_terms(weights=None):
    """Make a model of two classes with one formula."""
    formula = terms("age <= 30 and color != red (or missing)", "color = red and age < 60")
    return DnfModel.from_training(table(weights=weights), {1: formula})


def test_counts_by_hand():
    """Every term knows its training rows of each class; so does the region without a term."""
    model = two_terms()
    assert [rule.coverage.class_weights for rule in model.rules] == [(1.0, 1.0), (0.0, 1.0)]
    assert [rule.outcome.value for rule in model.rules] == [2 / 4, 2 / 3]
    assert [rule.coverage.support for rule in model.rules] == [2.0, 1.0]
    assert (model.default, model.class_weights, model.default_weights) == (0, (4, 2), (3, 0))
    assert model.default_scores == (4 / 5, 1 / 5)
    assert model.formula(1) == (model.rules[0].body, model.rules[1].body)
    assert model.formula(0) == ()


def test_weights_count_as_rows():
    """A row of weight two counts like a row twice."""
    model = two_terms(weights=[2.0, 1.0, 1.0, 3.0, 1.0, 0.5])
    assert [rule.coverage.class_weights for rule in model.rules] == [(0.5, 1.0), (0.0, 2.0)]
    assert (model.class_weights, model.default_weights) == ((5.5, 3.0), (5.0, 0.0))


def test_answers_by_hand():
    """The best term that holds gives the probability; elsewhere the other class has its share."""
    model = two_terms()
    assert model.predict(ROWS).tolist() == ["yes", "yes", "no", "no", "no", "yes"]
    assert model.predict_proba(ROWS)[:, 1] == pytest.approx([2 / 3, 0.5, 0.2, 0.2, 0.2, 0.5])
    assert model.decision_function(ROWS)[[0, 2]] == pytest.approx([2 / 3, 0.2 - 0.8])


@given(dnf_models())
@examples(60)
def test_the_best_covering_class_wins(model):
    """The label is the class of the most precise rule that holds, else the default class."""
    rows = adversarial_rows(model.program)
    covers, labels = model.covers(rows), model.decide(model.scores(rows))
    for fired, label in zip(covers, labels, strict=True):
        found = [
            (rule.outcome.value, model.class_weights[rule.head.first], -rule.head.first)
            for rule, holds in zip(model.rules, fired, strict=True)
            if holds
        ]
        assert label == (-max(found)[2] if found else model.default)


@given(dnf_models())
@examples(60)
def test_probabilities_agree_with_labels(model):
    """Probabilities sum to one, none is negative, and no class is more probable than the label."""
    scores = model.scores(adversarial_rows(model.program))
    chances, labels = model.probabilities(scores), model.decide(scores)
    assert np.all(chances >= 0.0)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert np.array_equal(chances[np.arange(len(labels)), labels], chances.max(axis=1))
    if len(model.classes) == 2:
        positive = model.decision_function(adversarial_rows(model.program))
        tied = scores[:, 0] == scores[:, 1]
        assert np.array_equal((positive > 0)[~tied], labels[~tied] == 1)


def test_a_poor_rule_still_decides():
    """A rule that was wrong more often than right gives its class just over half."""
    model = DnfModel.from_training(table(), {1: terms("age >= 50")})
    assert model.rules[0].outcome.value == 0.25
    assert model.predict({"age": [60.0], "color": [None]}).tolist() == ["yes"]
    assert 0.5 < model.predict_proba({"age": [60.0], "color": [None]})[0, 1] < 0.5 + 1e-6


def test_the_default_class_is_what_the_formula_leaves():
    """With one formula for two classes the other one is predicted elsewhere, whatever is there."""
    model = DnfModel.from_training(
        table(["yes", "yes", "yes", "no", "yes", "yes"]), {1: terms("age > 60")}
    )
    assert model.default == 0
    assert model.predict({"age": [20.0], "color": [None]}).tolist() == ["no"]
    assert 0.5 < model.predict_proba({"age": [20.0], "color": [None]})[0, 0] < 0.5 + 1e-6


def test_default_of_several_formulas():
    """With a formula for each class the default is the most frequent class among the rest."""
    three = table(["a", "b", "c", "c", "b", "b"])
    model = DnfModel.from_training(three, {0: terms("age <= 20"), 1: terms("age >= 70"), 2: []})
    assert model.default_weights == (0.0, 2.0, 2.0)
    assert model.default == 1
    assert model.predict_proba({"age": [50.0]})[0] == pytest.approx(np.array([1, 3, 3]) / 7)
    everything = DnfModel.from_training(three, {0: terms("true"), 1: [], 2: []})
    assert (everything.default, everything.default_weights) == (1, (0.0, 0.0, 0.0))
    assert DnfModel.from_training(three, {0: [], 1: [], 2: []}, default=2).default == 2


def test_ties_go_to_the_larger_class():
    """Of two classes with equally precise terms the one with more training weight wins."""
    rule = a_rule(parse_conjunction("true"), 0, 0.75, 4.0, (2.0, 2.0), Claims)
    other = a_rule(parse_conjunction("true"), 1, 0.75, 4.0, (2.0, 2.0), Claims)
    for weights, label in (((5.0, 6.0), "b"), ((5.0, 5.0), "a"), ((6.0, 5.0), "a")):
        model = DnfModel(CHURN_SCHEMA, ["a", "b"], (rule, other), 0, weights, (0.0, 0.0))
        assert model.predict({"age": [1.0]}).tolist() == [label]
        assert model.verify_exports().n_rows > 0


@pytest.mark.parametrize(("formula", "label"), [((), "no"), (("true",), "yes")])
def test_false_and_true(formula, label):
    """No term covers no row, the term without conditions all of them."""
    model = DnfModel.from_training(table(), {1: terms(*formula)})
    assert set(model.predict(ROWS)) == {label}
    assert model.verify_exports().targets == ("duckdb", "sqlite", "python", "javascript")
    assert "no rule" in str(model)


def test_a_single_class():
    """With one class there is nothing to decide."""
    model = DnfModel.from_training(table(["x"] * 6), {})
    assert model.predict_proba(ROWS).tolist() == [[1.0]] * 6
    assert model.decision_function(ROWS).tolist() == [0.0] * 6
    assert model.verify_exports().n_rows > 0


@given(st.integers(0, 2**32 - 1), st.booleans())
@examples(25)
def test_formulas_of_an_encoding_cover_the_same_rows(seed, thresholds):
    """A formula over Booleans and its model cover the same rows, new, missing and unseen ones."""
    rng = np.random.default_rng(seed)

    def draw(n_rows, labels):
        x = np.where(rng.random(n_rows) < 0.2, np.nan, rng.integers(0, 30, n_rows))
        return {"x": x, "c": [None if rng.random() < 0.2 else rng.choice(labels) for _ in x]}

    training = read_table(draw(60, list("abc")), target=[*"pn" * 30])
    new = read_like(draw(70, list("abcd")), training.schema)
    encoding, _ = encode_booleans(training, thresholds=thresholds)
    formula = [
        [(int(j), bool(rng.integers(2))) for j in rng.permutation(len(encoding))[: rng.integers(5)]]
        for _ in range(3)
    ]
    model = DnfModel.from_training(training, {1: encoding.conjunctions(formula)})
    for rows in (training, new):
        answers = encoding.covers(rows).unpack()
        covered = np.zeros(len(rows), dtype=np.bool_)
        for term in formula:
            covered |= np.all([answers[j] == way for j, way in term] or [covered | True], axis=0)
        assert np.array_equal(model.predict(rows) == "p", covered)
    assert model.verify_exports().n_rows > 0


def test_text():
    """The model prints its terms with their Laplace precision and says what holds elsewhere."""
    model, file = two_terms(), io.StringIO()
    model.print(file=file)
    assert [" ".join(line.split()) for line in file.getvalue().splitlines()] == [
        "DnfModel: 2 rules, 2 classes (no, yes)",
        "where no rule applies: no with probability 0.800",
        "The most probable of the rules that apply decides.",
        "share: precision on training rows with 95 % interval (these rows chose the rules: "
        "expect less on new rows)",
        "# probability rows share [95 %] rule",
        "1 0.667 1 of 1 100 % [21, 100] IF color = red and age < 60 THEN yes",
        "2 0.500 1 of 2 50 % [9, 91] IF age <= 30 and color != red (or missing) THEN yes",
    ]
    assert model.rules_table()["if"][0] == "age <= 30 and color != red (or missing)"


def test_explanation():
    """The rules that hold are told, the most precise first, and what they change."""
    explanation = two_terms().explain(ROWS)
    lines = str(explanation).splitlines()
    assert lines[:5] == [
        "row 0: yes with probability 0.667 (no 0.333)",
        "  probability  P(yes)  reason (changes of P add up in this order)",
        "                0.200  start: where no rule applies",
        "    0.667 yes  +0.467  rule 1: color = red and age < 60",
        "                0.667  total",
    ]
    assert lines[10:13] == [
        "row 2: no with probability 0.800 (yes 0.200)",
        "  P(no)  reason (changes of P add up in this order)",
        "  0.800  start: where no rule applies",
    ]
    plain = explanation.to_dict()
    assert plain.keys() == {"classes", "rows"}
    assert [rule["id"] for rule in plain["rows"][1]["rules"]] == [0]
    assert explanation.to_frame()["rule"].tolist() == [1, 2, 2]


def test_slices_and_equality():
    """A slice is a model of fewer terms; models of other forms are never equal."""
    model = two_terms()
    assert model[:1].rules == model.rules[:1]
    assert model == two_terms()
    assert model != model[:1]
    additive = AdditiveRules(model.schema, model.classes, (0.0, 0.0), ())
    assert model[:0] != additive


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"default": 2}, "default"),
        ({"default": True}, "default"),
        ({"default": "no"}, "default"),
        ({"class_weights": [1.0]}, "weights"),
        ({"class_weights": 3}, "list"),
        ({"default_weights": [-1.0, 2.0]}, "weights"),
        ({"default_weights": [1e308, 1e308]}, "weights"),
        ({"intercepts": [0.0, 0.0]}, "unknown fields"),
        ({"schema": 3}, "schema"),
        ({"summary": 3}, "summary"),
    ],
)
def test_bad_files(tmp_path, changes, message):
    """A file that is no sound DNF model is refused with a message that says why."""
    path = tmp_path / "model.json"
    write(path, saved(path, two_terms()) | changes)
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


@pytest.mark.parametrize(
    "changes", [{"head": [0, 1]}, {"claims": 0.0}, {"claims": 1.5}, {"head": 2}, {"adds": 0.5}]
)
def test_bad_terms(tmp_path, changes):
    """A term speaks for one class, with a response above 0 and at most 1."""
    path = tmp_path / "model.json"
    document = saved(path, two_terms())
    document["rules"][1]["then"] |= changes
    write(path, document)
    with pytest.raises(ModelFileError, match="rule 1"):
        load_model(path)


def test_counting_needs_a_target():
    """Rows without classes cannot be counted."""
    with pytest.raises(ValueError, match="target"):
        DnfModel.from_training(read_table(ROWS), {})
