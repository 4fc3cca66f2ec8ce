"""Conditions on sets of labels: the best of all sets, planted ones, laws, limits and exports."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS, free_limits, packed_columns
from rulewright import Constraints, Growth, MLRulesClassifier, load_model
from rulewright.data import read_table
from rulewright.encoding.binned import bin_table
from rulewright.kernels import ROW, STAT, Op, Score, grow_rule
from rulewright.rules import Labels
from rulewright.scale import fit_partitions
from rulewright.search import RuleGrower

pytestmark = pytest.mark.native

GOOD = ("c", "f", "h", "k")
SETS = Growth(label_sets=True)


def scanned(codes, stats, n_labels, down=True, **limits):
    """Find the best condition on one nominal column, for votes up or for either vote."""
    columns = packed_columns(np.array(codes)[:, None], [n_labels], [1])
    limits = free_limits(1, **{"max_labels": 32, "max_conditions": 1, **limits})
    score = Score("newton", unit=2.0**-20, down=down)
    everyone = np.arange(len(codes), dtype=ROW)
    return grow_rule(columns, everyone, np.array(stats, dtype=STAT), score, limits)


@examples(100)
@given(SEEDS, st.integers(3, 9))
def test_the_set_is_the_best_of_all_sets(seed, n_labels):
    """With hardly any smoothing no set of labels, of any size, has a larger g^2 / h."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(n_labels), 3))
    g = rng.integers(-(2**40), 2**40, len(codes))
    h = rng.integers(2**38, 2**40, len(codes))
    by_label = [[int(lane[codes == c].sum()) for lane in (g, h)] for c in range(n_labels)]
    sets = (s for n in range(1, n_labels) for s in combinations(by_label, n))
    best = max(sum(g for g, _ in s) ** 2 / sum(h for _, h in s) for s in sets)
    rule = scanned(codes, np.stack([g, h], axis=1), n_labels)
    assert rule.conditions[0].criterion == pytest.approx(-math.sqrt(best * 2.0**-20), rel=1e-9)


def test_light_labels_and_missing_values_are_in_no_set():
    """Of the labels that vote up, one has too small an h; its rows, and the missing, stay out."""
    codes = np.repeat([0, 1, 2, 3, 4, 5, 6], [200, 200, 5, 200, 200, 200, 200])
    stats = np.ones((len(codes), 2), dtype=STAT) * 2**20
    stats[np.isin(codes, [0, 2, 3, 6]), 0] *= -1
    only = {"up_operators": np.full(1, 1 << Op.EQUAL, np.uint8), "down": False}
    (condition,), vote = scanned(codes, stats, 6, label_smoothing=10 * 2**20, **only)
    assert (condition.op, condition.labels, vote) == (Op.EQUAL, (0, 3), 0)
    (condition,), _ = scanned(codes, stats, 6, label_smoothing=1, **only)
    assert condition.labels == (0, 2, 3)
    (condition,), _ = scanned(codes, stats, 6, label_smoothing=1, max_labels=2, **only)
    assert len(condition.labels) == 2


def test_sets_that_noise_alone_would_choose_lose():
    """What labels gain by being chosen is taken off: the heavy label wins without the light ones.

    Labels 0 to 7 have 4 rows each and means of either sign, label 8 has 40 rows.
    """
    codes = np.repeat(np.arange(9), [*[4] * 8, 40])
    g = np.where(codes % 2 == 0, -3, 3)
    stats = np.stack([g, np.full(len(g), 8)], axis=1) * 2**20
    only = {"up_operators": np.full(1, 1 << Op.EQUAL, np.uint8), "down": False}
    (condition,), _ = scanned(codes, stats, 9, label_smoothing=1, **only)
    assert condition.labels == (0, 2, 4, 6, 8)
    (condition,), _ = scanned(codes, stats, 9, label_smoothing=32 * 2**20, **only)
    assert (condition.labels, condition.code) == ((), 8)


def test_tests_on_codes_pass_the_rows_of_their_conditions():
    """Conditions "in" and "not in" a set hold on the same rows, as conditions and as tests."""
    rng = np.random.default_rng(0)
    table = read_table({"x": [*rng.choice(list("abcdefgh"), 60), None]})
    binned = bin_table(table)
    codes = np.append(binned.codes.codes[0, :-1, 0], 8)
    for seed in range(20):
        g = np.random.default_rng(seed).normal(size=9)[codes]
        stats = np.stack([g * 2**20, np.full(61, 2**20)], axis=1).astype(STAT)
        limits = free_limits(1, max_labels=4, max_conditions=1)
        score = Score("newton", unit=2.0**-20, l2=1.0, down=True)
        everyone = np.arange(61, dtype=ROW)
        found = RuleGrower(binned, "midpoint").grow(binned.codes, everyone, stats, score, limits)
        holds = found.conditions[0].holds(table.columns[0])
        assert found.cover(binned.codes).tolist() == np.flatnonzero(holds).tolist()


