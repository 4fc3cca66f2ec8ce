import inspect
import math
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from budget import crossed
from builders import LEARNERS, Rows, every_learner, fitted, mixed_table
from rulewright import (
    Formulation,
    Growth,
    Isotonic,
    MLRulesClassifier,
    Platt,
    SearchNoise,
    Temperature,
    Validation,
    WeightNorm,
    Window,
)
from rulewright.estimators.contract.parameters import (
    Choice,
    Flag,
    Integer,
    Named,
    OrderDomain,
    Real,
    check_parameters,
    parse_settings,
)
from rulewright.estimators.mlrules.settings import GROWTHS
from rulewright.search import Base
from rulewright.stopping import STOPPING, Stopping

pytestmark = pytest.mark.native

NAMED = Named(STOPPING, Stopping, words=("auto",))

WRONG = {
    "max_rules": [-1, 2.5, "5", None, True, math.nan],
    "size": ["CV", None, 3],
    "learning_rate": [0, -0.1, 1.01, math.nan, math.inf, "0.1", None, True, 10**400],
    "subsample": [0, 1.5, math.nan, None],
    "criterion": ["Mmv", None, 3, ["mmv"]],
    "l2": [-1e-9, math.inf, math.nan, "1", 10**400],
    "max_conditions": [0, -1, 2.0, "2", None],
    "min_weight": [-1, math.inf, math.nan, None, "2"],
    "min_branch_weight": [-1, math.inf, math.nan, None, "2"],
    "growth": ["fast", None, 3, Formulation()],
    "formulation": ["best", None, 3, Window()],
    "cut_points": ["middle", None],
    "missing_conditions": [0, "no"],
    "max_bins": [1, 0, -5, 2.5, "many", None],
    "stopping": ["early", None, True, Window, Formulation()],
    "ordinal": ["yes", 1, None, {}],
    "warm_start": [1, None],
    "cv": [1, 2.5, None, "five", True],
    "multiclass": ["any", None, 3],
    "grow_share": [0, 1.5, math.nan, None],
    "n_optimizations": [-1, 1.5, None, True],
    "prune_by": ["foil", None],
    "min_accuracy": [-0.1, 1.1, math.nan, None],
    "stratify": [1, None],
    "allow_not_equal": ["no", None],
    "calibration": ["Platt", True, 3],
    "max_terms": [0, -1, 2.5, "cv", None, True],
    "max_steps": [0, -1, 1e3, None, True],
    "n_restarts": [0, 1.5, None],
    "minimise": [1, "yes", None],
    "noise": ["much", None, 0.1],
    "init": ["random", None, 3],
    "allow_thresholds": [1, "no", None],
    "precision_cv": [1, 0, -3, 2.5, "cv", True],
    "time_limit": [0, -1, math.inf, math.nan, "1 s"],
    "n_samples": [0, -1, 2.5, None, True],
    "alpha": [0, -1, 1.1, math.nan, "0.9"],
    "nu": [-1, math.inf, "1"],
    "vote_weight": ["once", None, 1],
    "single": [1, None],
    "abstain": [-0.1, math.nan, None],
    "bagging": [1, "yes", None],
    "target_error": [-0.1, 1.1, math.nan],
    "max_candidates": [-1, 2.5, "5", None, True],
    "rules_per_class": [0, 2.5, "5", None, True],
    "condition_cost": [-0.1, math.nan, None],
    "teacher_share": [-0.1, 1.1, math.nan, None, "0.5"],
    "min_gain": [-0.1, math.nan, None],
    "n_subsamples": [-1, 2.5, None],
    "tree_size": [1.9, math.nan, math.inf, None, "4"],
    "inter_supp": [0.9, math.nan, None],
    "linear": [1, None],
    "solver": ["lasso", None, 3],
    "penalty": ["2se", 0, -1, math.nan, None],
    "rule_scale": ["size", None],
    "loss": ["hinge", None, 3],
    "split_prior": [1, None],
    "shrink": [1, None],
    "max_points": [0, 2.5, "5"],
    "max_range": [0, 2.5, "5"],
    "max_nodes": [-1, 2.5, None],
    "scale": [20, "pdo", [20, 600, 50]],
    "signs": ["+", ["a"], {"a": "up"}, 1],
    "use_columns": ["a", 3, [1]],
    "norm": ["l0", None, 2, Growth()],
    "budget": [0, -1, math.nan, math.inf, None, "CV"],
    "pairs": ["xor", "none", 3],
    "max_active": [0, -1, 2.5, None, True],
    "capacity": [-0.1, math.nan, math.inf, "1"],
    "delta": [0, 1, -0.1, math.nan, None],
    "bias_share": [-0.1, 1, math.nan, None],
    "ordered": [1, "yes", None],
    "beam_width": [0, 2.5, None],
    "significance": [-0.1, 1.1, math.nan, None],
    "weighted_covering": [0, 1.1, math.nan, "1/k"],
    "max_disjuncts": [0, 2.5, None],
    "freeze": [0, 2.5, None],
    "confidence": [0, 1.1, math.nan, None],
    "missing_labels": [1, "yes", None],
    "exceptions": ["paper", None, 3],
    "q": [0.9, math.nan, math.inf, None],
    "max_passes": [-1, 2.5, "all"],
    "estimator": ["trees", None, 3],
    "part_size": [1, 2.5, None],
    "combine": ["sum", None, 3],
    "evidence": ["heldout", None],
    "estimates": ["counts", None],
    "beta": [-0.1, math.nan, math.inf, "1"],
    "n_draws": [0, 2.5, None],
    "n_refits": [0, 2.5, None],
    "win_counts": ["all", None],
}
"""Values outside the declared domains, by parameter."""

