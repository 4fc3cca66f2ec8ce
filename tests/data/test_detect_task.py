"""Whether a target looks like numbers or like classes."""

import numpy as np
import pandas as pd
import pytest

from rulewright.data import MOST_CLASSES, detect_task, read_table


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.arange(MOST_CLASSES), "classification"),
        (np.arange(MOST_CLASSES + 1), "regression"),
        (np.array([1.0, 2.0, 2.5]), "regression"),
        (np.array([[1.0], [2.0], [2.5]]), "regression"),
        ([True, False, True], "classification"),
        ([f"c{i}" for i in range(30)], "classification"),
        (pd.Series(range(30), dtype="category"), "classification"),
    ],
)
def test_what_a_target_looks_like(y, task):
    """Fractions and many whole numbers are numbers; text, flags and categories are classes."""
    assert detect_task(np.zeros((len(y), 1)), y) == task


def test_targets_that_are_columns_or_read():
    """A column is found by its name; a Table knows what its target was read as."""
    columns = {"a": [1.0, 2.0, 3.0], "y": [0.5, 1.0, 2.0], "z": ["p", "q", "p"]}
    assert detect_task(columns, "y") == "regression"
    assert detect_task(columns, "z") == "classification"
    assert detect_task(read_table(columns, target="y", task="regression")) == "regression"
    assert detect_task(read_table(columns, target="z")) == "classification"
    with pytest.raises(ValueError, match="target='w': there is no such column"):
        detect_task(columns, "w")
