"""Learned models in every form they leave in: files, SQL and Python answer as the learner does."""

import builtins
import math
import pickle

import numpy as np
import pytest

import checker
from budget import always
from builders import (
    LEARNERS,
    After,
    averaging,
    compressed,
    costed,
    makers_of,
    mixed_table,
    mlrules,
    ruleset_ensemble,
    sl2,
    slipper,
)
from rulewright import calibrate, load_model
from rulewright.model import AdditiveRules
from rulewright.weighting import CALIBRATIONS

pytestmark = pytest.mark.native

COSTS = np.array([[0.0, 1.0, 2.5], [4.0, 0.0, 1.0], [3.0, 0.5, 0.0]])
NAMES = np.array(["a bad one", "it's fine", "so-so"])


LEARNED = {
    "slipper for the first": (2, slipper(positive_class=NAMES[0]).fit),
    "slipper costs": (2, slipper(cost_matrix=COSTS[:2, :2]).fit),
    "slipper mh": (3, slipper(max_rules=16).fit),
    "slipper mh of two": (2, slipper(multiclass="mh").fit),
    "slipper ovr": (3, slipper(multiclass="ovr").fit),
    "slipper cost": (3, slipper(max_rules=16, cost_matrix=COSTS).fit),
    "slipper cv": (2, slipper(size="cv", calibration="auto").fit),
    "slipper cost isotonic": (3, slipper(cost_matrix=COSTS, calibration="isotonic").fit),
    "slipper compressed": (3, compressed(slipper(max_rules=30), 5).fit),
    "costs": (3, costed(mlrules(), COSTS).fit),
    "isotonic": (3, mlrules(calibration="isotonic").fit),
    "isotonic of two": (2, mlrules(calibration="isotonic").fit),
    "platt and costs": (3, costed(mlrules(calibration="platt"), COSTS).fit),
    "ordinal": (3, mlrules(ordinal=NAMES).fit),
    "ordinal median": (3, costed(mlrules(ordinal=NAMES), "absolute").fit),
    "ordinal isotonic": (3, mlrules(ordinal=NAMES, calibration="isotonic").fit),
    "ordinal compressed": (3, compressed(mlrules(max_rules=40, ordinal=NAMES), 5).fit),
    "compact": (3, costed(compressed(mlrules(max_rules=40), 6), COSTS).fit),
    "lines": (3, mlrules(linear=True).fit),
    "lines compressed": (2, compressed(mlrules(max_rules=40, linear=True), 5).fit),
    "lines ordinal isotonic": (3, mlrules(linear=True, ordinal=NAMES, calibration="isotonic").fit),
    "digits": (3, mlrules(constraints={"digits": 1}, missing_conditions=True).fit),
    "one class": (1, slipper(calibration="isotonic").fit),
    "sl2 thresholds": (3, sl2(allow_thresholds=True, size="cv").fit),
    "sl2 for the first": (2, sl2(positive_class=NAMES[0]).fit),
    "ensemble of one class": (2, ruleset_ensemble(single=True, abstain=0.5).fit),
    "ensemble bagged": (3, ruleset_ensemble(bagging=True, vote_weight="unique").fit),
    "averaging vote": (3, averaging(combine="vote").fit),
    "averaging bma": (2, averaging(combine="bma", estimates="integrated").fit),
    "averaging isotonic": (3, averaging(estimator=mlrules(calibration="isotonic")).fit),
    "ensemble certified": (2, ruleset_ensemble(split_prior=True, allow_thresholds=True).fit),
    **{
        f"{name}, {k} classes": (k, make().fit)
        for name, make in LEARNERS.items()
        for k in range(1, 4)
    },
}
STEPS = {
    "costs": lambda est: costed(est, COSTS),
    "few rules": lambda est: compressed(est, 3),
    **{name: lambda est, name=name: After(est, calibrate, method=name) for name in CALIBRATIONS},
}
"""What may happen to an additive model after its fit."""
STEPPED = {}
for i, (name, make) in enumerate(makers_of(AdditiveRules).items()):
    for j, (step, taken) in enumerate(STEPS.items()):
        key = f"{name}, {step}"
        LEARNED[key] = (3, taken(make()).fit)
        STEPPED[key] = (i - j) % len(STEPS) != 0
TWICE = "the same steps after fits of other learners"
CASES = always([key for key in LEARNED if not STEPPED.get(key)], LEARNED, TWICE)


@pytest.fixture(scope="module", params=CASES)
def learned(request):
    """Fit one of the learners; give it, its columns and those columns as rows of plain values."""
    n_classes, fit = LEARNED[request.param]
    X, y = mixed_table(np.random.default_rng(3), 160, n_classes=n_classes)
    est = fit(X, NAMES[y])
    assert len(est.model_) > 0 or n_classes == 1
    columns = {name: [plain(value) for value in values.tolist()] for name, values in X.items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return est, X, [*rows, dict.fromkeys(columns)]


def plain(value):
    return None if isinstance(value, float) and math.isnan(value) else value


def answers(est, rows):
    """Give scores, probabilities and labels of the learner itself."""
    table = {name: np.array([row[name] for row in rows], dtype=object) for name in rows[0]}
    return est.model_.scores(table), est.predict_proba(table), est.predict(table)


def test_a_saved_model_is_the_same_model(learned, tmp_path):
    """It is equal, prints alike and predicts to the bit; so does a pickled estimator."""
    est, X, _ = learned
    est.model_.save(tmp_path / "model.json")
    model = load_model(tmp_path / "model.json")
    copy = pickle.loads(pickle.dumps(est))
    assert model == est.model_ == copy.model_
    assert str(model) == str(est.model_)
    for other in (model, copy):
        np.testing.assert_array_equal(other.predict_proba(X), est.predict_proba(X))
        np.testing.assert_array_equal(other.predict(X), est.predict(X))


def test_plain_python_reads_the_file(learned, tmp_path):
    """An independent reader of the format gives the learner's answers."""
    est, _, rows = learned
    est.model_.save(tmp_path / "model.json")
    document = checker.load(tmp_path / "model.json")
    scores, p, labels = answers(est, rows)
    for i, row in enumerate(rows):
        found = checker.predict(document, row)
        np.testing.assert_allclose(found[0], scores[i], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found[1], p[i], rtol=1e-12)
        assert found[2] == labels[i]


def test_sql_answers_alike(learned):
    """On rows made to break it the SQL gives the same scores, probabilities and labels."""
    report = learned[0].model_.verify_exports()
    assert report.targets == ("duckdb", "sqlite", "python", "javascript")
    assert report.n_rows > 0


def test_exported_python_answers_alike(learned):
    """The module without dependencies gives the same probabilities and labels."""
    est, _, rows = learned
    space = {"__builtins__": vars(builtins)}
    exec(compile(est.model_.to_python(), "export", "exec"), space)
    _, p, labels = answers(est, rows)
    for i, row in enumerate(rows):
        answer = space["predict_proba"](row)
        assert list(answer) == est.classes_.tolist()
        np.testing.assert_allclose(list(answer.values()), p[i], rtol=1e-12)
        assert space["predict_proba_label"](row) == labels[i]