LISTED = "must be Constraints or a dict with monotone, .*, not"


class OneAnswer:
    """A classifier that gives all rows the same probabilities."""

    def __init__(self, classes, probabilities=None):
        self.classes_, self.probabilities = classes, probabilities or [1.0] * len(classes)

    def predict_proba(self, X):
        """Return the probabilities."""
        return np.tile(self.probabilities, (len(X["a"]), 1))


WRONG_FOR_FIT = {
    "teacher": [
        (3, "must be a fitted classifier"),
        (OneAnswer(["a", "b", "c"]), "must know the classes of y"),
        (OneAnswer([0, 1], [0.0, 0.0]), "negative, missing or all 0"),
    ],
    "rules": [
        ([3], "expected conjunctions, got int"),
        (["x <= 1"], "expected conjunctions, got str"),
        (3, "a list of conjunctions, got int"),
    ],
    "bias": [
        (3, "must be a Bias, a list of generators or a path"),
        (["base"], "'base' is not a generator of rules"),
        ("no such file.toml", "cannot be read: No such file"),
        ([Base(["zz"])], "there is no column 'zz'. There are: a, b"),
    ],
    "positive_class": [
        (value, "is not one of the classes: 0, 1")
        for value in ("no such class", 2, math.nan, [1], (0, 1), {}, np.array([0, 1]), pd.NA)
    ],
    "cost_matrix": [
        ("relative", "must be an array, 'absolute' or none"),
        ([1], "2 rows of 2 numbers"),
        ([[1, 0], [0, 1]], "predicting '0' for '0' is 1"),
        ([[0, -1], [1, 0]], "predicting '1' for '0' is -1"),
        (3, "2 rows of 2 numbers"),
        ({}, "costs by name must be {true: {predicted: cost}}"),
        ([["a"]], "could not convert string to float: 'a'"),
    ],
    "decision": [
        ("best", "must be .accuracy., .balanced., a threshold"),
        (2, "threshold 2 must be a probability above 0 and below 1"),
        ({"maybe": 0.5}, "'maybe' is not a class. There are: 0, 1."),
        ([[0, -1], [1, 0]], "predicting '1' for '0' is -1"),
        ({}, "costs by name must be {true: {predicted: cost}}"),
    ],
    "class_weight": [
        ("even", "must be a dict {class: weight}, .balanced. or None"),
        ({0: -1}, "weights must be finite and >= 0"),
        ({0: "x"}, "could not convert string to float: 'x'"),
        ([1, 2], "must be a dict {class: weight}, .balanced. or None"),
        (3, "must be a dict {class: weight}, .balanced. or None"),
    ],
    "constraints": [
        ("a <= 1", LISTED),
        (3, LISTED),
        (["a"], LISTED),
        ({"digits": 0}, "^digits: .* integer from 1 to 15, not 0"),
        ({"monotone": {"zz": "increasing"}}, "^monotone: there is no column 'zz'. There are: a, b"),
    ],
    "random_state": [
        ("seed", "'seed' cannot be used to seed"),
        (-1, "Seed must be between 0 and"),
        (2**40, "Seed must be between 0 and"),
        (1.5, "1.5 cannot be used to seed"),
    ],
    "n_jobs": [
        ("two", "integer other than 0, or None"),
        (1.5, "integer other than 0, or None"),
        (0, "integer other than 0, or None"),
        (True, "integer other than 0, or None"),
        (2**40, "at most 1024; -1 uses all processors"),
    ],
    "categorical_features": [
        (3.5, "a list of columns, got 3.5"),
        ("no such column", "there is no such column. There are: a, b, color, c"),
        ([99], "there are only 4 columns"),
        ([["a"]], r"by name or position, got \['a'\]"),
    ],
    "verbose": [],  # any value is true or false
}
"""Values that only `fit` can judge, with what the error says of their domain."""

