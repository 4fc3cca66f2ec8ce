"""Everything that is read off a vote works for a model that was loaded from a file."""

import json
from pathlib import Path

import numpy as np
import pytest

from rulewright import RuleSetEnsembleClassifier, SL2Classifier, load_model, trust
from rulewright.model.document import ModelFileError, write_document

pytestmark = pytest.mark.native

OLD = Path(__file__).parents[1] / "model" / "version_3" / "votes.json"


def drawn_rows(seed=0, n_rows=120):
    """Draw a numeric column with missing values and a nominal one, and two noisy classes."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n_rows)
    X = {"a": np.where(rng.random(n_rows) < 0.1, np.nan, a), "c": rng.choice(list("xyz"), n_rows)}
    return X, ((a > 0) ^ (rng.random(n_rows) < 0.1)).astype(int)


def quick(**options):
    """Make an ensemble of few and short searches."""
    small = {"max_terms": 2, "n_samples": 3, "max_steps": 150, "max_bins": 4, "random_state": 0}
    return RuleSetEnsembleClassifier(**{**small, **options})


READERS = [
    trust.certificate,
    trust.literal_importance,
    trust.column_importance,
    trust.pair_table,
]


@pytest.mark.parametrize(
    "options",
    [{}, {"single": True, "abstain": 0.5}, {"split_prior": True}, {"allow_thresholds": True}],
)
def test_a_loaded_model_tells_as_much(options, tmp_path):
    """Certificates, statistics, abstention and consensus are those of the fitted model."""
    X, y = drawn_rows()
    weights = np.where(np.arange(len(y)) % 3, 1.0, 2.5)
    model = quick(**options).fit(X, y, sample_weight=weights).model_
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded == model
    assert loaded.smoothing == model.smoothing > 0
    for read in [*READERS, trust.term_table]:
        assert read(loaded) == read(model)
    X_new, y_new = drawn_rows(1)
    for read in (trust.selective_score, trust.held_out_certificate):
        assert read(loaded, X_new, y_new) == read(model, X_new, y_new)
    labels = trust.predict_or_abstain(loaded, X_new, "?")
    assert np.array_equal(labels == "?", model.abstains(X_new))
    assert str(trust.frequent(loaded, X, X_new)) == str(trust.frequent(model, X, X_new))
    student = SL2Classifier(2, size="max", max_steps=100, random_state=0)
    assert 0.5 < trust.distil(loaded, X, student, X_new).held_out_fidelity <= 1.0


@pytest.mark.parametrize("read", READERS)
def test_older_files_predict_and_say_what_they_lack(read):
    """A file without errors of rule sets predicts as before; what needs them names the remedy."""
    old = load_model(OLD)
    assert old.smoothing == 0.0
    assert old.predict_proba({"a": [0.0], "color": ["red"]}).shape == (1, 2)
    assert trust.term_table(old)["weight"]
    with pytest.raises(ValueError, match=r"has no errors of its rule sets.*refit it"):
        read(old)


def test_models_with_other_rules_make_no_claims():
    """Without some of its rules a vote is another one, with other errors."""
    model = quick().fit(*drawn_rows()).model_
    with pytest.raises(ValueError, match="its rules were changed"):
        trust.certificate(model[:2])


def test_priors_of_a_certificate():
    """A vote has the prior of its split or those that count, and an unknown one is named."""
    X, y = drawn_rows()
    plain, split = quick().fit(X, y).model_, quick(split_prior=True).fit(X, y).model_
    assert trust.certificate(plain).prior == "length"
    assert trust.certificate(split).prior == trust.certificate(split, "split").prior == "split"
    for model, prior in ((plain, "split"), (plain, "wide"), (split, "flat")):
        with pytest.raises(ValueError, match=f"prior='{prior}' must be"):
            trust.certificate(model, prior)
    tight, loose = (trust.certificate(plain, delta=delta).vote.raw for delta in (0.2, 0.01))
    assert tight < loose


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("errors", [[1.0]], "errors must have a number for each rule set"),
        ("counts", [[-1.0], []], "counts must be finite and not negative"),
        ("terms", [], "0 terms for"),
        ("terms", [[[9, 1]]], "names attribute 9"),
        ("terms", [[[0, 1 << 20]]], "allows values of 0 that do not exist"),
        ("terms", [[[1, 1], [0, 1]]], "must ascend"),
        ("max_terms", 1.5, "max_terms must be a whole number"),
        ("weighted", 1, "weighted"),
        ("encoding", {}, "'attributes' and 'variables'"),
    ],
)
def test_wrong_evidence_is_refused(key, value, message, tmp_path):
    """A file whose evidence does not fit the model does not load, and the message says why."""
    path = tmp_path / "m.json"
    quick().fit(*drawn_rows()).model_.save(path)
    content = json.loads(path.read_text())
    for name in ("format", "format_version", "library_version", "sha256"):
        del content[name]
    content["evidence"][key] = value
    write_document(path, content)
    with pytest.raises(ModelFileError, match=message):
        load_model(path)
