"""Write what many fits give as hashes, to show that a change leaves every model as it was.

    python benchmarks/fingerprints.py --out before.json --models models   # at the old commit
    python benchmarks/fingerprints.py --out after.json --like before.json # at the new one
    python benchmarks/fingerprints.py --load models                       # old files, new code

Each fit gives hashes of the saved model, its text, probabilities, explanations and exports.
Parameters that were renamed are listed in RENAMED; the settings noted in a model are compared
under their names of today.
"""

import argparse
import hashlib
import inspect
import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import rulewright as rw
from rulewright import estimators

RENAMED: dict[str, dict[str, str]] = {
    "MLRulesClassifier": {"n_rules": "max_rules"},
    "CompactRulesClassifier": {"teacher": "teacher_share"},
    "SlipperClassifier": {"max_rounds": "max_rules", "threshold": "cut_points"},
    "RipperClassifier": {"threshold": "cut_points"},
    "FOILClassifier": {"threshold": "cut_points"},
    "SL2Classifier": {
        "max_terms": "max_rules",
        "n_bins": "max_bins",
        "thresholds": "allow_thresholds",
    },
    "RuleSetEnsembleClassifier": {
        "n_bins": "max_bins",
        "thresholds": "allow_thresholds",
        "weight": "vote_weight",
    },
    "C45RulesClassifier": {"min_cases": "min_branch_weight"},
    "PARTClassifier": {"min_cases": "min_branch_weight"},
    "StumpClassifier": {"min_cases": "min_branch_weight"},
    "RuleFitClassifier": {"max_rules": "max_candidates", "max_terms": "max_rules"},
    "RuleFitRegressor": {"max_rules": "max_candidates", "max_terms": "max_rules"},
    "RumbleClassifier": {
        "max_rules": "max_candidates",
        "n_rules": "max_rules",
        "n_bins": "max_bins",
    },
    "CN2Classifier": {"max_rules": "rules_per_class"},
    "LRIClassifier": {"n_rules": "rules_per_class", "max_length": "max_conditions"},
}
"""Parameters by class that had another name when fingerprints were first written."""

SIZES = {
    "CompactRulesClassifier": "n_rules",
    "CompactRulesRegressor": "n_rules",
    "SlipperClassifier": "n_rounds",
    "SL2Classifier": "n_terms",
}
"""Parameters that were "cv" or a number of rules, which `size` and `max_rules` say now."""

GROWN = ("criterion", "prune", "class_choice", "column_subsample", "label_sets", "min_evidence")
NOISE = ("p_g1", "p_g2", "p_s")
"""Parameters that are fields of `Growth` and `SearchNoise` now."""

GATHERED = {
    "MLRulesClassifier": ("growth", "auto", rw.Growth, {name: name for name in GROWN}),
    "RumbleClassifier": (
        "norm",
        "l1",
        rw.WeightNorm,
        {"p": "p", "radius": "radius", "constraint": "shape"},
    ),
    "SL2Classifier": ("noise", "usual", rw.SearchNoise, {name: name for name in NOISE}),
    "RuleSetEnsembleClassifier": ("noise", "usual", rw.SearchNoise, {name: name for name in NOISE}),
}
"""Options that hold former parameters: name, word of the default, class, and its fields."""

STOPPED = {
    "MLRulesClassifier": ("stopped_by", {"n_rules": "max_rules"}),
    "RumbleClassifier": ("stop_reasons", {"max_rules": "max_candidates"}),
}
"""Entries of summaries that name the parameter that ended learning."""