NAMED_OTHERWISE = {
    "random_state": r"(?i)seed",  # scikit-learn words the error
    "constraints": "constraints|digits|monotone",  # an entry stands for its dict
}


ENCODED = ("sl2", "ruleset-ensemble", "rumble")
"""Learners that need intervals."""

ALLOWED = {
    ("rulefit", "learning_rate", 0),  # bagging
    ("rulefit", "subsample", None),
    ("mlrules", "max_rules", None),
    ("rulefit", "max_rules", None),
    ("compact", "max_rules", None),
    ("compact", "cv", None),
    ("rumble", "max_rules", None),
    ("rumble", "max_candidates", None),
    ("cn2", "rules_per_class", None),
    ("rise", "part_size", None),
    *((name, "max_conditions", None) for name in LEARNERS if name != "lri"),
    *((name, "max_bins", None) for name in LEARNERS if name not in ENCODED),
}
"""Values that only this learner takes."""


def wrong_values(learner, name):
    """Give the values of a parameter that a learner must refuse."""
    own = [value for one, of, value in ALLOWED if (one, of) == (learner, name)]
    return [value for value in WRONG[name] if not any(value is other for other in own)]


def parameters(wrong, once=False):
    """Give every learner with each of its parameters, or each domain of a parameter once."""
    seen = set()
    for learner, make in LEARNERS.items():
        for name in wrong.keys() & make().get_params().keys():
            key = name, str(make().DOMAINS[name])
            if not once or key not in seen:
                yield pytest.param(learner, name, id=f"{learner}-{name}")
            seen.add(key)


def assert_refused(learner, name, value):
    """Fit, which must raise an error that names learner, parameter, value and domain."""
    est = LEARNERS[learner](**{name: value})
    with pytest.raises(ValueError, match=re.escape(f" must be {est.DOMAINS[name]}")) as caught:
        est.fit(*mixed_table(np.random.default_rng(0), 20))
    assert str(caught.value).startswith(f"{type(est).__name__}: {name}={value!r} ")


@pytest.mark.parametrize(("learner", "name"), sorted(parameters(WRONG, once=True)))
def test_values_outside_the_domain_are_refused(learner, name):
    """All wrong values of a domain, for one of the learners that have it."""
    for value in wrong_values(learner, name):
        assert_refused(learner, name, value)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_checks_its_domains(learner):
    """One wrong value of each parameter."""
    for name in WRONG.keys() & LEARNERS[learner]().get_params().keys():
        assert_refused(learner, name, wrong_values(learner, name)[0])


@pytest.mark.parametrize(("learner", "name"), sorted(parameters(WRONG_FOR_FIT)))
def test_values_that_fit_refuses(learner, name):
    """The error names the parameter and what it may be."""
    X, y = mixed_table(np.random.default_rng(0), 20)
    for value, domain in WRONG_FOR_FIT[name]:
        with pytest.raises(ValueError, match=domain) as caught:
            LEARNERS[learner](**{name: value}).fit(X, y)
        assert re.search(NAMED_OTHERWISE.get(name, name), str(caught.value))


