"""Rules of MLRules that vote for or against several classes."""

import numpy as np
import pytest

from builders import mixed_table, mlrules
from rulewright import Growth, MLRulesClassifier
from rulewright.data import TrainingSet, read_table
from rulewright.estimators.mlrules.memory import OTHER_EVIDENCE
from rulewright.kernels import ROW
from rulewright.rules import Head
from rulewright.search import Constraints
from rulewright.weighting import LogLikelihood

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def table():
    """Make a mixed table of four classes."""
    return mixed_table(np.random.default_rng(3), 400, n_classes=4)


def rounds(model):
    """Split the rules, in the order of learning, where the body changes."""
    parts = []
    for rule in model.rules:
        if not parts or rule.body != parts[-1][0].body or rule.head == parts[-1][0].head:
            parts.append([])
        parts[-1].append(rule)
    return parts


def test_each_vote_has_evidence_on_all_rows(table):
    """A naive replay finds the same votes, one after the other, from the same bodies."""
    X, y = table
    rows = TrainingSet.of(read_table(X, target=y))
    est = mlrules(other_classes=True, max_rules=60, learning_rate=0.3, l2=1.0).fit(X, y)
    start = np.array(est.stages_.intercepts)
    likelihood = LogLikelihood(rows.labels, rows.weights, start)
    several = 0
    for votes in rounds(est.stages_):
        cover = np.flatnonzero(votes[0].body.holds(rows.table)).astype(ROW)
        first, *others = votes
        assert first.outcome.value > 0
        likelihood.add(cover, first.head, first.outcome.value)
        found = []
        for k in range(4):
            g, h = likelihood.derivatives(cover, Head(k, k))
            if k == first.head.first or abs(g) < OTHER_EVIDENCE * np.sqrt(h + 1.0):
                continue
            step = 0.3 * np.clip(-g / (h + 1.0), -4, 4)
            likelihood.add(cover, Head(k, k), step)
            found.append((k, step))
        kept = found[: len(others)]  # the last rule may end at the limit
        assert [rule.head.first for rule in others] == [k for k, _ in kept]
        np.testing.assert_allclose([rule.outcome.value for rule in others], [s for _, s in kept])
        several += bool(others)
    assert several > 5
    assert any(rule.outcome.value < 0 for rule in est.stages_.rules)


@pytest.mark.parametrize("max_rules", [1, 2, 7, 30])
def test_the_limit_counts_every_vote(table, max_rules):
    """A rule that votes for three classes counts three times, and the limit is exact."""
    est = mlrules(other_classes=True, max_rules=max_rules).fit(*table)
    assert len(est.stages_.rules) == max_rules
    assert len(rounds(est.stages_)) == len(est.trace_["train_loss"])


def test_the_loss_falls_faster_than_with_one_vote(table):
    """After equally many rounds the training loss is lower, and it falls in every round."""
    one, several = (
        mlrules(other_classes=others, max_rules=400).fit(*table).trace_["train_loss"][:60]
        for others in (False, True)
    )
    assert np.all(np.diff(several) < 0)
    assert several[-1] < one[-1]


def test_two_classes_have_no_others():
    """With two classes a vote for one is a vote against the other."""
    X, y = mixed_table(np.random.default_rng(4), 200)
    plain, asked = (mlrules(other_classes=others).fit(X, y) for others in (False, True))
    assert asked.model_.rules == plain.model_.rules


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"class_choice": "prefixed"}, "class_choice='prefixed'"),
        ({"ordinal": True}, "ordinal=True"),
    ],
)
def test_settings_that_fix_the_votes_are_refused(table, settings, named):
    """Votes for other classes would break what these promise; "auto" leaves them out."""
    X, y = table
    with pytest.raises(ValueError, match=named):
        mlrules(other_classes=True, **settings).fit(X, y)
    mlrules(other_classes="auto", **settings).fit(X, y)


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "expected"),
    [
        (10_000, 5, False),
        (10_001, 2, False),
        (10_001, 3, True),
        (10_001, 9, True),
        (10_001, 10, False),
    ],
)
def test_auto_needs_many_rows_and_few_classes(n_rows, n_classes, expected):
    """From ten classes on the class is chosen first; small tables keep one vote per rule."""
    target = np.arange(n_rows) % n_classes
    rows = TrainingSet.of(read_table(np.arange(float(n_rows))[:, None], target=target))
    assert MLRulesClassifier()._settings(rows, Constraints()).rule.other_classes is expected
    never = MLRulesClassifier(growth=Growth(other_classes=False))
    assert not never._settings(rows, Constraints()).rule.other_classes
    assert not MLRulesClassifier.paper()._settings(rows, Constraints()).rule.other_classes
