"""Rules generated from trees: distinct, of every node, the same for any order of thresholds."""

import math

import numpy as np
import pytest
from hypothesis import given
from sklearn.ensemble import RandomForestRegressor

from budget import examples
from builders import SEEDS, mixed_table
from rulewright.data import read_table
from rulewright.encoding.binned import bin_table
from rulewright.kernels import ROW
from rulewright.rules import parse_conjunction
from rulewright.search import (
    Constraints,
    Generation,
    SearchLimits,
    clean_rules,
    generate_rules,
    rules_from,
)
from rulewright.search.tree_rules import DistinctRules
from rulewright.search.trees import TreeGrower
from rulewright.weighting import RampLoss, SoftmaxLoss, SquaredLoss

pytestmark = pytest.mark.native


def generated(X, y, seed=0, weights=None, loss=SquaredLoss, n_threads=1, **options):
    """Generate rules from numbers or labels."""
    table = read_table(X)
    weights = np.ones(len(y)) if weights is None else weights
    return table, generate_rules(
        bin_table(table),
        weights,
        loss(y, weights),
        Generation(**{"max_rules": 60, **options}),
        np.random.RandomState(seed),
        n_threads,
    )


def random_problem(seed, n_rows=200, missing=0.1):
    """Make a mixed table and a noisy target."""
    rng = np.random.default_rng(seed)
    X, labels = mixed_table(rng, n_rows, missing=missing)
    return X, labels + rng.normal(size=n_rows)


@examples(40)
@given(SEEDS)
def test_rules_are_distinct_and_partial(seed):
    """No support of 0 or 1, no equal covers, no complements; covers are those of the text (T7)."""
    X, y = random_problem(seed)
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], len(y))
    table, found = generated(X, y, seed, weights)
    covers = found.covers.unpack()
    assert 0 < len(found) <= 60
    for rule, cover in zip(found.rules, covers, strict=True):
        np.testing.assert_array_equal(rule.holds(table), cover)
    np.testing.assert_allclose(found.supports, covers @ weights / weights.sum())
    assert ((found.supports > 0) & (found.supports < 1)).all()
    both = np.vstack([covers, ~covers])
    assert len(np.unique(both, axis=0)) == len(both)
    assert len({rule.key for rule in found.rules}) == len(found)


@examples(30)
@given(SEEDS)
def test_every_node_leads_to_its_rule(seed):
    """The map covers all 2 (t - 1) nodes of each tree, and kept rules are the shortest (T7)."""
    X, y = random_problem(seed, n_rows=40)
    table = read_table(X)
    binned, weights = bin_table(table), np.ones(len(y))
    grower, rules = TreeGrower(binned, weights, SearchLimits()), DistinctRules(weights)
    rng = np.random.default_rng(seed)
    nodes = []
    for _ in range(12):
        rows = np.flatnonzero(rng.random(40) < 0.5).astype(ROW)
        tree = grower.grow(rows, y[rows, np.newaxis], int(rng.integers(2, 6)))
        rules.add_nodes(tree, tree.reach(binned.codes))
        nodes += [tree.conjunction(node) for node in range(1, tree.n_nodes)]
        assert tree.n_nodes - 1 == 2 * len(tree.grown.splits)
    found = rules.clean(25)
    assert len(found.places) == len(nodes)
    for node, place, complement in zip(nodes, found.places, found.complements, strict=True):
        cover = node.holds(table)
        if place < 0:
            assert cover.all() or not cover.any() or len(found) == 25
            continue
        np.testing.assert_array_equal(cover, found.covers.unpack()[place] != complement)
        assert len(found.rules[place]) <= len(node)
    assert set(range(len(found))) <= set(found.places.tolist())


def test_the_children_of_a_root_are_one_rule():
    """They are complements, unless a value is missing."""
    y = np.array([0.0, 0.0, 1.0, 1.0])
    _, found = generated({"x": [1.0, 2.0, 3.0, 4.0]}, y, mean_leaves=2.0)
    assert [str(rule) for rule in found.rules] == ["x <= 2"]
    assert found.places[:2].tolist() == [0, 0]
    assert found.complements[:2].tolist() == [False, True]
    _, found = generated({"x": [1.0, 2.0, 3.0, 4.0, None]}, np.append(y, 0.5), mean_leaves=2.0)
    assert [str(rule) for rule in found.rules][:2] == ["x <= 2", "x > 2"]