@pytest.mark.parametrize(
    ("make", "name", "values"),
    [
        (Window, "size", [0, -1, None, 2.5, True, "10"]),
        (Window, "most_bad", [-1, 0, 51, 1.5]),
        (Window, "chance", ["mean", None, "random"]),
        (Validation, "validation_fraction", [0, 1, -1, math.nan, None, True]),
        (Validation, "n_iter_no_change", [0, None, 1.5]),
        (Growth, "criterion", ["Newton", None, 3, ["newton"]]),
        (Growth, "prune", [1, "yes"]),
        (Growth, "class_choice", ["any", None]),
        (Growth, "column_subsample", [0, 1.5, math.nan, None]),
        (Growth, "label_sets", [0, "no", None]),
        (Growth, "other_classes", [0, "no", None]),
        (Growth, "min_evidence", [-1, math.nan]),
        (Formulation, "default_rule", ["best", None, 3, ["exact"]]),
        (Formulation, "backtracking", ["yes", 1, None]),
        (Formulation, "cut_points", ["middle", None]),
        (SearchNoise, "p_g1", [-0.1, 1.1, math.nan, None, True]),
        (SearchNoise, "p_g2", [-0.1, 1.1, "0.1"]),
        (SearchNoise, "p_s", [-0.1, 1.1, math.inf]),
        (WeightNorm, "p", [0.9, 0, math.nan, -math.inf, None, "2"]),
        (WeightNorm, "radius", [0, -1, math.nan, math.inf, None, "1"]),
        (WeightNorm, "shape", ["cube", None, 2]),
        (Temperature, "cv", [1, 0, -3, 2.5, None, "five", True]),
        (Platt, "cv", [1, None]),
        (Isotonic, "cv", [1, None]),
    ],
)
def test_objects_refuse_wrong_values(make, name, values):
    """The objects that parameters take check their own settings when they are made."""
    for value in values:
        with pytest.raises(ValueError, match=name):
            make(**{name: value})


def test_every_parameter_has_wrong_values():
    """The lists above have all parameters of all learners and no others."""
    known = [name for make in LEARNERS.values() for name in make().get_params(deep=False)]
    assert set(known) == {*WRONG, *WRONG_FOR_FIT}
    assert not WRONG.keys() & WRONG_FOR_FIT.keys()


@every_learner
def test_small_learners_depend_on_no_default(make):
    """The makers of the tests set every parameter but those that change no rules."""
    source = inspect.getsource(make)
    unset = [n for n in make().get_params(deep=False) if f'"{n}":' not in source]
    assert set(unset) <= {"categorical_features", "decision", "verbose"}


def test_numbers_of_numpy_are_numbers():
    """Parameters may come from a NumPy grid."""
    assert Integer(0).accepts(np.int32(3))
    assert Real(0, 1).accepts(np.float32(0.5))
    assert Real(0).accepts(3)
    assert not Integer(0).accepts(np.float64(3))
    assert not Real(0, 1, above=True).accepts(0.0)


@pytest.mark.parametrize(
    ("domain", "text", "value"),
    [
        (Integer(1, optional=True), "none", None),
        (Integer(1, words=("cv",)), "cv", "cv"),
        (Choice(("a", "b"), optional=True), "none", None),
        (Integer(1), "7", 7),
        (Real(0), "1e-3", 1e-3),
        (Choice(("a", "b")), "b", "b"),
        (Flag(), "True", True),
        (OrderDomain(), "false", False),
        (OrderDomain(), "low<medium < high", ["low", "medium", "high"]),
        (NAMED, "window", "window"),
        (NAMED, "none", "none"),
        (NAMED, "window(size=10, chance=uniform, most_bad=none)", Window(10, chance="uniform")),
        (NAMED, "validation(validation_fraction=0.25)", Validation(0.25)),
    ],
)
def test_texts_are_parsed_by_their_domain(domain, text, value):
    """Settings of the command line become values."""
    assert parse_settings("X", {"p": text}, {"p": domain}) == {"p": value}


@pytest.mark.parametrize(
    ("domain", "text"),
    [
        (Integer(1), "0"),
        (Integer(1), "none"),
        (Integer(1), "cv"),
        (Choice(("a", "b")), "none"),
        (Integer(1), "x"),
        (Real(0), "-1"),
        (Real(0), "nan"),
        (Choice(("a",)), "z"),
        (Flag(), "perhaps"),
        (NAMED, "wind"),
        (NAMED, "window(0)"),
        (NAMED, "window(size=0)"),
        (NAMED, "window(width=3)"),
        (NAMED, "__import__(name=3)"),
        (NAMED, "window(size="),
    ],
)
def test_wrong_texts_name_the_parameter(domain, text):
    """The error names the parameter, the text and the domain."""
    told = rf"(?i)p=.*{re.escape(text)}.* must be {str(domain)[:6]}"
    with pytest.raises(ValueError, match=told):
        parse_settings("X", {"p": text}, {"p": domain})


