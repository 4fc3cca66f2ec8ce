import numpy as np
import pytest

from rulewright.comparison.statistics import figures, select_failed


def record(learner="a", data="s", repeat=0, status="ok", n_test=10, **figures):
    return {
        "learner": learner, "set": data, "repeat": repeat, "status": status, "n_test": n_test,
        **figures,
    }  # fmt: skip


def test_errors_of_folds_count_by_their_rows_and_sizes_by_fold():
    records = [record(error=0.0, rules=2, n_test=30), record(error=0.4, rules=4, n_test=10)]
    assert figures(records, "error")["a", "s"].mean == pytest.approx(0.1)
    assert figures(records, "rules")["a", "s"].mean == 3


def test_the_deviation_is_over_repetitions():
    records = [record(repeat=r, error=e) for r, e in ((0, 0.1), (0, 0.3), (1, 0.4))]
    found = figures(records, "error")["a", "s"]
    assert found.mean == pytest.approx(0.3)
    assert found.sd == pytest.approx(np.std([0.2, 0.4], ddof=1))
    assert figures(records[:2], "error")["a", "s"].sd is None


def test_figures_that_are_missing_do_not_count():
    records = [record(error=0.2), record(), record(error=float("nan"))]
    assert figures(records, "error")["a", "s"].mean == pytest.approx(0.2)


def test_a_repetition_with_a_failure_does_not_count():
    """A hard fold that failed must not make the mean of the others the figure."""
    bad = record(repeat=1, status="failed", problem="MemoryError")
    records = [record(error=0.2), record(repeat=1, error=0.0), bad, record("b", error=0.3)]
    assert {pair: f.mean for pair, f in figures(records, "error").items()} == {
        ("a", "s"): 0.2,
        ("b", "s"): 0.3,
    }
    assert select_failed(records) == [bad]
    assert ("a", "s") not in figures(records[1:], "error")