def test_the_shorter_of_equal_covers_is_kept():
    """`a <= 1 and b <= 2` is replaced by a later `c <= 3` that covers the same rows."""
    a, b, c = [0, 0, 5, 5, 0, 0], [0, 0, 0, 5, 5, 5], [0, 0, 9, 9, 9, 9]
    table = read_table({"a": a, "b": b, "c": c})
    binned, everyone = bin_table(table), np.arange(6, dtype=ROW)
    rules = DistinctRules(np.ones(6))
    for columns, residuals in (("ab", [5, 5, 4, 0, 0.5, 0.5]), ("c", [1, 1, 0, 0, 0, 0])):
        limits = SearchLimits(constraints=forbid(set("abc") - set(columns)))
        tree = TreeGrower(binned, np.ones(6), limits).grow(
            everyone, np.array(residuals)[:, np.newaxis], 3
        )
        rules.add_nodes(tree, tree.reach(binned.codes))
        last = [str(rule) for rule in rules.clean(10).rules]
        if columns == "ab":
            place = last.index("b <= 2 and a <= 2")
    assert last[place] == "c <= 4"


def forbid(columns):
    return Constraints(forbidden=sorted(columns))


TRANSFORMS = {"log": np.log, "cube": lambda x: x**3, "root": np.sqrt, "affine": lambda x: 7 * x - 3}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_rules_do_not_depend_on_increasing_transforms(transform):
    """Covers stay the same when columns are transformed (T8)."""
    rng = np.random.default_rng(3)
    X = np.exp(rng.normal(size=(300, 4)))
    y = np.where(X[:, 0] > 1, X[:, 1], -X[:, 2]) + rng.normal(size=300)
    _, plain = generated(X, y)
    _, changed = generated(transform(X), y)
    np.testing.assert_array_equal(plain.covers.words, changed.covers.words)
    assert [rule.columns for rule in plain.rules] == [rule.columns for rule in changed.rules]


@pytest.mark.parametrize("mean_leaves", [3.0, 4.0, 8.0])
def test_tree_sizes_have_the_mean_of_the_formula(mean_leaves):
    """2 + floor(u) has the mean 2 + 1 / (exp(1 / (Lbar - 2)) - 1), not Lbar."""
    random, generation = np.random.RandomState(0), Generation(mean_leaves=mean_leaves)
    sizes = [generation.draw_size(random) for _ in range(20_000)]
    expected = 2 + 1 / (math.exp(1 / (mean_leaves - 2)) - 1)
    assert np.mean(sizes) == pytest.approx(expected, abs=0.02 * mean_leaves)
    assert min(sizes) == 2
    assert {Generation(mean_leaves=2.0).draw_size(random) for _ in range(9)} == {2}


def test_the_default_subsample_is_that_of_the_paper():
    """min(N / 2, 100 + 6 sqrt(N)) rows."""
    assert int(Generation().share(100) * 100) == 50
    assert Generation().share(10_000) * 10_000 == pytest.approx(700)
    assert Generation(subsample=0.3).share(10_000) == 0.3


def test_seeds_and_threads():
    """The same seed gives the same rules on any number of threads, another seed others."""
    X, y = random_problem(5, n_rows=6000)
    texts = [
        [str(rule) for rule in generated(X, y, seed, n_threads=n_threads, max_rules=20)[1].rules]
        for seed, n_threads in ((0, 1), (0, 2), (1, 1))
    ]
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]
    assert len(texts[0]) == 20


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ({"x": [1.0, 2.0, 3.0]}, [4.0, 4.0, 4.0]),
        ({"x": [1.0, 1.0, 1.0]}, [1.0, 2.0, 3.0]),
        ({"x": [None, None, None], "z": ["a", "a", "a"]}, [1.0, 2.0, 3.0]),
        ({"x": [1.0]}, [1.0]),
    ],
    ids=["constant target", "constant column", "missing column", "one row"],
)
def test_nothing_to_split_gives_no_rules(X, y):
    """Generation ends with no rules."""
    _, found = generated(X, np.array(y))
    assert len(found) == 0
    assert found.covers.words.shape[0] == 0
    assert len(found.supports) == 0


