"""Print a digest of a model of every learner: `make clang` compares those of several builds.

The models hold every rule, response and count; beside them stand the bits of what they predict.
"""

import hashlib
import json
import tempfile
from pathlib import Path

import builders
import rulewright as rw

TABLES = {
    "two classes": builders.Rows(seed=7, n_rows=300),
    "three classes": builders.Rows(seed=8, n_rows=240, n_classes=3, continuous=True),
}


def digest(model, X):
    """Hash the saved model and its predictions; the regressor has no probabilities."""
    predict = getattr(model, "predict_proba", model.predict)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save(file)
        saved = json.loads(file.read_text())["sha256"]
    return hashlib.sha256(saved.encode() + predict(X).tobytes()).hexdigest()[:16]


def print_digests():
    """Fit every learner on every table that it accepts."""
    for table, rows in TABLES.items():
        X, y = rows.table()
        for name, make in builders.LEARNERS.items():
            learner = make()
            if not learner.__sklearn_tags__().classifier_tags.multi_class and rows.n_classes > 2:
                continue
            print(f"{table:14} {name:18} {digest(learner.fit(X, y).model_, X)}")
    X, _ = builders.noisy_rows(9, 300)
    for learner in (rw.CompactRulesRegressor, rw.RuleFitRegressor):
        model = learner(random_state=0).fit(X, X[:, 0] + X[:, 1] * X[:, 2]).model_
        print(f"{'numbers':14} {learner.__name__:18} {digest(model, X)}")


if __name__ == "__main__":
    print_digests()
