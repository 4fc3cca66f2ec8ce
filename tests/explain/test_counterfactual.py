"""Counterfactuals of every form of model, against brute force, and by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.builders import (
    DecisionList,
    UnorderedRules,
    averages,
    conjunctions,
    dnf_models,
    models,
    nearest_models,
    saying_models,
    schemas_and_classes,
    vote_models,
)
from report.models import MODELS, large_model, model_and_rows
from rulewright.data import DataError, read_like, read_table
from rulewright.data.kinds.nominal import label_value
from rulewright.explain import counterfactual
from rulewright.explain.counterfactuals.moves import moves_of
from rulewright.model import AdditiveRules, DnfModel, RegressionRules, load_model
from rulewright.model.forms.terms import LinearTerm
from rulewright.programs.covers import marks_by_column
from rulewright.rules import Adds, Claims, Coverage, NumberCoverage, Rule, parse_formula

pytestmark = pytest.mark.native


@st.composite
def number_models(draw):
    """Draw regression rules."""
    schema, _ = draw(schemas_and_classes())
    responses = st.sampled_from([-3.0, -0.5, 1.0, 2.0])
    coverage = NumberCoverage(3.0, 0.0, 0.0)
    rules = [
        Rule(draw(conjunctions(schema)), Adds(0, draw(responses)), coverage)
        for _ in range(draw(st.integers(0, 5)))
    ]
    return RegressionRules(schema, 0.0, tuple(rules), {})


FORMS = {
    "additive": models(),
    "regression": number_models(),
    "dnf": dnf_models(),
    "votes": vote_models(),
    "decision list": saying_models(DecisionList),
    "unordered": saying_models(UnorderedRules),
    "nearest": nearest_models(),
    "average": averages(),
}


def probed(schema, marks):
    """Give values of all cells of a column: thresholds and their neighbours, or all labels."""
    if not schema.type.ordered:
        return [label_value(label, schema) for label in schema.labels]
    return sorted({probe for mark in marks for probe in schema.type.probes(mark)})


def brute_force(model, row, goal, k):
    """Give all changes of k columns to values of other cells that reach a goal."""
    marks = marks_by_column(model.program.marked)
    values = {name: probed(model.schema[name], marks.get(name, ())) for name in model.columns}
    changed = [
        dict(zip(names, new, strict=True))
        for names in itertools.combinations(model.columns, k)
        for new in itertools.product(*(values[name] for name in names))
    ]
    if not changed:
        return []
    rows = {name: [change.get(name, row[name]) for change in changed] for name in row}
    reached = goal(model.predict(rows))
    return [
        change
        for change, there in zip(changed, reached, strict=True)
        if there and all(change[name] != row[name] for name in change)
    ]


def drawn_row(draw, model):
    """Draw a row that looks like no whole numbers."""
    row = {}
    for column in model.schema:
        known = [label_value(label, column) for label in column.labels]
        numbers = [0.3, -7.7, 1e9 + 0.1]
        row[column.name] = draw(st.sampled_from([None, *(known or numbers)]))
    return row


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_no_change_is_missed(form, data):
    """Answers change the prediction, and brute force finds none of fewer columns or smaller."""
    model = data.draw(FORMS[form])
    row = drawn_row(data.draw, model)
    table = {name: [value] for name, value in row.items()}
    before = model.predict(table)[0]
    numbers = isinstance(model, RegressionRules)
    goal = (lambda out: out >= before + 0.5) if numbers else (lambda out: out != before)
    wanted = {"target_range": (float(before) + 0.5, None)} if numbers else {}
    found = counterfactual(model, row, **wanted)
    for answer in found:
        after = row | {change.column: change.after for change in answer.changes}
        assert goal(model.predict({name: [value] for name, value in after.items()}))[0]
        assert all(change.after is not None for change in answer.changes)
    by_size = [brute_force(model, row, goal, k) for k in (1, 2)]
    least = next((k for k, flips in enumerate(by_size, 1) if flips), 3)
    n_changes = len(found[0].changes) if len(found) else np.inf
    if not any(one.smooth for one in moves_of_row(model, table).values()):
        assert min(n_changes, 3) == least
    if found.fewest and len(found):
        assert n_changes <= least
    if found.smallest and n_changes < 3:
        check_smallest(model, table, by_size[n_changes - 1], found[0])


def moves_of_row(model, table):
    """Give the moves of all columns by name."""
    row = read_like(table, model.schema, model.columns)
    return {one.schema.name: one for one in moves_of(model.program, row, None, model.columns, {})}


def check_smallest(model, table, flips, answer):
    """Check that flips of brute force are smaller by no more than what short numbers cost."""
    moves = moves_of_row(model, table)

    def size(change):
        return sum(
            moves[name].cost(value) if moves[name].schema.type.ordered else 1.0
            for name, value in change.items()
        )

    least = min(size(change) for change in flips if change.keys() <= moves.keys())
    assert answer.size <= least + 0.01 * len(answer.changes) + 1e-9


def a_model(*rules, classes=("no", "yes"), linear=(), columns=None, start=0.0):
    """Make a model of (body, response for yes); it says no unless the sum is above 0."""
    schema = read_table(columns or {"a": [0.5], "b": [0.5], "c": np.array(["x", "y", "z"])[:1]})
    if columns is None:
        schema = read_table({"a": [0.5] * 3, "b": [0.5] * 3, "c": ["x", "y", "z"]})
    empty = Coverage.of((0.0,) * len(classes))
    made = tuple(Rule(parse_formula(body), Adds(1, r), empty) for body, r in rules)
    return AdditiveRules(
        schema.schema, np.array(classes), (0.0, start), made, {}, linear=tuple(linear)
    )


ROW = {"a": 1.7, "b": 2.2, "c": "x"}


def test_one_column_is_better_than_two_small_ones():
    """A large change of one column comes before two small ones, and both are given."""
    model = a_model(
        ("a >= 90", 3.0), ("b >= 2.5", 1.0), ("c = y", 1.0), ("b <= 100", 0.0), start=-1.5
    )
    found = counterfactual(model, ROW)
    assert [one.columns for one in found] == [("a",), ("b", "c")]
    assert [change.after for one in found for change in one.changes] == [90.0, 2.5, "y"]
    assert found.fewest
    assert found.smallest
    assert "a: 1.7 -> 90: then yes" in str(found)
    assert str(found).endswith("and the first change is the smallest; 6 changes checked)")


def test_values_lie_just_beyond_thresholds():
    """A closed bound is taken as it is, an open one is passed by little, in few digits."""
    rows = {"a": np.linspace(0, 20, 101), "b": np.linspace(0, 20, 101), "c": ["x"] * 101}
    for body, value in (("a >= 3.25", 3.25), ("a > 3.25", 3.3), ("a < -2", -2.1)):
        found = counterfactual(a_model((body, 2.0), start=-1.0), ROW, X=rows)
        assert found[0].changes[0].after == value
        assert found[0].size == pytest.approx(abs(value - 1.7) / 18)


def test_whole_numbers_stay_whole():
    """Rows, or a whole value and thresholds at halves, tell that a column counts something."""
    model = a_model(("a >= 2.5", 2.0), start=-1.0)
    assert counterfactual(model, ROW | {"a": 1.0})[0].changes[0].after == 3.0
    assert counterfactual(model, ROW)[0].changes[0].after == 2.5
    rows = {"a": [0.0, 5.0], "b": [1.0, 1.0], "c": ["x", "x"]}
    assert counterfactual(model, ROW | {"a": 1.0}, X=rows)[0].changes[0].after == 3.0


def test_limits_are_kept():
    """Columns that must not change do not, and others change in the allowed direction only."""
    model = a_model(("a >= 3 or a <= 1", 2.0), ("c = y", 2.0), start=-1.0)
    assert {one.columns for one in counterfactual(model, ROW)} == {("a",), ("c",)}
    for options in ({"immutable": ["a"]}, {"only": ["c", "b"]}):
        assert {one.columns for one in counterfactual(model, ROW, **options)} == {("c",)}
    for direction, value in (("increasing", 3.0), ("decreasing", 1.0)):
        found = counterfactual(model, ROW, monotone={"a": direction}, only=["a"])
        assert [one.changes[0].after for one in found] == [value]
    both = counterfactual(model, ROW, only=["a"])
    assert {one.changes[0].after for one in both} == {1.0, 3.0}


def test_missing_values_may_be_filled_but_not_made():
    """A value takes the place of a missing one; nothing becomes missing to get an answer."""
    model = a_model(("a >= 3", 2.0), ("b is missing", 2.0), start=-1.0)
    found = counterfactual(model, ROW | {"a": None})
    assert [one.columns for one in found] == [("a",)]
    assert found[0].changes[0].before is None
    assert found[0].size == 1.0
    none = counterfactual(model, ROW, immutable=["a"])
    assert len(none) == 0
    assert "the rules use none of the columns that may change" in str(none)


@pytest.mark.parametrize("body", ["a < 3", "a > 3", "a > 1 and a < 9", "a is known"])
def test_a_missing_value_may_be_filled_beyond_the_thresholds(body):
    """Values below the first threshold, above the last and without any are tried."""
    model = a_model((body, 2.0), start=-1.0)
    (found,) = counterfactual(model, ROW | {"a": None})
    filled = ROW | {"a": found.changes[0].after}
    assert model.predict({name: [value] for name, value in filled.items()}) == ["yes"]


def test_unseen_labels_are_changed_but_never_proposed():
    """A label never seen satisfies !=; only labels of the model are answers."""
    model = a_model(("c not in {x, y, z}", 2.0), start=-1.0)
    found = counterfactual(model, ROW)
    assert (len(found), found.fewest) == (0, False)
    assert "none of the columns" in found.reason
    assert counterfactual(model, ROW | {"c": "new"})[0].changes[0].before == "(unseen label)"


def test_no_answer_is_proven():
    """If all changes were tried there is none; if not, more predictions may find one."""
    model = a_model(("a >= 3", 0.4), ("b >= 3", 0.4), start=-1.0)
    assert "were checked)" in counterfactual(model, ROW).reason
    three = a_model(("a >= 3", 0.4), ("b >= 3", 0.4), ("c = y", 0.4), start=-1.0)
    assert len(counterfactual(three, ROW)[0].changes) == 3
    few = counterfactual(three, ROW, max_changes=2)
    assert few.reason.startswith(
        "no allowed change of at most 2 columns gives any other class (all "
    )


def test_lines_are_followed_to_the_border():
    """With a line the answer is where the sum passes 0, and fewest columns are still proven."""
    line = LinearTerm("a", 0.0, 10.0, 0.0, 1.0, (0.0, 1.0))
    found = counterfactual(a_model(("b >= 3", 0.5), linear=[line], start=-4.321), ROW)
    assert found[0].columns == ("a",)
    assert 4.321 < found[0].changes[0].after < 4.36
    assert found.fewest
    assert not found.smallest


def test_numbers_reach_a_range():
    """A range is reached from either side, also through a line."""
    schema = read_table({"a": [0.5], "b": [0.5]}).schema
    coverage = NumberCoverage(1.0, 0.0, 0.0)
    rules = (Rule(parse_formula("b >= 3"), Adds(0, 10.0), coverage),)
    line = LinearTerm("a", 0.0, 5.0, 0.0, 1.0, (2.0,))
    model = RegressionRules(schema, 0.0, rules, {}, linear=(line,))
    row = {"a": 1.0, "b": 1.0}
    found = counterfactual(model, row, target_range=(6.5, 7.0))
    assert 6.5 <= found[0].answer <= 7.0
    assert found[0].columns == ("a",)
    assert str(found).startswith("row: 2; to get 6.5 to 7:")
    assert counterfactual(model, row, target_range=(12, None))[0].columns == ("b",)


@pytest.mark.parametrize("max_nodes", [1, 200])
def test_a_beam_finds_what_needs_several_columns(max_nodes):
    """A rule of many columns is found by making it hold, without trying all changes."""
    columns = {f"x{j}": [0.5, 1.5] for j in range(30)}
    schema = read_table(columns).schema
    body = " and ".join(f"x{j} >= 3" for j in range(6))
    rules = [Rule(parse_formula(body), Claims(1, 0.9), Coverage.of((1.0, 9.0)))]
    rules += [
        Rule(parse_formula(f"x{j} >= 9 and x{j + 1} >= 9"), Claims(0, 0.9), Coverage.of((9.0, 1.0)))
        for j in range(28)
    ]
    model = DnfModel(schema, np.array(["no", "yes"]), tuple(rules), 0, (9.0, 1.0), (9.0, 1.0))
    found = counterfactual(model, dict.fromkeys(columns, 0.5), max_nodes=max_nodes)
    assert found[0].columns == tuple(f"x{j}" for j in range(6))
    assert not found.fewest
    assert "a solution with fewer columns may exist" in str(found)


def test_a_beam_adds_up_and_leaves_out_what_is_not_needed():
    """Sums that need eight of twenty columns are found, and no change could be left out."""
    names = [f"x{j}" for j in range(20)]
    columns = {name: [0.5, 1.5] for name in names}
    rules = [(f"{name} >= {j}.25", 0.25) for j, name in enumerate(names, 1)]
    model = a_model(*rules, columns=columns, start=-1.9)
    row = dict.fromkeys(columns, 0.5)
    found = counterfactual(model, row, max_nodes=5000)
    assert len(found[0].changes) == 8
    for change in found[0].changes:
        kept = row | {c.column: c.after for c in found[0].changes if c is not change}
        assert model.predict({name: [value] for name, value in kept.items()}) == ["no"]


@pytest.mark.parametrize("name", MODELS)
def test_every_learner_has_counterfactuals(name, tmp_path):
    """Fitted and loaded models give the same answers, which their predictions bear out."""
    model, rows = model_and_rows(name)
    model.save(tmp_path / "model.json")
    row, options = rows.take(np.array([3])), {}
    if isinstance(model, RegressionRules):
        options["target_range"] = (float(model.predict(row)[0]) + 1.0, None)
    found = counterfactual(model, row, X=rows, **options)
    again = counterfactual(load_model(tmp_path / "model.json"), row, X=rows, **options)
    assert str(found) == str(again)
    assert len(found) or "were checked)" in found.reason
    frame = found.to_frame("pandas")
    assert len(frame) == sum(len(one.changes) for one in found)
    html = found._repr_html_()
    assert html.count("<tr>") == (len(found) + 1 if len(found) else 0)


def test_any_way_to_give_a_row():
    """A dict, a series, a frame and a Table of one row are the same row."""
    model = a_model(("a >= 3", 2.0), start=-1.0)
    frame = pd.DataFrame([ROW])
    given = [ROW, frame, frame.iloc[0], read_table(frame), {k: [v] for k, v in ROW.items()}]
    assert len({str(counterfactual(model, row)) for row in given}) == 1
    bare = read_table(np.array([[0.5, 1.5]]))
    empty = Coverage.of((0.0, 0.0))
    rules = (Rule(parse_formula("x1 >= 3"), Adds(1, 2.0), empty),)
    model = AdditiveRules(bare.schema, np.array(["no", "yes"]), (0.0, -1.0), rules, {})
    for row in ([0.5, 1.5], np.array([0.5, 1.5]), np.array([[0.5, 1.5]])):
        assert counterfactual(model, row)[0].columns == ("x1",)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"immutable": ["d"]}, "immutable: the model has no column 'd'"),
        ({"immutable": "a"}, r"immutable='a' must be a list of columns"),
        ({"only": ["d"]}, "only: the model has no column 'd'"),
        ({"monotone": {"a": "up"}}, "monotone: 'a' must be 'increasing' or 'decreasing'"),
        ({"monotone": {"c": "increasing"}}, "monotone: the labels of column 'c' are not ordered"),
        ({"target_class": "maybe"}, "target_class='maybe' is not one of the classes: no, yes"),
        ({"target_class": "no"}, "the prediction for this row already is no"),
        ({"target_range": (1, 2)}, "target_range is for regression models"),
        ({"n": 0}, "n=0 must be an integer >= 1"),
        ({"max_nodes": 1.5}, "max_nodes=1.5 must be"),
    ],
)
def test_wrong_options_are_named(options, error):
    """Every message names the option and what it may be."""
    with pytest.raises((ValueError, DataError), match=error):
        counterfactual(a_model(("a >= 3", 2.0), start=-1.0), ROW, **options)


def test_other_input_is_refused():
    """Only one row of a model with rules has counterfactuals; numbers need a range."""
    model = a_model(("a >= 3", 2.0), start=-1.0)
    with pytest.raises(DataError, match="row must be one row, not 2"):
        counterfactual(model, {"a": [1, 2], "b": [1, 2], "c": ["x", "x"]})
    with pytest.raises(ValueError, match="needs a model with rules"):
        counterfactual("model", ROW)
    numbers = RegressionRules(model.schema, 0.0, (), {})
    with pytest.raises(ValueError, match="a regression model needs a goal: target_range"):
        counterfactual(numbers, ROW)
    with pytest.raises(ValueError, match="target_class is for classification models"):
        counterfactual(numbers, ROW, 3)
    with pytest.raises(ValueError, match=r"target_range=\(2, 1\)"):
        counterfactual(numbers, ROW, target_range=(2, 1))


def test_large_models_keep_to_their_budget():
    """A model of 1,000 rules and 200 columns is searched within the predictions allowed."""
    model, X, _ = large_model()
    table = read_like(X, model.schema)
    found = counterfactual(model, table.take(np.array([0])), X=table, max_nodes=20_000)
    assert len(found)
    assert found.n_tried < 25_000


BODIES = [
    "a > 2",
    "a < 1",
    "b >= 3 and a <= 4",
    "1 < b < 3",
    "c = y",
    "c != x and a > 3",
    "b <= 1 or c = z",
    "not a <= 2",
]


@pytest.mark.parametrize("seed", range(60))
def test_sums_that_flip_often(seed):
    """Sums of rules with open and closed bounds flip as brute force says, in one column or two."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(BODIES)[:5].tolist()
    model = a_model(*((body, float(rng.choice([-1.0, 0.6, 1.1]))) for body in chosen), start=-0.5)
    row = {"a": float(rng.choice([0.3, 1.7, 3.3])), "b": 2.2, "c": str(rng.choice(["x", "y"]))}
    before = model.predict({name: [value] for name, value in row.items()})[0]
    flips = [brute_force(model, row, lambda out: out != before, k) for k in (1, 2)]
    least = next((k for k, found in enumerate(flips, 1) if found), 3)
    found = counterfactual(model, row)
    assert min(len(found[0].changes) if len(found) else 3, 3) == least
    if least < 3:
        check_smallest(
            model, {name: [value] for name, value in row.items()}, flips[least - 1], found[0]
        )
