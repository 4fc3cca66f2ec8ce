import copy
import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS, mixed_table
from rulewright.data import ColumnSchema, DataError, Schema, read_table
from rulewright.encoding.binned import bin_table
from rulewright.kernels import ROW
from rulewright.rules import Labels, Presence
from rulewright.search import Constraints, RuleGrower, SearchLimits
from rulewright.weighting import LogLikelihood

NUMERIC, NAMES = ("a", "b", "c"), ("a", "b", "c", "color")
COLOR = ColumnSchema("color", "nominal", ("blue", "green", "red"))
SCHEMA = Schema((*(ColumnSchema(name, "numeric") for name in NUMERIC), COLOR), named=True)
FITTING = {name: ["<=", ">=", "is missing"] for name in NUMERIC} | {"color": ["=", "!="]}
SOME_NAMES = st.lists(st.sampled_from(NAMES), max_size=2)
GROUP = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)


def some(values):
    """Draw a dict from a few of the numeric columns to values."""
    return st.dictionaries(st.sampled_from(NUMERIC), values, max_size=2)


@st.composite
def constraints(draw):
    """Draw constraints that the columns of `mixed_table` can meet."""
    drawn = {
        "monotone": draw(some(st.sampled_from(["increasing", "decreasing"]))),
        "forbidden": draw(SOME_NAMES),
        "required": draw(SOME_NAMES),
        "groups": draw(st.lists(GROUP, max_size=3)),
        "digits": draw(st.none() | st.integers(1, 3) | some(st.integers(1, 3))),
    }
    allowed = draw(st.dictionaries(st.sampled_from(NAMES), st.integers(1, 3), max_size=2))
    drawn["operators"] = {name: FITTING[name][:n] for name, n in allowed.items()}
    made = Constraints(**drawn)
    try:
        made.check(SCHEMA)
    except DataError:
        made = Constraints(**{**drawn, "required": ()})
    return made


def boosted(columns, labels, made, n_rules=6):
    """Yield the conditions of a few boosted rules, and whether they vote for the higher class."""
    table = read_table(columns)
    state = LogLikelihood(labels.astype(np.int32), np.ones(len(labels)), np.zeros(2))
    binned = bin_table(table, digits=made.digits_by_column(table.schema))
    limits = SearchLimits(max_conditions=4, constraints=made).compile(table.schema, state.unit)
    grower = RuleGrower(binned, "midpoint")
    score, rows = state.score("newton", 1.0), np.arange(len(labels), dtype=ROW)
    for _ in range(n_rules):
        found = grower.grow(binned.codes, rows, state.stats, score, limits)
        if found is None:
            return
        head = state.head_of(score, found.vote)
        state.add(found.cover(binned.codes), head, 0.5)
        yield found.conditions, head.first == 1


def parts(condition):
    """Give the operator of a grown condition and its threshold, if it has one."""
    if isinstance(condition, Presence):
        return "is missing" if condition.missing else "is known", None
    if isinstance(condition, Labels):
        return "!=" if condition.negated else "=", None
    at_most = condition.low == -np.inf
    return ("<=", condition.high) if at_most else (">=", condition.low)


def written_digits(value):
    """Count the significant digits of the shortest text of a number."""
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


def broken(made, conditions, up):
    """List the constraints that a rule breaks."""
    columns = {condition.column for condition in conditions}
    digits = made.digits_by_column(SCHEMA)
    grouped = {name for group in made.groups for name in group}
    groups = [*map(set, made.groups), set(NAMES) - grouped]
    if columns & {*made.forbidden}:
        yield "forbidden"
    if not columns >= {*made.required}:
        yield "required"
    if not any(columns <= group for group in groups):
        yield "groups"
    for condition in conditions:
        name, (operator, threshold) = condition.column, parts(condition)
        if operator not in made.operators.get(name, ["<=", ">=", "=", "!="]):
            yield "operators"
        if name in made.monotone and threshold is not None:
            rises = (made.monotone[name] == "increasing") == up
            if operator != (">=" if rises else "<="):
                yield "monotone"
        if name in digits and threshold is not None and written_digits(threshold) > digits[name]:
            yield "digits"


@pytest.mark.native
@examples(150)
@given(constraints(), SEEDS)
def test_grown_rules_obey(made, seed):
    """No rule breaks a constraint, whatever the combination."""
    columns, labels = mixed_table(np.random.default_rng(seed), 80)
    for conditions, up in boosted(columns, labels, made):
        assert list(broken(made, conditions, up)) == []


BITING = {
    "monotone": {"a": "decreasing"},
    "forbidden": ["a"],
    "required": ["color"],
    "operators": {"a": ["<="]},
    "groups": [["a", "b"], ["c"]],
    "digits": 1,
}


@pytest.mark.native
@pytest.mark.parametrize("option", BITING)
def test_each_constraint_changes_what_is_found(option):
    """Rules that know nothing of a constraint break it; those that do are still found."""
    columns, labels = mixed_table(np.random.default_rng(0), 300)
    made = Constraints(**{option: BITING[option]})
    free = [list(broken(made, *rule)) for rule in boosted(columns, labels, Constraints())]
    bound = [list(broken(made, *rule)) for rule in boosted(columns, labels, made)]
    assert any(option in found for found in free)
    assert bound
    assert not any(bound)