def mixed(n_rows=240, seed=3, n_classes=2):
    """Create a table with numbers, labels, missing values and a noisy rule."""
    rng = np.random.default_rng(seed)
    age, income = rng.integers(18, 80, n_rows).astype(float), rng.normal(3000, 900, n_rows)
    purpose = rng.choice(["car", "house", "travel", "other"], n_rows).astype(object)
    score = (age > 45).astype(int) + ((income < 2800) & (purpose != "house"))
    noisy = rng.random(n_rows) < 0.12
    labels = np.where(noisy, rng.integers(0, 3, n_rows), score) % n_classes
    income[rng.random(n_rows) < 0.08] = np.nan
    purpose[rng.random(n_rows) < 0.05] = None
    X = {"age": age, "income": income, "purpose": purpose, "noise": rng.normal(size=n_rows)}
    return X, np.array(["no", "yes", "maybe"], dtype=object)[labels]


def tables():
    """Return the tables by name: columns, target, weights."""
    rng = np.random.default_rng(0)
    found = {}
    for name, load in (("iris", load_iris), ("wine", load_wine), ("cancer", load_breast_cancer)):
        bunch = load()
        X = {str(column): bunch.data[:, i] for i, column in enumerate(bunch.feature_names[:8])}
        found[name] = (X, bunch.target, None)
    bunch = load_diabetes()
    X = {str(column): bunch.data[:, i] for i, column in enumerate(bunch.feature_names)}
    found["diabetes"] = (X, bunch.target, None)
    X, y = mixed()
    found["mixed"] = (X, y, None)
    found["weighted"] = (X, y, rng.integers(0, 4, len(y)).astype(float))
    found["three"] = (*mixed(seed=5, n_classes=3), None)
    found["large"] = (*mixed(n_rows=12_000, seed=7), None)
    return found


FITS = [
    # learner, table, parameters (by their first names)
    *[("compact", t, {}) for t in ("iris", "cancer", "mixed", "weighted", "three")],
    ("compact", "mixed", {"n_rules": 4, "linear": True, "max_conditions": 2}),
    ("compact", "three", {"n_rules": 5, "ordinal": ["no", "maybe", "yes"], "teacher": 0.0}),
    ("compact", "mixed", {"max_rules": 3, "missing_conditions": True, "class_weight": "balanced"}),
    *[("mlrules", t, {}) for t in ("iris", "cancer", "mixed", "weighted", "three", "large")],
    ("mlrules", "mixed", {"n_rules": 30, "linear": True, "prune": True, "min_weight": 2.0}),
    (
        "mlrules",
        "three",
        {"n_rules": 30, "ordinal": ["no", "maybe", "yes"], "calibration": "temperature"},
    ),
    ("mlrules", "cancer", {"n_rules": 40, "criterion": "gradient", "subsample": 0.5}),
    ("mlrules", "wine", {"n_rules": 40, "max_bins": 16, "learning_rate": 0.3}),
    *[("slipper", t, {}) for t in ("iris", "cancer", "mixed", "weighted")],
    ("slipper", "three", {"n_rounds": 12, "max_bins": 10, "threshold": "observed"}),
    *[("sl2", t, {"max_terms": 4, "max_steps": 500, "cv": 3}) for t in ("cancer", "mixed")],
    ("sl2", "weighted", {"n_terms": 2, "thresholds": True, "n_bins": 6, "max_steps": 500}),
    ("ruleset-ensemble", "mixed", {"max_steps": 300, "n_samples": 4}),
    ("ruleset-ensemble", "cancer", {"max_steps": 200, "n_samples": 3, "bagging": True}),
    ("ruleset-ensemble", "weighted", {"max_steps": 200, "n_samples": 3, "abstain": 0.1}),
    ("ruleset-ensemble", "mixed", {"max_steps": 200, "n_samples": 4, "split_prior": True}),
    *[("rulefit", t, {"max_rules": 200}) for t in ("iris", "cancer", "mixed", "weighted")],
    ("rulefit", "three", {"max_rules": 100, "multiclass": "ovr", "penalty": 0.02}),
    ("rulefit", "mixed", {"max_rules": 100, "max_terms": 6, "linear": False}),
    ("rumble", "cancer", {"n_bins": 4, "n_rules": 60}),
    ("rumble", "mixed", {"n_bins": 3, "budget": 1.0, "max_rules": 80}),
    ("rumble", "weighted", {"criterion": "svm1", "budget": 0.5, "n_rules": 40}),
    ("rumble", "three", {"criterion": "margin", "budget": 1.0, "n_rules": 40}),
    *[("ripper", t, {}) for t in ("iris", "cancer", "mixed", "weighted")],
    *[("foil", t, {}) for t in ("iris", "mixed")],
    ("foil", "weighted", {"min_weight": 5.0, "max_bins": 12, "precision_cv": None}),
    *[("c45rules", t, {}) for t in ("iris", "cancer", "mixed", "weighted")],
    ("c45rules", "three", {"max_rules": 5, "min_cases": 4.0}),
    *[("part", t, {}) for t in ("iris", "mixed", "weighted")],
    ("part", "three", {"confidence": 0.1, "precision_cv": None}),
    *[("stump", t, {}) for t in ("iris", "mixed")],
    *[("cn2", t, {}) for t in ("iris", "mixed")],
    ("cn2", "three", {"ordered": True, "max_rules": 5, "max_conditions": 3}),
    ("cn2", "weighted", {"significance": 0.9, "min_weight": 3.0, "weighted_covering": 0.7}),
    ("lri", "iris", {"n_rules": 12}),
    ("lri", "mixed", {"n_rules": 10, "max_length": 3, "freeze": 4}),
    *[("rise", t, {}) for t in ("iris", "mixed")],
    ("averaging", "mixed", {}),
    ("averaging", "three", {"estimator": "ripper", "part_size": 80, "combine": "bmc"}),
]
REGRESSIONS = [
    ("compact", "diabetes", {}),
    ("compact", "diabetes", {"n_rules": 5, "linear": True}),
    ("rulefit", "diabetes", {"max_rules": 200}),
    ("rulefit", "diabetes", {"max_rules": 100, "max_terms": 8, "loss": "huber"}),
]


