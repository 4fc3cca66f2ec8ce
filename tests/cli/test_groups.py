"""`--group`: rows of a group stay together, and the column is no feature."""

import json

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.native


@pytest.fixture
def visits(tmp_path):
    """Write a table with five equal rows per customer and a class that is nearly noise."""
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame({f"x{k}": rng.normal(size=n) for k in range(4)})
    frame["ill"] = np.where(frame.x0 + 3 * rng.normal(size=n) > 0, "yes", "no")
    frame["customer"] = [f"c{k}" for k in range(n)]
    path = tmp_path / "visits.csv"
    frame.loc[np.repeat(frame.index, 5)].to_csv(path, index=False)
    return path


@pytest.fixture
def ask(cli):
    """Call the command line, which must succeed; give standard output on one line per row."""

    def output(*args):
        result = cli(*args)
        assert result.exit_code == 0, result.output
        return result.stdout

    return output


def test_learn_counts_groups(visits, tmp_path, ask):
    """Cross-validated figures are near chance with --group, and far too good without."""
    model = tmp_path / "m.json"
    common = ["learn", visits, "--target", "ill", "--learner", "mlrules", "--max-rules", "60"]
    found = {}
    for name, options in (("with", ["--group", "customer"]), ("without", ["--drop", "customer"])):
        out = ask(*common, *options, "--cv", "3", "--model", model, "--json")
        found[name] = json.loads(out)["validation"]["figures"]["accuracy"]
        assert "customer" not in json.loads(model.read_text())["schema"]["columns"].__repr__()
    assert found["with"]["value"] < 0.7
    assert found["without"]["value"] > found["with"]["value"] + 0.1
    width = found["with"]["high"] - found["with"]["low"]
    assert width > 0.12


def test_inspect_finds_copies_and_keys(visits, ask):
    """Exact copies and the column of the customers are findings; with --group there are none."""
    told = ask("inspect", visits, "--target", "ill", "--json")
    assert "look like the key of groups" in told
    assert "--group customer" in told
    bare = ask("inspect", visits, "--target", "ill", "--drop", "customer", "--json")
    assert "480 of 600 rows (80%) repeat another one exactly" in bare
    assert "repeat" not in ask("inspect", visits, "--target", "ill", "--group", "customer")


def test_evaluate_counts_groups(visits, tmp_path, ask):
    """Intervals of `evaluate` are wider with --group."""
    model = tmp_path / "m.json"
    ask("learn", visits, "--target", "ill", "--group", "customer", "--cv", "0", "--model", model)
    both = [
        json.loads(ask("evaluate", model, visits, "--json", *options))
        for options in ((), ("--group", "customer"))
    ]
    widths = [
        one["figures"]["accuracy"]["high"] - one["figures"]["accuracy"]["low"] for one in both
    ]
    assert widths[1] > 1.7 * widths[0]