def planted(n_rows=3000, seed=0):
    """Make a table whose class depends on a set of labels and a number, with missing labels."""
    rng = np.random.default_rng(seed)
    letter = rng.choice(list("abcdefghijkl"), n_rows).astype(object)
    x, other = rng.normal(size=n_rows), rng.choice(list("pqrst"), n_rows).astype(object)
    chance = np.where(np.isin(letter, GOOD), 0.9, 0.1)
    y = np.where(rng.random(n_rows) < chance, "yes", "no")
    letter[rng.random(n_rows) < 0.05] = None
    return pd.DataFrame({"letter": letter, "x": x, "other": other}), y


def learner(growth=SETS, **options):
    return MLRulesClassifier(**{"max_rules": 10, "growth": growth, "random_state": 0, **options})


def label_conditions(model):
    found = [c for rule in model.rules for c in rule.body.conditions]
    return [c for c in found if isinstance(c, Labels)]


def test_a_planted_set_is_recovered():
    """The first rule names exactly the labels that matter; without sets no rule names several."""
    X, y = planted()
    first = learner().fit(X, y).stages_.rules[0].body.conditions
    assert Labels("letter", GOOD) in first or Labels("letter", GOOD, negated=True) in first
    single = learner(Growth(label_sets=False), max_conditions=1).fit(X, y).model_
    assert all(len(c.labels) == 1 for c in label_conditions(single))


def test_sets_are_saved_and_exported(tmp_path):
    """A loaded model has the same rules, and every target answers alike."""
    X, y = planted()
    model = learner().fit(X, y).model_
    assert any(len(c.labels) > 1 for c in label_conditions(model))
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").rules == model.rules
    model.verify_exports()


@pytest.mark.parametrize(("operator", "negated"), [("=", False), ("!=", True)])
def test_sets_obey_the_operators_of_their_column(operator, negated):
    """Where "=" is not allowed "in" is not, and where "!=" is not allowed "not in" is not."""
    X, y = planted()
    model = learner(constraints=Constraints(operators={"letter": [operator]})).fit(X, y).model_
    found = [c for c in label_conditions(model) if c.column == "letter"]
    assert any(len(c.labels) > 1 for c in found)
    assert {c.negated for c in found} == {negated}


def test_threads_do_not_change_sets():
    """One and two threads learn the same rules."""
    X, y = planted(20_000)
    one, two = (learner(n_jobs=n).fit(X, y).model_ for n in (1, 2))
    assert one.rules == two.rules
    assert any(len(c.labels) > 1 for c in label_conditions(one))


def test_weight_two_is_a_row_twice():
    """Smoothing counts weights, not rows."""
    X, y = planted(600)
    whole = {"subsample": 1.0, "stopping": "none"}
    weights = np.where(np.arange(600) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(600), weights.astype(int))
    heavy = learner(**whole).fit(X, y, sample_weight=weights).model_
    double = learner(**whole).fit(X.iloc[twice], y[twice]).model_
    assert [rule.body for rule in heavy.rules] == [rule.body for rule in double.rules]
    assert any(len(c.labels) > 1 for c in label_conditions(heavy))


def test_other_names_of_labels_change_nothing_else():
    """Labels in another order of names are in the same sets."""
    X, y = planted(2000)
    names = dict(zip("abcdefghijkl", "lkjihgfedcba", strict=True))
    renamed = X.assign(letter=X["letter"].map(names))
    one, two = learner().fit(X, y), learner().fit(renamed, y)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(renamed), atol=1e-12)


def test_partitions_find_the_sets_of_a_fit_in_memory():
    """Sets travel between partitions as tests on codes."""
    X, y = planted(900)
    frame = X.assign(y=y)
    options = {"subsample": 1.0, "growth": replace(SETS, prune=False)}
    ours = fit_partitions(learner(**options), [frame[:400], frame[400:]], "y").model_
    assert ours.rules == learner(**options).fit(frame, "y").model_.rules
    assert any(len(c.labels) > 1 for c in label_conditions(ours))


def test_rules_on_one_of_several_classes_have_sets():
    """A vote chosen in advance reads one pair of lanes; a joint choice keeps single labels."""
    X, y = planted()
    y = np.where(X["other"] == "p", "maybe", y)
    model = learner(replace(SETS, class_choice="prefixed"), max_rules=20).fit(X, y).model_
    assert any(len(c.labels) > 1 for c in label_conditions(model))
    joint = learner(replace(SETS, class_choice="joint"), max_conditions=1).fit(X, y).model_
    assert all(len(c.labels) == 1 for c in label_conditions(joint))
