"""The example of docs/interoperability.md logs a model with MLflow and loads it again."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rulewright as rw

mlflow = pytest.importorskip("mlflow", reason="`make pipelines` installs mlflow-skinny")
pytestmark = pytest.mark.full("MLflow is installed by `make pipelines` only")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "interoperability.md"


@pytest.mark.filterwarnings("default")
def test_the_example_of_the_page_works(tmp_path, monkeypatch):
    """The loaded model predicts what the model does."""
    part = PAGE.read_text().partition("## MLflow")[2]
    program = re.search(r"```py\n(.*?)```", part, re.DOTALL)[1]
    loans = pd.read_csv(ROOT / "examples" / "loans.csv")
    X, y = loans.drop(columns="repaid"), loans["repaid"]
    est = rw.CompactRulesClassifier(4, size="max", random_state=0).fit(X, y)
    monkeypatch.chdir(tmp_path)
    names = {"rw": rw, "est": est, "X": X}
    exec(compile(program, str(PAGE), "exec"), names)
    np.testing.assert_array_equal(names["probabilities"], est.model_.predict_proba(X))