def make(catalogue, name, parameters):
    """Create a learner, with its parameters under their names of today."""
    learner = catalogue[name]
    return learner(**named_today(learner.__name__, parameters), random_state=0)


def named_today(learner, settings):
    """Give settings of a learner under their names of today."""
    renamed, size = RENAMED.get(learner, {}), SIZES.get(learner)
    found = {renamed.get(key, key): value for key, value in settings.items() if key != size}
    if settings.get(size) == "cv":
        found["size"] = "cv"
    elif size in settings:
        found |= {"max_rules": settings[size], "size": "max"}
    return gathered(found, *GATHERED[learner]) if learner in GATHERED else found


def gathered(settings, name, word, kind, fields):
    """Gather former parameters in an option: its text where there are all of them."""
    option = kind(**{fields[key]: value for key, value in settings.items() if key in fields})
    found = {key: value for key, value in settings.items() if key not in fields}
    if fields.keys() <= settings.keys():
        found[name] = word if option == kind() else repr(option)
    elif option != kind():
        found[name] = option
    return found


def digest(content):
    """Return a short hash of bytes or text."""
    content = content if isinstance(content, bytes) else content.encode()
    return hashlib.sha256(content).hexdigest()[:16]


def today(summary):
    """Return what is noted of a fit, with parameters under their names of today."""
    learner, settings = summary.get("learner", ""), summary.get("settings", {})
    if settings.keys() <= getattr(estimators, learner).DOMAINS.keys():
        return summary
    found = {**summary, "settings": named_today(learner, settings)}
    entry, words = STOPPED.get(learner, ("", {}))
    if isinstance(reasons := found.get(entry), list):
        found[entry] = [words.get(one, one) for one in reasons]
    elif reasons is not None:
        found[entry] = words.get(reasons, reasons)
    return found


