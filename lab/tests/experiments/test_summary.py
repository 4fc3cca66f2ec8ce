import numpy as np

from rulewright_lab.experiments.summary import matrix


def test_a_matrix_has_a_row_per_set_and_gaps():
    records = [
        {"learner": who, "set": what, "repeat": 0, "status": "ok", "n_test": 10, "error": error}
        for who, what, error in (("a", "s", 0.1), ("b", "t", 0.2))
    ]
    np.testing.assert_array_equal(
        matrix(records, "error", ["s", "t"], ["a", "b"]), [[0.1, np.nan], [np.nan, 0.2]]
    )
