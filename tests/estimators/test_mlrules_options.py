"""Ordered classes and drawn columns: what MLRules can be asked for."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from builders import mixed_table, mlrules
from rulewright import Formulation, Growth, MLRulesClassifier, Window
from rulewright.data import read_table
from rulewright.encoding.binned import bin_table
from rulewright.estimators.mlrules.boosting import Monitor
from rulewright.estimators.mlrules.pruning import PrefixPruning
from rulewright.kernels import GrownCondition, GrownRule, Op, Score
from rulewright.rules import Head
from rulewright.search import Constraints, RuleGrower, SearchLimits, Subsampler

pytestmark = pytest.mark.native

NAMES = ["bad", "fair", "good", "great"]


@pytest.fixture(scope="module")
def scale():
    """Make a mixed table with four classes in an order."""
    X, y = mixed_table(np.random.default_rng(5), 200, n_classes=4)
    return X, pd.Categorical.from_codes(y, NAMES, ordered=True)


@pytest.mark.parametrize("options", [{}, {"criterion": "gradient"}])
def test_ordinal_rules_vote_for_one_end_of_the_scale(scale, options):
    """Heads reach up to the last or down to the first class, print as such, and lower the loss."""
    est = mlrules(max_rules=40, ordinal=True, **options).fit(*scale)
    assert est.classes_.tolist() == NAMES
    heads = {rule.head for rule in est.model_.rules}
    assert all((head.first == 0) != (head.last == 3) for head in heads)
    assert {head.first == 0 for head in heads if head.is_union} == {True, False}
    text = est.model_.to_text()
    for head in heads:
        first, last = head
        words = NAMES[first] if first == last else f"at least {NAMES[first]}"
        if first == 0 < last:
            words = f"at most {NAMES[last]}"
        assert re.search(rf"\d  {words} +x", text)
    assert np.all(np.diff(est.trace_["train_loss"]) < 0)


@pytest.mark.parametrize("l2", [0.0, 1.0, 5.0])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"class_choice": "prefixed", "criterion": "gradient", "formulation": Formulation("newton")},
        {"subsample": 0.5, "stopping": Window(10, 8)},
    ],
)
def test_two_classes_have_an_order_anyway(l2, options):
    """With K = 2 the ordinal and the nominal task give one model (T7)."""
    X, y = mixed_table(np.random.default_rng(1), 150)
    nominal, ordinal = (mlrules(l2=l2, ordinal=o, **options).fit(X, y) for o in (False, True))
    assert len(nominal.model_) > 0
    assert ordinal.model_.rules == nominal.model_.rules
    assert ordinal.model_.intercepts == nominal.model_.intercepts
    np.testing.assert_array_equal(ordinal.predict_proba(X), nominal.predict_proba(X))
    np.testing.assert_array_equal(ordinal.predict(X), nominal.predict(X))


@pytest.mark.parametrize("shares", [[5, 1, 1, 5], [1, 6, 4, 2], [1, 1, 2, 8], [0, 3, 3, 1]])
def test_the_ordinal_default_rule_votes_for_the_best_union(shares):
    """It has the lowest g / sqrt(h + l2), and afterwards the union is as likely as it is common."""
    y = pd.Categorical(np.repeat(range(4), np.multiply(shares, 5)), categories=range(4))
    model = mlrules(max_rules=0, ordinal=True).fit(np.zeros((len(y), 1)), y).model_
    n, share = len(y), np.array(shares) * 5 / len(y)
    unions = [Head(0, k) for k in range(3)] + [Head(k, 3) for k in range(1, 4)]

    def criterion(head):
        part = (head.last - head.first + 1) / 4
        return n * (part - share[head.classes].sum()) / np.sqrt(n * part * (1 - part) + 1)

    best = min(unions, key=criterion)
    p = model.predict_proba(np.zeros((1, 1)))[0]
    inside, outside = p[best.classes], np.delete(p, range(best.first, best.last + 1))
    least = 1 / (2 * n)
    assert inside.sum() == pytest.approx(np.clip(share[best.classes].sum(), least, 1 - least))
    assert np.ptp(inside) < 1e-12
    assert np.ptp(outside) < 1e-12


@pytest.mark.parametrize("chance", ["uniform", "prior"])
def test_a_union_is_acceptable_when_it_beats_guessing_a_union(scale, chance, monkeypatch):
    """Outside its subsample a rule must be right more often than a guess of all its classes."""
    X, y = scale
    outside, last = [], []
    watch, draw = Monitor.watch, Subsampler.draw

    def spy(self, *arguments):
        outside.append(~last[0].drawn)
        return watch(self, *arguments)

    def seen(sampler):
        last[:] = [draw(sampler)]
        return last[0]

    monkeypatch.setattr(Monitor, "watch", spy)
    monkeypatch.setattr(Subsampler, "draw", seen)
    est = mlrules(
        max_rules=30,
        ordinal=True,
        subsample=0.5,
        stopping=Window(99, 99, chance),
    ).fit(X, y)
    guess = np.full(4, 0.25) if chance == "uniform" else np.bincount(y.codes) / len(y)
    covers = est.stages_.covers(X)
    assert any(rule.head.is_union for rule in est.stages_.rules)
    for i, rule in enumerate(est.stages_.rules):
        codes = y.codes[covers[:, i] & outside[i]]
        right = np.mean((codes >= rule.head.first) & (codes <= rule.head.last))
        assert est.trace_["acceptable"][i] == (right > guess[rule.head.classes].sum())


def test_scales_that_say_nothing_are_refused(scale):
    """Words and categories without an order, and votes chosen in advance, are errors."""
    X, y = scale
    turned = pd.Categorical.from_codes(y.codes, NAMES[::-1])
    for words in (turned, np.array(NAMES)[y.codes], y.codes.astype(str)):
        with pytest.raises(ValueError, match=r"words without an order: .*List them from low to hi"):
            mlrules(ordinal=True).fit(X, words)
    with pytest.raises(ValueError, match="Use 'joint'"):
        mlrules(ordinal=True, class_choice="prefixed").fit(X, y)
    with pytest.raises(ValueError, match="ordinal: The order of the classes lacks 'great'"):
        mlrules(ordinal=NAMES[:-1]).fit(X, y)
    assert len(mlrules().fit(X, turned).model_) > 0


def test_the_order_of_the_classes_can_be_given(scale):
    """A list and ordered categories give the model of sorted labels; the order is printed."""
    X, y = scale
    numbered = mlrules(ordinal=True).fit(X, y.codes)
    words = np.array(["low", "medium", "high", "top"])
    listed = mlrules(ordinal=words).fit(X, words[y.codes])
    declared = mlrules(ordinal=True).fit(X, pd.Categorical.from_codes(y.codes, words, ordered=True))
    for est in (listed, declared):
        assert est.classes_.tolist() == words.tolist()
        assert est.model_.rules == numbered.model_.rules
        np.testing.assert_array_equal(est.predict(X), words[numbered.predict(X)])
        assert "order: low < medium < high < top" in str(est.model_)
    scale_of_polars = pl.Series(words[y.codes], dtype=pl.Enum(words))
    assert mlrules(ordinal=True).fit(X, scale_of_polars).model_ == declared.model_
    nominal = mlrules().fit(X, pd.Categorical.from_codes(y.codes, words, ordered=True))
    assert nominal.classes_.tolist() == sorted(words)
    assert "order" not in str(nominal.model_)


def spy_on_growth(monkeypatch):
    """Collect the open columns of every search and the columns of what it found."""
    seen, grow = [], RuleGrower.grow

    def spy(self, codes, rows, stats, score, limits):
        found = grow(self, codes, rows, stats, score, limits)
        used = set() if found is None else {condition.column for condition in found.conditions}
        seen.append((set(np.flatnonzero(limits.up_operators).tolist()), used))
        return found

    monkeypatch.setattr(RuleGrower, "grow", spy)
    return seen


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5])
def test_rules_use_the_columns_drawn_for_them(share, monkeypatch):
    """Each rule has its own draw of the columns, of the size asked for, and stays within it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 9))
    y = (X.sum(axis=1) > 0).astype(int)
    seen = spy_on_growth(monkeypatch)
    est = mlrules(column_subsample=share).fit(X, y)
    assert {len(drawn) for drawn, _ in seen} == {max(1, int(share * 9))}
    assert all(used <= {f"x{j}" for j in drawn} for drawn, used in seen)
    assert len({tuple(sorted(drawn)) for drawn, _ in seen}) > 3
    assert len(est.stages_) == 15
    assert mlrules(column_subsample=share).fit(X, y).model_ == est.model_
    other = mlrules(column_subsample=share, random_state=1).fit(X, y)
    assert other.model_.rules != est.model_.rules


