"""The surrogate of the supernova study."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from rulewright import RuleVoteSelector
from rulewright_lab.experiments import solver_paths
from rulewright_lab.experiments.generators import SUPERNOVA_RELEVANT, supernova_surrogate

EXAMPLE = Path(__file__).parents[3] / "examples" / "feature_voting.py"


def test_shape_and_classes():
    """39 columns, of which 21 are relevant; half of the rows are supernovae; seeds differ."""
    table = supernova_surrogate(1000, 3)
    assert (len(table.names), table.n_rows) == (39, 1000)
    assert len(set(SUPERNOVA_RELEVANT) & set(table.names)) == 21
    assert np.bincount(table.known_target.codes).tolist() == [500, 500]
    again, other = supernova_surrogate(1000, 3), supernova_surrogate(1000, 4)
    assert np.array_equal(again["x1"].values, table["x1"].values)
    assert not np.array_equal(other["x1"].values, table["x1"].values)


def test_only_relevant_columns_say_anything_of_the_class():
    """Ranks of noise columns have no correlation with the class; most relevant ones have."""
    table = supernova_surrogate(20_000, 0)
    y = table.known_target.codes
    for name in table.names:
        ranks = np.argsort(np.argsort(table[name].values))
        if name not in SUPERNOVA_RELEVANT:
            assert abs(np.corrcoef(ranks, y)[0, 1]) < 0.03
    correlations = [abs(np.corrcoef(table[name].values, y)[0, 1]) for name in SUPERNOVA_RELEVANT]
    assert np.mean(np.array(correlations) > 0.03) > 0.8


def test_columns_of_a_factor_correlate():
    """Columns 13 apart share a factor."""
    table = supernova_surrogate(20_000, 0)
    ranks = {name: np.argsort(np.argsort(table[name].values)) for name in ("x1", "x14", "x2")}
    assert 0.4 < np.corrcoef(ranks["x1"], ranks["x14"])[0, 1] < 0.6
    assert abs(np.corrcoef(ranks["x1"], ranks["x2"])[0, 1]) < 0.05


@pytest.mark.parametrize("seed", [0, 1])
def test_votes_keep_relevant_columns_and_drop_noise(seed):
    """Small trees and lines drop nearly all of the 18 noise columns; trees of 20 leaves few."""
    table = supernova_surrogate(5000, seed)
    published = {"tree_size": 20.0, "linear": False}
    for settings, most, least in (({}, 2, 0), (published, 18, 11)):
        selector = RuleVoteSelector(max_candidates=600, random_state=seed, **settings)
        kept = set(selector.fit(table).get_feature_names_out())
        relevant = kept & set(SUPERNOVA_RELEVANT)
        assert len(relevant) >= 18
        assert least <= len(kept - relevant) <= most


def test_the_example_draws_and_selects(tmp_path, capsys, monkeypatch):
    """The script writes a chart for each solver and says what is kept, here on few rows."""
    spec = importlib.util.spec_from_file_location("feature_voting", EXAMPLE)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for name, value in (("N_ROWS", 600), ("N_RULES", 60)):
        monkeypatch.setattr(script, name, value)
    monkeypatch.setattr(solver_paths, "SHARES", np.array([0.5, 0.1]))
    monkeypatch.setattr(solver_paths, "TAUS", np.array([0.0, 1.0]))
    script.main(tmp_path, 0)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["lambda.svg", "mu.svg", "sigma.svg", "tau.svg"]
    out = capsys.readouterr().out
    assert out.count("error 0.") == 8
    assert float(out.split("accuracy with kept columns: ")[1]) > 0.6
