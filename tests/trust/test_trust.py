"""Sets, intervals and abstention keep their promises on exchangeable rows."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from report.models import MODELS, model_and_rows
from rulewright.data import DataError, read_table
from rulewright.model import AdditiveRules, ClassModel, RegressionRules, load_model
from rulewright.rules import Adds, Coverage, NumberCoverage, Rule, parse_formula
from rulewright.trust import abstain_at, conformal, venn_abers

pytestmark = pytest.mark.native

SCHEMA = read_table({"a": [0.5], "b": [0.5]}).schema


def class_model(*rules, classes=("no", "yes")):
    """Make a model of (body, head, response)."""
    empty = Coverage.of((0.0,) * len(classes))
    made = tuple(Rule(parse_formula(b), Adds(h, r), empty) for b, h, r in rules)
    return AdditiveRules(SCHEMA, np.array(classes), (0.0,) * len(classes), made, {})


THREE = class_model(
    ("a > 0", 0, 2.0), ("b > 0", 1, 1.5), ("a < -1", 2, 1.0), classes=("p", "q", "r")
)
TWO = class_model(("a > 0", 1, 1.0), ("a > 0.7", 1, 3.0), ("b > 0", 0, 0.5))
COVERAGE = NumberCoverage(1.0, 0.0, 0.0)
LINE = RegressionRules(SCHEMA, 0.0, (Rule(parse_formula("a > 0"), Adds(0, 2.0), COVERAGE),), {})
SPREAD = RegressionRules(SCHEMA, 0.5, (Rule(parse_formula("b > 0"), Adds(0, 3.0), COVERAGE),), {})


def rows_of(rng, n):
    """Draw two columns."""
    return {"a": rng.normal(size=n), "b": rng.normal(size=n)}


def three_classes(rng, n):
    """Draw rows with classes that the model knows badly."""
    X = rows_of(rng, n)
    best = np.where(X["a"] > 0.3, "p", np.where(X["b"] > 0, "q", "r"))
    return X, np.where(rng.random(n) < 0.3, rng.choice(["p", "q", "r"], n), best)


def numbers(rng, n):
    """Draw rows with numbers whose noise depends on a column."""
    X = rows_of(rng, n)
    return X, 2.0 * (X["a"] > 0.2) + rng.normal(size=n) * np.where(X["b"] > 0, 2.0, 0.5)


def part(X, rows):
    """Take some of the rows."""
    return {name: values[rows] for name, values in X.items()}


@pytest.mark.parametrize("by_class", [False, True])
def test_sets_hold_the_class_often_enough(by_class):
    """Over draws of calibration rows and new rows, coverage is that asked for, and not much more.

    With `by_class` this holds for each of the classes.
    """
    rng = np.random.default_rng(0)
    repeats, n_new = 300, 200
    shares = []
    for _ in range(repeats):
        X, y = three_classes(rng, 80 + n_new)
        calibration, new = part(X, slice(80)), part(X, slice(80, None))
        found = conformal(THREE, calibration, y[:80], alpha=0.2, by_class=by_class)
        counted = found.evaluate(new, y[80:])
        shares.append([counted.share, *counted.by_class.values()])
    mean, error = np.mean(shares, axis=0), np.std(shares, axis=0) / repeats**0.5
    promised = mean if by_class else mean[:1]
    assert (promised >= 0.8 - 3 * error[: len(promised)]).all()
    assert mean[0] < 0.95
    if not by_class:
        assert mean.min() < 0.8  # some class gets less, which by_class mends


@pytest.mark.parametrize("scale", [None, SPREAD])
def test_intervals_hold_the_number_often_enough(scale):
    """Intervals hold 90 % of new numbers; with a scale also where the noise is large."""
    rng = np.random.default_rng(1)
    shares, noisy = [], []
    for _ in range(200):
        X, y = numbers(rng, 300)
        found = conformal(LINE, part(X, slice(100)), y[:100], scale=scale)
        low, high = found.predict(part(X, slice(100, None))).T
        held = (low <= y[100:]) & (y[100:] <= high)
        shares.append(held.mean())
        noisy.append(held[X["b"][100:] > 0].mean())
        assert found.evaluate(part(X, slice(100, None)), y[100:]).share == held.mean()
    assert 0.9 - 3 * np.std(shares) / 200**0.5 <= np.mean(shares) < 0.93
    assert (np.mean(noisy) > 0.87) == (scale is not None)


def test_abstention_keeps_its_promise():
    """The error among predictions of new rows exceeds the target in few draws only."""
    rng = np.random.default_rng(2)

    def draw(n):
        X = rows_of(rng, n)
        chance = np.where(X["a"] > 0.7, 0.99, np.where(X["a"] > 0, 0.71, 0.3))
        return X, np.where(rng.random(n) < chance, "yes", "no")

    X_new, y_new = draw(200_000)
    wrong = TWO.predict(X_new) != y_new
    leads = []
    for _ in range(200):
        found = abstain_at(TWO, *draw(1500), target_error=0.1, delta=0.02)
        leads.append(found.lead)
    kept = {lead: ~replace(found, lead=lead).abstains(X_new) for lead in set(leads)}
    broken = sum(wrong[kept[lead]].mean() > 0.1 for lead in leads)
    assert broken <= 0.02 * 200 + 3 * (0.02 * 200) ** 0.5
    assert min(kept[lead].mean() for lead in leads) > 0.1
    labels = found.predict(X_new, "?")
    assert ((labels == "?") == found.abstains(X_new)).all()
    assert "at most 10.0% of new predictions are wrong, with confidence 98%" in str(found)
    with pytest.raises(ValueError, match=r"target_error=0\.001 is not reached"):
        abstain_at(TWO, *draw(100), target_error=0.001)


def test_sets_by_hand():
    """Rows that are clear have one class; a class without rows is always in the set of its own."""
    X = {"a": [1.0, 1.0, -1.0, -1.0], "b": [-1.0] * 4}
    found = conformal(TWO, X, ["yes", "yes", "no", "no"], alpha=0.4, by_class=False)
    assert found.counts == (4, 4)
    sets = found.predict({"a": [1.0, -1.0], "b": [-1.0, -1.0]})
    assert sets.labels() == [["yes"], ["no", "yes"]]
    assert sets.certain.tolist() == [True, False]
    assert found.predict_or_abstain({"a": [1.0, -1.0], "b": [-1.0, -1.0]}, "?").tolist() == [
        "yes",
        "?",
    ]
    assert str(sets) == (
        "sets of 2 rows: 1 with 1 class, 1 with 2 classes\n  row 0: {yes}\n  row 1: {no, yes}"
    )
    assert sets.to_frame("pandas")["in_no"].tolist() == [False, True]
    lonely = conformal(TWO, X, ["yes"] * 4, alpha=0.4, by_class=True)
    assert lonely.thresholds[0] == np.inf
    assert "no: always in the set (no calibration rows)" in str(lonely)
    unknown = conformal(TWO, X, ["yes", "yes", "maybe", "maybe"], alpha=0.4)
    assert np.isinf(unknown.thresholds).all()
    assert unknown.evaluate(X, ["maybe", "no", "no", "no"]).share == 0.75


def venn_abers_twin(said, truth, new):
    """Fit isotonic regressions with the new row taken for each of the classes."""
    ends = []
    for x in new:
        fits = [IsotonicRegression().fit([*said, x], [*truth, label]) for label in (0.0, 1.0)]
        ends.append([float(fit.predict([x])[0]) for fit in fits])
    return np.array(ends)


@pytest.mark.parametrize("n", [1, 7, 60])
def test_venn_abers_is_that_of_two_isotonic_regressions(n):
    """The ends are those of calibration with the new row, and one probability lies between."""
    rng = np.random.default_rng(n)
    X, y = three_classes(rng, n + 8)
    new = part(X, slice(n, None))
    found = venn_abers(THREE, part(X, slice(n)), y[:n]).predict(new)
    for k, name in enumerate("pqr"):
        said = THREE.predict_proba(part(X, slice(n)))[:, k]
        ends = venn_abers_twin(said, (y[:n] == name) * 1.0, THREE.predict_proba(new)[:, k])
        np.testing.assert_allclose(found.low[:, k], ends[:, 0], atol=1e-12)
        np.testing.assert_allclose(found.high[:, k], ends[:, 1], atol=1e-12)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    assert (found.low <= found.high).all()


def test_venn_abers_of_two_classes_are_complements():
    """What one class has at most the other has at least."""
    rng = np.random.default_rng(3)
    X = rows_of(rng, 100)
    found = venn_abers(TWO, X, np.where(X["a"] > 0, "yes", "no")).predict(X)
    np.testing.assert_allclose(found.low[:, 0], 1 - found.high[:, 1])
    inside = (found.low - 1e-9 <= found.probabilities) & (found.probabilities <= found.high + 1e-9)
    assert inside.all()
    assert list(found.to_frame("pandas")) == [
        f"{end}_{name}" for name in ("no", "yes") for end in ("p", "low", "high")
    ]


@pytest.mark.parametrize("name", MODELS)
def test_every_form_and_loaded_models(name, tmp_path):
    """Sets and intervals work for every form, and for a loaded model they are the same.

    Counts and times have neither, which is an error.
    """
    model, rows = model_and_rows(name)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert (model.task in ("counts", "survival")) == (name in ("counts", "times"))
    if name in ("counts", "times"):
        refused = f"conformal needs a model of classes or numbers, not of {model.task}"
        for made in (model, loaded):
            with pytest.raises(ValueError, match=refused):
                conformal(made, rows, None)
        return
    halves = [rows.take(np.arange(len(rows))[half::2]) for half in (0, 1)]
    one, two = (conformal(m, halves[0], None).evaluate(halves[1], None) for m in (model, loaded))
    assert one == two
    assert 0.75 < one.share <= 1.0
    assert str(one).startswith(f"coverage {one.share:.3f} [")
    if isinstance(model, ClassModel):
        found = venn_abers(loaded, halves[0], None).predict(halves[1])
        assert ((found.low >= 0) & (found.high <= 1)).all()


def test_without_the_library_the_extra_is_named(monkeypatch):
    """A missing library is an error that says what to install."""
    monkeypatch.setitem(sys.modules, "venn_abers", None)
    with pytest.raises(ImportError, match=r"pip install rulewright\[trust\]"):
        venn_abers(TWO, rows_of(np.random.default_rng(0), 9), ["yes"] * 9)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda X, y: conformal(TWO, X, y, alpha=0), "alpha"),
        (lambda X, y: conformal(TWO, X, y, scale=SPREAD), "scale needs a regression model"),
        (lambda X, y: conformal(LINE, X, [1.0] * 5, by_class=True), "by_class needs a"),
        (lambda X, y: conformal(LINE, X, [1.0] * 5, scale=TWO), "scale must be a regression model"),
        (lambda X, y: conformal("x", X, y), "conformal needs a model with rules"),
        (lambda X, y: abstain_at(LINE, X, y, 0.1), "abstain_at needs a classification model"),
        (lambda X, y: abstain_at(TWO, X, y, 1.5), "target_error=1.5 must lie between 0 and 1"),
        (lambda X, y: venn_abers(LINE, X, y), "venn_abers needs a classification model"),
        (lambda X, y: venn_abers(TWO, X, ["?", *y[1:]]), "a class unknown to the model"),
        (lambda X, y: conformal(TWO, X, ["?"] * 5), "The targets have no class of the model"),
    ],
)
def test_wrong_input_is_named(call, error):
    """Every message names what is wrong."""
    X = rows_of(np.random.default_rng(0), 5)
    with pytest.raises((ValueError, DataError), match=error):
        call(X, ["yes", "no", "no", "yes", "no"])