def test_few_possible_rules_end_the_generation():
    """A binary column gives one rule, however many are asked for."""
    X, y = {"x": [0.0, 1.0] * 30}, np.array([0.0, 1.0] * 30)
    _, found = generated(X, y)
    assert [str(rule) for rule in found.rules] == ["x <= 0"]


def test_memory_explains_what_is_left():
    """With full memory later trees find the weaker column, without memory none does."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2)).astype(float)
    y = 10 * X[:, 0] + X[:, 1]
    options = {"mean_leaves": 2.0, "subsample": 1.0}
    _, bagged = generated(X, y, learning_rate=0.0, **options)
    _, boosted = generated(X, y, learning_rate=1.0, **options)
    assert [str(rule) for rule in bagged.rules] == ["x0 <= 0"]
    assert [str(rule) for rule in boosted.rules] == ["x0 <= 0", "x1 <= 0"]


def test_many_classes_share_trees():
    """Trees on softmax residuals find the columns of all classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    labels = ((X[:, 0] > 0) + 2 * (X[:, 1] > 0)).astype(np.int32)
    _, found = generated(X, labels, loss=lambda y, w: SoftmaxLoss(y, w, 4), max_rules=20)
    assert {column for rule in found.rules[:5] for column in rule.columns} >= {"x0", "x1"}


def test_interactions_are_suppressed():
    """A large factor leaves rules with fewer columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 5)), rng.normal(size=500)
    lengths = [
        np.mean([len(rule) for rule in generated(X, y, inter_supp=factor)[1].rules])
        for factor in (1.0, 3.0)
    ]
    assert lengths[1] < lengths[0] - 0.2


def test_a_planted_rule_is_found():
    """Two conditions and a label that make the class are among the rules."""
    rng = np.random.default_rng(1)
    n = 1000
    X = {"a": rng.random(n), "b": rng.random(n), "c": rng.choice(list("pqrs"), n)}
    inside = (X["a"] > 0.5) & np.isin(X["c"], ["p", "r"])
    y = np.where(inside, 1.0, -1.0)
    _, found = generated(X, y, loss=RampLoss, max_rules=100)
    agree = (found.covers.unpack() == inside).mean(axis=1)
    assert max(agree.max(), 1 - agree.min()) > 0.98


def test_rules_of_another_model_are_cleaned():
    """Covers and supports are counted; equal covers, complements and useless rules are dropped."""
    X, y = random_problem(7, missing=0.0)
    X = np.column_stack([X["a"], X["b"], X["c"]])
    table, weights = read_table(X), np.random.default_rng(0).choice([1.0, 2.5], len(y))
    model = RandomForestRegressor(n_estimators=5, max_depth=3, random_state=0).fit(X, y)
    given = (*rules_from(model, table.schema), parse_conjunction("x0 <= 1e9"))
    found = clean_rules(given, table, weights)
    assert found.places[-1] == -1
    covers = found.covers.unpack()
    np.testing.assert_allclose(found.supports, covers @ weights / weights.sum())
    for rule, cover in zip(found.rules, covers, strict=True):
        np.testing.assert_array_equal(rule.holds(table), cover)
    for rule, place, flipped in zip(given, found.places, found.complements, strict=True):
        assert place < 0 or (rule.holds(table) == (covers[place] != flipped)).all()
    both = np.vstack([covers, ~covers])
    assert len(np.unique(both, axis=0)) == len(both)


FAULTS = {
    "max_rules": 0,
    "mean_leaves": 1.5,
    "learning_rate": -0.1,
    "subsample": 0.0,
    "inter_supp": 0.9,
}


@pytest.mark.parametrize(("name", "value"), FAULTS.items())
def test_bad_options_are_refused(name, value):
    """The error names the option."""
    with pytest.raises(ValueError, match=name):
        Generation(**{name: value})
