"""Repositories: order, Kleene values, what is dropped and counted, and what generators refuse."""

from itertools import combinations

import numpy as np
import pytest

from rulewright import read_table
from rulewright.rules import parse_formula
from rulewright.search import (
    Base,
    Bias,
    BiasError,
    Combine,
    Formulas,
    FromFunction,
    Missing,
    Modify,
    Repository,
    default_bias,
)


@pytest.fixture
def table():
    """Make a numeric, a nominal and a two-valued column with gaps, and two useless ones."""
    rng = np.random.default_rng(0)
    n = 60
    x = rng.normal(size=n).round(2)
    color = rng.choice(["red", "green", "blue"], n).astype(object)
    flag = rng.choice(["yes", "no"], n)
    x[:7], color[5:12] = np.nan, None
    same, gap = ["s"] * n, np.full(n, np.nan)
    y = rng.integers(0, 2, n)
    return read_table({"x": x, "color": color, "flag": flag, "same": same, "gap": gap}, target=y)


def texts(repository):
    return [str(repository.body(line)) for _, line in repository]


def assert_values(repository, table):
    """Check the values of every rule by its formula."""
    lines = [line for _, line in repository]
    values = repository.covers.values()
    for line in lines:
        body = repository.body(line)
        expected = body.holds(table).astype(int) - body.fails(table).astype(int)
        np.testing.assert_array_equal(values[line], expected, err_msg=str(body))


def test_base_rules_come_first_in_the_order_of_columns(table):
    """Rule 0, intervals and labels, then pairs; a useless column makes no rule."""
    repository = Repository(default_bias(), table)
    found = texts(repository)
    assert found[0] == "true"
    assert [text.split()[0] for text in found[5:8]] == ["color", "color", "color"]
    assert found[8] == "flag = no"  # "yes" is its negative
    assert found[9].startswith("x <= ")  # the two lowest intervals together
    assert not any("same" in text or "gap" in text for text in found)


def test_pairs_are_counted_as_the_thesis_does(table):
    """From b base rules come b + b (b - 1) / 2 rules, dropped ones and rule 0 beside."""
    repository = Repository(default_bias(), table)
    kept = [*repository]
    b = 4 + 3 + 2
    assert repository.n_generated == 1 + b + b * (b - 1) // 2
    assert len(kept) + repository.n_repeated + repository.n_empty == repository.n_generated
    assert [number for number, _ in kept] == sorted({number for number, _ in kept})
    assert kept[-1].number <= repository.n_generated


@pytest.mark.parametrize("how", ["or", "and", "andnot", "signed"])
def test_values_are_those_of_the_formulas(table, how):
    """Covers joined by bits equal formulas evaluated row by row, missing values included."""
    bias = Bias([Base(), Missing(), Combine(how=how)])
    assert_values(Repository(bias, table), table)


@pytest.mark.parametrize("how", ["or", "and"])
def test_three_rules_inside_groups(table, how):
    """Every three rules of a group are joined, in lexicographic order, and none across groups."""
    bias = Bias([Base(id="b"), Combine(["b"], how, 3, within=[["color", "flag"], ["x"]])])
    repository = Repository(bias, table)
    assert_values(repository, table)
    assert repository.n_generated == 1 + 9 + len([*combinations(range(5), 3)]) + 4
    for line in range(9, len(repository)):
        columns = set(repository.body(line).columns)
        assert columns <= {"color", "flag"} or columns == {"x"}


def test_no_two_rules_are_equal_or_opposite(table):
    """Repeated and opposite rules are dropped, the first of them stays."""
    repository = Repository(default_bias(pairs="signed"), table)
    lines = [line for _, line in repository]
    values = repository.covers.values().astype(int)
    seen = set()
    for line in lines:
        key = values[line].tobytes()
        assert key not in seen
        assert (-values[line]).tobytes() not in seen
        assert values[line].any()
        seen.add(key)


def test_empty_rules_are_dropped_but_counted(table):
    """A rule that is unknown on every row says nothing."""
    bias = Bias([Formulas(["gap > 1", "x > 0", "not x > 0", "x > 0"])])
    repository = Repository(bias, table)
    assert texts(repository) == ["true", "x > 0"]
    assert (repository.n_generated, repository.n_empty, repository.n_repeated) == (5, 1, 2)


def test_rules_are_made_when_asked_for(table):
    """A reader that stops early leaves later rules unmade; two readers share what is made."""
    asked = []

    def endless(rows):
        assert rows.target is None
        for k in range(10**9):
            asked.append(k)
            yield f"x > {k / 1000}"

    repository = Repository(Bias([FromFunction(endless)]), table)
    one, two = iter(repository), iter(repository)
    first = [next(one) for _ in range(4)]
    assert first == [next(two) for _ in range(4)]
    assert len(asked) < 100
    assert texts_of(repository, first)[:2] == ["true", "x > 0"]


def texts_of(repository, rules):
    return [str(repository.body(line)) for _, line in rules]


def brute_information(one, two, weights):
    """Mutual information of two vectors by its definition."""
    known = (one != 0) & (two != 0)
    total, found = weights[known].sum(), 0.0
    for a in (-1, 1):
        for b in (-1, 1):
            joint = weights[known & (one == a) & (two == b)].sum() / total
            left = weights[known & (one == a)].sum() / total
            right = weights[known & (two == b)].sum() / total
            found += joint * np.log(joint / (left * right)) if joint else 0.0
    return found


