"""What "auto" stands for, by the numbers of rows and classes."""

import numpy as np
import pytest

from builders import mlrules
from rulewright import Growth, MLRulesClassifier, Validation, Window
from rulewright.data import TrainingSet, read_table
from rulewright.estimators.mlrules.settings import Automatic
from rulewright.search import Constraints
from rulewright.weighting.likelihood import LARGEST_STEP


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "expected"),
    [
        (10_000, 2, (500, 0.1, 4, False, Window())),
        (10_001, 2, (1000, 0.3, 4, False, Validation(n_iter_no_change=50))),
        (10_001, 9, (6750, 0.3, 4, False, Validation(n_iter_no_change=225))),
        (10_001, 10, (3500, 0.3, 8, True, Window())),
        (50_000, 2, (1000, 0.3, 4, False, Validation(n_iter_no_change=50))),
        (50_001, 3, (2250, 0.3, 4, False, Validation(n_iter_no_change=75))),
        (10_000, 26, (6500, 0.1, 4, False, Window())),
        (10_000, 31, (7500, 0.1, 4, True, Window())),
        (10_001, 40, (10_500, 0.3, 8, True, Window())),
    ],
)
def test_larger_tables_are_learned_in_larger_steps(n_rows, n_classes, expected):
    """Rules, learning rate, conditions, choice of class and stopping at both sides of a limit."""
    auto = Automatic(n_rows, n_classes, ordinal=False)
    found = auto.max_rules, auto.learning_rate, auto.max_conditions, auto.prefixed
    assert (*found, auto.stopping(outside=True)) == expected


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "expected"),
    [
        (10_000, 26, (0.5, 1.0, 1.0, LARGEST_STEP)),
        (10_001, 9, (0.5, 1.0, 1.0, LARGEST_STEP)),
        (10_001, 10, (0.8, 0.7, 0.3, 2.0)),
    ],
)
def test_many_classes_have_draws_of_their_own(n_rows, n_classes, expected):
    """Shares of rows and columns, l2 and the largest response; what is asked for comes first."""
    target = np.arange(n_rows) % n_classes
    rows = TrainingSet.of(read_table(np.arange(float(n_rows))[:, None], target=target))
    found = MLRulesClassifier()._settings(rows, Constraints())
    assert (*drawn(found), found.rule.l2, found.rule.largest_step) == expected
    asked = MLRulesClassifier(subsample=0.6, growth=Growth(column_subsample=0.9), l2=2.0)
    found = asked._settings(rows, Constraints())
    assert (*drawn(found), found.rule.l2) == (0.6, 0.9, 2.0)
    found = MLRulesClassifier.paper()._settings(rows, Constraints())
    assert (*drawn(found), found.rule.l2) == (0.5, 1.0, 0.0)
    assert found.rule.largest_step == LARGEST_STEP


def drawn(settings):
    """Return the shares of rows and columns that a rule is grown on."""
    return settings.subsample, settings.column_subsample


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "expected"),
    [
        (2_000, 2, "conditions"),
        (2_001, 2, None),
        (10_000, 2, None),
        (10_001, 2, "prefix"),
        (10_001, 10, None),
    ],
)
def test_small_and_large_tables_are_pruned(n_rows, n_classes, expected):
    """Any condition may go in small tables, the last ones in large tables of few classes."""
    assert Automatic(n_rows, n_classes, ordinal=False).prune == expected


def test_ordered_classes_are_never_learned_one_at_a_time():
    """A vote for one class would not be a vote for a side of the scale."""
    auto = Automatic(20_000, 40, ordinal=True)
    assert not auto.prefixed
    assert (auto.max_conditions, auto.learning_rate) == (4, 0.3)
    assert isinstance(auto.stopping(outside=True), Validation)


@pytest.mark.parametrize("n_classes", [2, 12])
def test_large_tables_have_sets_of_labels(n_classes):
    """Beyond 10,000 rows there are enough of a label to tell where it belongs."""
    assert Automatic(10_001, n_classes, ordinal=False).label_sets
    assert not Automatic(10_000, n_classes, ordinal=False).label_sets


def test_what_is_asked_for_is_done():
    """Given settings override the automatic ones, one by one."""
    rows = TrainingSet.of(read_table(np.arange(10_100.0)[:, None], target=np.arange(10_100) % 2))
    est = MLRulesClassifier(70, learning_rate=0.05, max_conditions=None, stopping="none")
    settings = est._settings(rows, Constraints())
    assert (settings.rule.learning_rate, settings.limits.max_conditions) == (0.05, None)
    assert settings.stopping.name == "none"
    assert est._most_rules(rows) == 70


def test_a_large_table_stops_when_nothing_is_left_to_learn():
    """Beyond 10,000 rows a tenth of them tells when the only effect is learned."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_500, 3))
    y = (rng.random(10_500) < np.where(X[:, 0] > 0, 0.9, 0.1)).astype(int)
    est = mlrules(max_rules=None, stopping="auto", learning_rate="auto", max_conditions=1).fit(X, y)
    assert est.stopped_by_ == "validation"
    assert len(est.stages_.rules) < 300
    np.testing.assert_allclose(est.predict_proba([[1.0, 0, 0]]), [[0.1, 0.9]], atol=0.03)