def test_required_columns_need_not_be_drawn(monkeypatch):
    """What every rule must use is open to every rule, in addition to the draw."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 9))
    y = (X[:, 4] + X.sum(axis=1) > 0).astype(int)
    seen = spy_on_growth(monkeypatch)
    est = mlrules(column_subsample=0.3, constraints={"required": ["x4"]}).fit(X, y)
    assert all(4 in drawn for drawn, _ in seen)
    assert {len(drawn) for drawn, _ in seen} == {2, 3}
    assert len(est.model_) > 0
    assert all("x4" in rule.body.columns for rule in est.model_.rules)


def noise_columns(seed, kind="step"):
    """Draw labels that depend on the first of three columns only, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4500, 3))
    if kind == "logistic":
        return X[:500], (rng.random(4500) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)[:500]
    inside = X[:, 0] > 0 if kind == "step" else np.abs(X[:, 0]) > 0.7
    return X[:500], (inside != (rng.random(4500) < 0.1)).astype(int)[:500]


def test_rules_do_without_columns_of_noise():
    """At most 15 % of the default's rules use a random column, and nearly all without pruning."""

    def share(*data, **options):
        est = MLRulesClassifier(random_state=0, **options).fit(*noise_columns(*data))
        rules = est.model_.rules
        assert any("x0" in rule.body.columns for rule in rules)
        return np.mean([bool({"x1", "x2"} & set(rule.body.columns)) for rule in rules])

    kinds = ("logistic", "step", "band")
    assert np.mean([share(seed, kind) for seed in range(8) for kind in kinds]) <= 0.15
    assert share(0, growth=Growth(prune=False)) > 0.8