def test_unknown_settings_are_listed():
    """A misspelt parameter gets similar ones, or the list of those that exist."""
    known = {"learning_rate": Real(0), "l2": Real(0)}
    with pytest.raises(ValueError, match=r"no parameter 'shrink'\. There are: l2, learning_rate"):
        parse_settings("X", {"shrink": "1"}, known)
    with pytest.raises(
        ValueError, match=r"no parameter 'learn_rate'\. Did you mean learning_rate\?"
    ):
        parse_settings("X", {"learn_rate": "1"}, known)
    wrong = r"Invalid parameter 'n_rule' of MLRulesClassifier\. Did you mean max_rules\?"
    with pytest.raises(ValueError, match=wrong):
        MLRulesClassifier().set_params(n_rule=3)
    with pytest.raises(TypeError, match=r"^MLRulesClassifier has no parameter 'n_rule'\. Did you"):
        MLRulesClassifier(n_rule=3)
    assert MLRulesClassifier().set_params(max_rules=3).max_rules == 3
    with pytest.raises(ValueError, match="X: p=7 must be one of a, b"):
        check_parameters("X", {"p": 7}, {"p": Choice(("a", "b"))})


SHARED = {"class_weight", "decision", "categorical_features", "random_state", "n_jobs", "verbose"}


@every_learner
def test_no_learner_has_more_than_sixteen_parameters_of_its_own(make):
    """What is rarely set is in option objects."""
    assert len(make().get_params(deep=False).keys() - SHARED) <= 16


@pytest.mark.parametrize(
    ("learner", "name", "text", "option"),
    [
        (
            "mlrules",
            "growth",
            "auto(prune=prefix, label_sets=true)",
            Growth("newton", "prefix", label_sets=True),
        ),
        (
            "mlrules",
            "growth",
            "published(criterion=gradient)",
            GROWTHS["published"](criterion="gradient"),
        ),
        ("rumble", "norm", "l2(radius=0.5, shape=sphere)", WeightNorm(2.0, 0.5, "sphere")),
        ("sl2", "noise", "swapped(p_s=0.3)", SearchNoise(0.1, 0.2, 0.3)),
        ("ruleset-ensemble", "noise", "usual(p_s=0)", SearchNoise(p_s=0)),
    ],
)
def test_options_are_read_from_the_command_line(learner, name, text, option):
    """A word with settings in brackets is the option object."""
    assert type(LEARNERS[learner]()).DOMAINS[name].parse(text) == option


FOLDED = {"calibration": "platt", "size": "cv"}
"""Settings that let learners use folds, which run on threads."""

MANY_THREADS = """
import numpy as np
from rulewright import MLRulesClassifier
X = np.random.default_rng(0).normal(size=(20000, 20))
y = (X[:, 0] > 0).astype(int)
try:
    est = MLRulesClassifier(2, n_jobs=100000).fit(X, y)
    est.predict(X)
except ValueError as error:
    assert "n_jobs" in str(error)
print("alive")
"""


def test_absurd_numbers_of_threads_do_not_kill_the_process():
    """n_jobs beyond what the machine can start is an error or is cut down, never a crash."""
    run = subprocess.run(
        [sys.executable, "-c", MANY_THREADS], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout) == (0, "alive\n"), run.stderr[-500:]


THREADS = {str(n): n for n in (None, 1, 2, -1, -2, -100)}


@crossed("all learners count threads alike", ("make", "n_jobs"), LEARNERS, THREADS)
def test_n_jobs_follows_the_convention(n_jobs, make):
    """Negative numbers count from all processors; there is always one thread."""
    rows = Rows(0, 60)
    options = {name: value for name, value in FOLDED.items() if name in make().get_params()}
    expected = fitted(make, rows, **options).model_
    assert make(**options, n_jobs=n_jobs).fit(*rows.table()).model_ == expected
