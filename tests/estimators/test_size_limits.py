"""Tables that are too large for a learner are refused before any work, with a way out."""

import time

import numpy as np
import pytest

from builders import LEARNERS, MADE, mixed_table
from rulewright import CompactRulesClassifier, RISEClassifier, RumbleClassifier, SL2Classifier
from rulewright.data import DataError, read_table
from rulewright.estimators.contract.work import count_features

pytestmark = pytest.mark.native

LIMITED = [name for name, cls in MADE.items() if np.isfinite(cls.MOST_WORK)]


def wide(n_columns):
    """Draw 50 rows of many numbers, and a class that the first one determines."""
    X = np.random.default_rng(0).normal(size=(50, n_columns))
    return X, X[:, 0] > 0


@pytest.mark.parametrize("name", LIMITED)
def test_the_refusal_names_number_limit_and_remedy(name, monkeypatch):
    """A learner with a limit compares it with what the table needs; raising it is possible."""
    monkeypatch.setattr(MADE[name], "MOST_WORK", 3)
    learner, rows = MADE[name].__name__, mixed_table(np.random.default_rng(0), 60)
    told = rf"^{learner}: the table needs about [\d,]+ .*{learner}.MOST_WORK = 3\. .*; or raise"
    with pytest.raises(DataError, match=told):
        LEARNERS[name]().fit(*rows)
    monkeypatch.setattr(MADE[name], "MOST_WORK", np.inf)
    LEARNERS[name]().fit(*rows)


@pytest.mark.parametrize(
    ("est", "X", "y"),
    [
        (SL2Classifier(), *wide(5_000)),
        (LEARNERS["ruleset-ensemble"](), *wide(5_000)),
        (RumbleClassifier(), *wide(10_000)),
        (RISEClassifier(), np.arange(300_000.0)[:, None], np.arange(300_000) % 2),
        (CompactRulesClassifier(), np.arange(4000.0)[:, None], np.arange(4000) // 8),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_large_tables_are_refused_at_once(est, X, y):
    """Fits of gigabytes or hours are refused before they start."""
    started = time.process_time()
    with pytest.raises(DataError, match="MOST_WORK"):
        est.fit(X, y)
    assert time.process_time() - started < 20.0


def test_features_are_labels_and_intervals():
    """Two values are one question; a column has no more intervals than asked for."""
    X = {
        "a": np.arange(40.0),
        "b": np.arange(40) % 2,
        "c": ["x", "y", "z", "x"] * 10,
        "d": [1] * 40,
    }
    assert count_features(read_table(X), 10) == 10 + 1 + 3


def test_more_rules_than_a_table_has_are_no_size():
    """The limit counts what the table asks for: max_rules is an upper bound, however large."""
    X, y = mixed_table(np.random.default_rng(0), 40)
    few, many = (
        CompactRulesClassifier(n_rules, size="max", random_state=0).fit(X, y).model_
        for n_rules in (20, 10**7)
    )
    assert len(few) < 20
    assert few.rules == many.rules