def test_pairs_of_least_mutual_information(table):
    """The pairs whose parts tell least about each other, least first."""
    weights = np.random.default_rng(3).integers(1, 4, 60).astype(float)
    base = Repository(Bias([Base()]), table, weights=weights)
    bodies = [base.body(line) for _, line in base][1:]
    bodies.append(parse_formula("flag = yes"))  # dropped as the negative of "no", but joined
    signs = [body.holds(table).astype(int) - body.fails(table) for body in bodies]
    pairs = combinations(range(len(bodies)), 2)
    best = sorted(
        (round(brute_information(signs[i], signs[j], weights), 12), i, j) for i, j in pairs
    )
    choose = Combine(choose="lowest_mutual_information", limit=5, id="c")
    repository = Repository(Bias([Base(), choose]), table, weights=weights)
    list(repository)
    made = repository.covers.values()[len(bodies) :]
    for line, (_, i, j) in enumerate(best[:5]):
        np.testing.assert_array_equal(made[line], np.maximum(signs[i], signs[j]))


def test_a_limit_ends_a_generator(table):
    """No more rules than asked for, and later generators join only those."""
    bias = Bias([Base(limit=3, id="few"), Combine(limit=2)])
    assert Repository(bias, table).bias.generators[1].over == ("few",)
    repository = Repository(bias, table)
    list(repository)
    assert repository.n_generated == 1 + 3 + 2


def test_cuts_come_from_other_rows(table):
    """Intervals and gaps are those of the rows that rules are made from."""
    other = read_table(
        {"x": np.arange(4.0) + 100, "color": ["red", "blue"] * 2, "flag": ["yes", "no"] * 2,
         "same": ["s"] * 4, "gap": [1.0, np.nan, 1.0, 2.0]},
        target=[0, 1, 0, 1],
    )  # fmt: skip
    repository = Repository(Bias([Base(["x"]), Missing()]), table, other)
    assert texts(repository) == ["true", "x <= 100"]  # every gap is missing here: as rule 0
    assert repository.n_generated == 1 + 4 + 1


def test_generators_that_make_nothing_are_named(table):
    """A generator without rules is reported."""
    repository = Repository(Bias([Missing(["flag"], id="gaps"), Base(["flag"])]), table)
    list(repository)
    assert repository.idle == ("Missing 'gaps'",)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Base(n_bins=1), "n_bins=1 must be a whole number of at least 2"),
        (lambda: Base(limit=0), "limit=0 must be a whole number of at least 1"),
        (lambda: Base(kind="text"), "kind='text' must be any, nominal or numeric"),
        (lambda: Combine(how="xor"), "how='xor' must be one of or, and"),
        (lambda: Combine(size=3, how="signed"), "size=3 needs how 'or' or 'and'"),
        (lambda: Combine(choose="lowest_mutual_information"), "needs a limit"),
        (lambda: Combine(choose="best"), "choose='best' must be all or"),
        (lambda: Formulas("x > 1"), "must be a list of formulas"),
        (lambda: Formulas(["x >"]), "cannot parse the rule 'x >'"),
        (lambda: FromFunction(3), "must be callable"),
        (lambda: Bias([Base(id="a"), Base(id="a")]), "the id 'a' is used twice"),
        (lambda: Bias([Combine(["late"]), Base(id="late")]), "over names 'late'"),
        (lambda: Bias(["base"]), "is not a generator"),
    ],
)
def test_wrong_generators_are_refused(make, message):
    """The error names the generator, the option and the remedy."""
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        (Base(["colour"]), "there is no column 'colour'. Did you mean color"),
        (Base(["color"], kind="numeric"), "column 'color' is nominal, not numeric; use values"),
        (Base(["x"], kind="nominal"), "column 'x' is numeric, not nominal; use bins"),
        (Formulas(["color > 1"]), "needs a numeric column"),
        (Formulas(["color = pink"]), "no label 'pink'"),
        (Formulas(["size > 1"]), "there is no column 'size'"),
        (Combine([], within=[["hue"]]), "there is no column 'hue'"),
    ],
)
def test_generators_that_do_not_fit_the_columns_are_refused(table, generator, message):
    """The error names the generator, the column and the remedy."""
    with pytest.raises(BiasError, match=message):
        list(Repository(Bias([generator]), table))


def test_some_bins_spans_and_modified_rules(table):
    """Single intervals, the rules of a span, and rules joined with a formula or negated."""
    base = Base(["x"], 4, "numeric", id="x")
    whole = texts(Repository(Bias([base]), table))[1:]
    some = Repository(Bias([Base(["x"], 4, "numeric", only=[2, 4])]), table)
    assert texts(some)[1:] == [whole[1], whole[3]]
    pairs = Repository(Bias([base, Combine(["x"], span=(2, 3))]), table)
    assert pairs.bias.joined == {"x"}
    assert len(texts(pairs)) == 1 + 4 + 1
    changed = Bias([base, Modify(["x"], "and", "flag = yes"), Modify(["x"], "not", id="n")])
    repository = Repository(changed, table)
    assert texts(repository)[5:9] == [f"{text} and flag = yes" for text in whole]
    assert repository.n_repeated == 4  # a rule and its negation are one
    assert_values(repository, table)
    with pytest.raises(BiasError, match="requests the rules 3 to 9, but only 4 were"):
        texts(Repository(Bias([base, Combine(["x"], span=(3, 9))]), table))
    for make, message in (
        (lambda: Base(only=[5]), "bin 5 of 4: bins go from 1 to 4"),
        (lambda: Modify(["x"], "xor", "x > 1"), "how='xor' must be one of"),
        (lambda: Modify(["x"]), "how 'and' takes a rule"),
        (lambda: Bias([Modify(["x"], "not")]), "over names 'x', which is not an earlier generator"),
    ):
        with pytest.raises(BiasError, match=message):
            make()