def test_large_tables_are_pruned_on_request_only(monkeypatch):
    """With more rows than the limit "auto" is False, up to it True."""
    X, y = noise_columns(0)
    rules = {p: mlrules(subsample=0.5, prune=p).fit(X, y).model_.rules for p in (True, False)}
    assert rules[True] != rules[False]
    for most, prunes in ((500, True), (499, False)):
        monkeypatch.setattr("rulewright.estimators.mlrules.settings.MOST_PRUNED_ROWS", most)
        assert mlrules(subsample=0.5, prune="auto").fit(X, y).model_.rules == rules[prunes]


@pytest.mark.parametrize("prune", [True, "prefix"])
def test_pruned_rules_keep_required_columns(prune):
    """A condition that an expert asks for stays, whatever it is worth."""
    X, y = noise_columns(0)
    constraints = {"required": ["x1"]}
    est = mlrules(subsample=0.5, prune=prune, constraints=constraints).fit(X, y)
    assert len(est.model_) > 0
    assert all("x1" in rule.body.columns for rule in est.model_.rules)
    assert any("x2" not in rule.body.columns for rule in est.model_.rules)


def test_a_prefix_ends_where_conditions_stop_paying():
    """Where one column decides, rules have one condition; where a pair does, they have two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    both = (X[:, 0] > 0) & (X[:, 1] > 0)
    for cause, columns in ((X[:, 0] > 0, {"x0"}), (both, {"x0", "x1"})):
        y = (rng.random(3000) < np.where(cause, 0.8, 0.2)).astype(int)
        est = mlrules(max_rules=5, subsample=0.5, prune="prefix", learning_rate=0.3).fit(X, y)
        grown = mlrules(max_rules=5, subsample=0.5, prune=False, learning_rate=0.3).fit(X, y)
        assert set().union(*(rule.body.columns for rule in est.stages_.rules)) == columns
        assert set().union(*(rule.body.columns for rule in grown.stages_.rules)) > columns


def test_columns_of_rules_refused_in_turn_are_closed():
    """From the fourth on, their first columns are closed until a rule pays, but required ones."""
    binned = bin_table(read_table(np.arange(12.0).reshape(3, 4)), 10, 1)
    limits = SearchLimits(constraints=Constraints(required=["x3"])).compile(binned.schema, 1.0)
    pays = [False] * 5 + [True]

    def sum_prefixes(found, score, drawn):
        return np.array([[-1 if pays.pop(0) else 1, 1]])

    pruning = PrefixPruning(limits.required, sum_prefixes)
    grower = RuleGrower(binned, "midpoint")
    is_open = []
    for column in (1, 1, 3, 1, 0, 2):
        found = grower.make_rule(GrownRule([GrownCondition(column, Op.LESS_EQUAL, 0, 1, -1.0)], 0))
        pruning.prune(found, Score("newton", unit=1.0), None)
        is_open.append((pruning.narrow(limits).up_operators > 0).tolist())
    everything = [True] * 4
    closed = [[True, False, True, True], [False, False, True, True]]
    assert is_open == [everything, everything, everything, *closed, everything]


def test_nothing_is_pruned_without_rows_outside():
    """Where every rule sees all rows, rules are as grown."""
    X, y = noise_columns(0)
    models = [mlrules(prune=prune).fit(X, y).model_ for prune in (True, False)]
    assert models[0].rules == models[1].rules


def test_labels_that_mean_nothing_end_the_search():
    """When most rules are refused, learning ends although nothing else would stop it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    for prune in (True, "prefix"):
        est = mlrules(max_rules=2000, subsample=0.5, prune=prune).fit(X, y)
        assert est.stopped_by_ == "no_rule"
        assert len(est.stages_) < 200
