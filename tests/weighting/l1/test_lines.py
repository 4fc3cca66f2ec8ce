"""Lines by penalised maximum likelihood: the conditions of optimality."""

import numpy as np
import pytest

from builders import softmax
from rulewright import read_table
from rulewright.data import TrainingSet
from rulewright.weighting import LineFit
from rulewright.weighting.l1 import lines


@pytest.mark.parametrize(("n_classes", "ordinal"), [(2, False), (3, False), (4, True)])
@pytest.mark.parametrize("signs", [[0, 0, 0, 0], [1, -1, 1, 0]])
def test_the_fit_meets_the_conditions_of_optimality(n_classes, ordinal, signs, monkeypatch):
    """Slopes that are not 0 are pulled as hard as the penalty says, others less, intercepts not."""
    monkeypatch.setattr(lines, "TOLERANCE", 1e-13)
    monkeypatch.setattr(lines, "MOST_SWEEPS", 5000)
    rng = np.random.default_rng(2)
    columns = rng.normal(size=(4, 300))
    columns[1] += columns[0]
    y = np.digitize(columns[0] - columns[2] + rng.logistic(size=300), range(n_classes - 1))
    rows = TrainingSet.of(read_table({"x": columns[0], "y": y}, target="y"))
    fit = LineFit(columns, signs, rows, ordinal, 1.0)
    fit.run()
    scores = fit.start + fit.columns.T @ fit.by_class()
    p = softmax(scores)
    for vote, values, penalties in zip(fit.votes, fit.values, fit.penalties, strict=True):
        inside = (y >= vote.first) & (y <= vote.last)
        pulls = fit.columns @ (inside - p[:, vote.classes].sum(axis=1)) - fit.ridge * values
        at_rest = values == 0
        np.testing.assert_allclose(
            pulls[~at_rest], (penalties * np.sign(values))[~at_rest], atol=1e-4
        )
        bounded = (np.array([0, *signs]) * pulls < 0) & at_rest
        assert np.all((np.abs(pulls) <= penalties)[at_rest & ~bounded])
        assert np.all(np.array([0, *signs]) * values >= 0)
    assert np.count_nonzero(fit.values[:, 1:]) >= n_classes - 1
    assert not fit.values[:, 1:].all()
