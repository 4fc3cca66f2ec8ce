"""The dbt project of `examples/dbt` runs an exported model as a dbt model."""

import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

import rulewright as rw

dbt = pytest.importorskip("dbt.adapters.duckdb", reason="`make pipelines` installs dbt-duckdb")
pytestmark = pytest.mark.full("dbt is installed by `make pipelines` only")

ROOT = Path(__file__).parents[2]


def test_dbt_builds_the_scores(tmp_path):
    """`dbt build` loads the seed, makes the scores of the model and checks them."""
    project = shutil.copytree(ROOT / "examples" / "dbt", tmp_path / "dbt")
    (project / "seeds").mkdir()
    shutil.copy(ROOT / "examples" / "loans.csv", project / "seeds" / "loans.csv")
    loans = rw.read_table(ROOT / "examples" / "loans.csv", target="repaid")
    model = rw.CompactRulesClassifier(4, size="max", random_state=0).fit(loans).model_
    model.save(project / "loans.json")
    run(project, sys.executable, "make_model.py", "loans.json", "loans", "models/loan_scores.sql")
    program = "from dbt.cli.main import cli; cli()"
    run(project, sys.executable, "-c", program, "build", "--profiles-dir", ".")
    with duckdb.connect(str(project / "scores.duckdb"), read_only=True) as database:
        rows = database.execute("SELECT probability_yes, label FROM loan_scores").fetchall()
    expected = model.predict_proba(loans)[:, 1]
    np.testing.assert_allclose(np.sort([row[0] for row in rows]), np.sort(expected), rtol=1e-14)
    labels, counts = np.unique(model.predict(loans), return_counts=True)
    assert {label: sum(row[1] == label for row in rows) for label in labels} == dict(
        zip(labels, counts, strict=True)
    )


def run(folder, *command):
    """Run a command in the project and show what it printed if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