@given(constraints())
def test_plain_data_and_copies_are_the_same_constraints(made):
    """`of` reads what `to_json` writes; copies and pickles are equal."""
    assert Constraints.of(made.to_json()) == made
    assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made


def test_of_takes_what_estimators_are_given():
    """None is no constraint, constraints are themselves, order and repetition say nothing."""
    made = Constraints(forbidden=["b", "a"], groups=[["b", "a"], ["a", "b", "b"]])
    assert Constraints.of(None) == Constraints()
    assert Constraints.of(made) is made
    assert made == Constraints.of({"forbidden": {"a", "b"}, "groups": ([*"ab"],)})
    assert Constraints().to_json() == {}


def test_digits_of_all_columns_are_those_of_the_numeric_ones():
    """One number is meant for every numeric column, a mapping for those it names."""
    assert Constraints(digits=2).digits_by_column(SCHEMA) == {"a": 2, "b": 2, "c": 2}
    assert Constraints(digits={"b": np.int64(3)}).digits_by_column(SCHEMA) == {"b": 3}
    assert Constraints().digits_by_column(SCHEMA) == {}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"forbiden": ["a"]}, "constraints: there is no 'forbiden'. Did you mean forbidden?"),
        ({5: ["a"]}, "There are: monotone, forbidden, required, operators, groups, digits."),
        (["a"], r"constraints: must be Constraints or a dict with monotone, .*, not \['a'\]"),
        ({"forbidden": "age"}, "forbidden: must be a list, not 'age'"),
        ({"required": 5}, "required: must be a list, not 5"),
        ({"required": [0]}, "a column is named by a string, not by 0. .* are x0, x1"),
        ({"groups": ["ab"]}, "groups: must be a list, not 'ab'"),
        ({"groups": [[]]}, "groups: a group is empty"),
        ({"monotone": ["a"]}, "monotone: must be a dict with column names as keys"),
        ({"monotone": {"a": "up"}}, "monotone: column 'a' must be increasing or decreasing"),
        ({"monotone": {"a": ["up"]}}, "monotone: column 'a' must be increasing or decreasing"),
        (
            {"operators": {"a": ["<"]}},
            "operators: '<' for column 'a' is not one of <=, >=, =, !=, is",
        ),
        ({"operators": {"a": [[]]}}, "is not one of"),
        ({"operators": {"a": "<="}}, "operators: must be a list, not '<='"),
        ({"operators": {"a": []}}, "operators: column 'a' has none. .* forbidden"),
        ({"digits": 0}, "digits: all columns must have an integer from 1 to 15, not 0"),
        ({"digits": {"a": True}}, "digits: column 'a' must have an integer"),
        ({"digits": 2.0}, "must have an integer from 1 to 15, not 2.0"),
        ({"digits": {"a": 16}}, "must have an integer from 1 to 15, not 16"),
    ],
)
def test_wrong_constraints_are_told(value, message):
    """Errors name the field, the column and what would be right."""
    with pytest.raises(DataError, match=message):
        Constraints.of(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"monotone": {"A1": "increasing"}}, "monotone: there is no column 'A1'. Did you mean a?"),
        ({"required": ["colour"]}, "required: there is no column 'colour'. Did you mean color?"),
        ({"groups": [["a", "z"]]}, "groups: there is no column 'z'. There are: a, b, c, color."),
        ({"digits": {"z": 2}}, "digits: there is no column 'z'"),
        ({"operators": {"z": ["="]}}, "operators: there is no column 'z'"),
        ({"monotone": {"color": "increasing"}}, "monotone: column 'color' is nominal"),
        ({"digits": {"color": 2}}, "digits: column 'color' is nominal"),
        ({"operators": {"a": ["="]}}, "operators: '=' does not fit the numeric column 'a'. Use <="),
        ({"operators": {"color": ["<="]}}, "'<=' does not fit the nominal column 'color'. Use ="),
        ({"forbidden": ["a"], "required": ["a"]}, "required: column 'a' is also forbidden"),
        ({"groups": [["a"]], "required": ["a", "b"]}, "required: no group contains a, b"),
    ],
)
def test_what_the_columns_cannot_meet_is_told(value, message):
    """Errors name the field and the column, and offer similar names."""
    with pytest.raises(DataError, match=message):
        Constraints.of(value).check(SCHEMA)


def test_there_are_at_most_64_groups():
    """The columns in no group count as one more."""
    columns = tuple(ColumnSchema(f"x{j}", "numeric") for j in range(65))
    groups = [[column.name] for column in columns[:64]]
    bits = Constraints(groups=groups).group_bits(Schema(columns[:64], named=False))
    assert np.array(bits, dtype=np.uint64).tolist() == bits
    assert sorted(bits) == [1 << j for j in range(64)]
    with pytest.raises(DataError, match="groups: there are more than 64"):
        Constraints(groups=groups).check(Schema(columns, named=False))