def content_today(content):
    """Return a saved model, and those it averages, with settings under their names of today."""
    found = {**content, "summary": today(content.get("summary", {}))}
    if content["form"] == "average":
        found["members"] = [content_today(one) for one in content["members"]]
    return found


def saved(model, path):
    """Save a model; return its content without its hash, and with settings of today."""
    model.save(path)
    content = json.loads(Path(path).read_text())
    for key in ("sha256", "library_version"):
        content.pop(key, None)
    return content


def written(model, X):
    """Hash all that a model says of a few rows."""
    few = {name: column[:40] for name, column in X.items()}
    parts = {"text": str(model), "html": model._repr_html_()}
    parts["predict"] = model.predict(X).astype(str).tobytes()
    if model.n_classes is not None:
        parts["proba"] = model.predict_proba(X).tobytes()
        parts["scores"] = model.scores(X).tobytes()
    explained = model.explain(few)
    parts["explain"] = json.dumps(explained.to_dict(), default=str) + str(explained)
    for name in ("to_sql", "to_python", "to_javascript"):
        try:
            parts[name] = getattr(model, name)()
        except ValueError as error:
            parts[name] = f"{type(error).__name__}: {error}"
    return {name: digest(part) for name, part in parts.items()}


def fingerprints(folder):
    """Fit everything; yield a name, hashes with the saved content, and the columns."""
    found = tables()
    jobs = [(estimators.LEARNERS, *job) for job in FITS]
    jobs += [(estimators.REGRESSORS, *job) for job in REGRESSIONS]
    for number, (catalogue, name, table, parameters) in enumerate(jobs):
        X, y, weights = found[table]
        learner = make(catalogue, name, parameters)
        title = f"{number:02d}-{name}-{table}"
        model = learner.fit(X, y, sample_weight=weights).model_
        content = saved(model, folder / f"{title}.json")
        yield title, {"file": content, **written(model, X)}, X


def differences(old, new):
    """Yield what differs between two sets of fingerprints."""
    for title, before in old.items():
        after = new.get(title)
        if after is None:
            yield f"{title}: missing"
            continue
        for part in before:
            one, two = before[part], after.get(part)
            if part == "file":
                one, two = content_today(one), content_today(two)
                yield from (f"{title}: file: {k}" for k in one if one[k] != two.get(k))
            elif one != two:
                yield f"{title}: {part}"


def load(folder):
    """Load saved models and compare what they predict with what was noted beside them."""
    found, wrong = tables(), 0
    for path in sorted(folder.glob("*.json")):
        model = rw.load_model(path)
        X = found[path.stem.split("-")[-1]][0]
        noted = json.loads(path.with_suffix(".hashes").read_text())
        differing = [part for part, value in written(model, X).items() if value != noted[part]]
        wrong += bool(differing)
        if differing:
            print(f"{path.stem}: {', '.join(differing)}")
    print(f"{wrong} of {len(list(folder.glob('*.json')))} loaded models differ")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=inspect.getdoc(sys.modules[__name__]))
    parser.add_argument("--out", type=Path, help="write the fingerprints here")
    parser.add_argument("--like", type=Path, help="compare with these")
    parser.add_argument("--models", type=Path, help="keep the saved models here")
    parser.add_argument("--load", type=Path, help="load models kept by --models instead of fitting")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.load:
        return load(options.load)
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.models or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for title, parts, X in fingerprints(folder):
            found[title] = parts
            loaded = written(rw.load_model(folder / f"{title}.json"), X)
            (folder / f"{title}.hashes").write_text(json.dumps(loaded))
            print(title, flush=True)
    if options.out:
        options.out.write_text(json.dumps(found))
    if not options.like:
        return 0
    changed = list(differences(json.loads(options.like.read_text()), found))
    print(*changed, f"{len(changed)} parts of {len(found)} fits differ", sep="\n")
    return len(changed)


if __name__ == "__main__":
    sys.exit(bool(main()))
