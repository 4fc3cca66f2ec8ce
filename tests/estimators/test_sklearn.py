"""Scikit-learn's contract, for every public estimator."""

import functools
import inspect

import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from builders import learners_except, public_estimators
from rulewright import estimators
from rulewright.estimators.contract.parameters import Integer, Parameter

pytestmark = pytest.mark.native

ALL_ESTIMATORS = public_estimators()
NOT_FOR_US = "check_array_api_input"
"""Needs a switch in the environment, skips itself."""

DIVIDES_NOTHING = {estimators.SlipperClassifier}
"""Learners whose expected failures pass in the second configuration, which sees all rows."""


NEEDS_BOTH = (
    "check_sample_weight",  # weights meet rows that are drawn, parted or pruned on
    "check_class_weight",
    "check_classifiers_one_label",
    "check_fit2d_1",  # a single row, a single column
    "check_fit_idempotent",  # what is drawn at random is drawn again
    "check_methods_sample_order_invariance",
)
"""How the names of those checks begin that see more in a second configuration of a learner."""


FEW_RULES = {
    estimators.SL2Classifier: 2,
    estimators.CompactRulesClassifier: 5,
}
"""How many rules those learners have that search long for each."""


def name_of(check):
    return (check.func if isinstance(check, functools.partial) else check).__name__


def instances(cls):
    """Make a learner with all defaults but a smaller budget, and one that sees all rows."""
    known = cls().get_params()
    quick = {
        "n_samples": 3,
        "max_steps": 1000,
        "max_candidates": 40,
        "rules_per_class": 60,
        "cv": 2,
    }
    whole = {
        "max_rules": FEW_RULES.get(cls, 25),
        "n_subsamples": 0,
        "cv": 2,
        "size": "max",
        "max_candidates": 25,
        "rules_per_class": 10,
        "penalty": 0.02,
        "subsample": 1.0,
        "grow_share": 1.0,
        "max_terms": 2,
        "n_samples": 3,
        "max_steps": 500,
        "precision_cv": None,
        "random_state": 0,
    }
    for settings in (quick, whole):
        yield cls(**{name: value for name, value in settings.items() if name in known})


def all_checks():
    for cls in ALL_ESTIMATORS:
        for kind, est in zip(("defaults", "all_rows"), instances(cls), strict=True):
            for instance, check in estimator_checks_generator(est):
                name = f"{cls.__name__}-{kind}-{name_of(check)}"
                if name_of(check) != NOT_FOR_US:
                    yield pytest.param(instance, check, id=name, marks=marks_of(cls, kind, check))


def marks_of(cls, kind, check):
    """Expect the failures that are announced, strictly; leave some checks to a full run.

    Checks of the second configuration are left out where the first sees as much.
    """
    expected = estimators.EXPECTED_FAILED_CHECKS.get(cls.__name__, {})
    if name_of(check) in expected and (kind == "defaults" or cls not in DIVIDES_NOTHING):
        return pytest.mark.xfail(reason=expected[name_of(check)], strict=True)
    if (cls, kind) == (estimators.RuleFitClassifier, "defaults") and "class_weight" in name_of(
        check
    ):
        return pytest.mark.full("a path of penalties is long where classes weigh 1 and 10^7")
    if kind == "all_rows" or name_of(check).startswith(NEEDS_BOTH):
        return ()
    return pytest.mark.full("tags, types and containers do not depend on the configuration")


@pytest.mark.filterwarnings("ignore:fewer than two classes have two rows:UserWarning")
@pytest.mark.filterwarnings("ignore:a class has one or two rows:UserWarning")
@pytest.mark.parametrize(("est", "check"), list(all_checks()))
def test_the_contract_of_scikit_learn(est, check):
    """One check of scikit-learn's own suite; warnings are errors, but for those we promise."""
    check(est)


@learners_except(stump="one test cannot tell three classes apart")
def test_estimators_work_in_pipelines_and_searches(make):
    """Pipelines, grid search and cross-validation treat them like any classifier."""
    data, est = load_iris(return_X_y=True), make()
    sizes = ("max_steps", "max_candidates", "max_rules", "rules_per_class", "max_conditions")
    others = ("min_branch_weight", "max_passes", "estimator__max_rules")
    size = next(n for n in (*sizes, *others) if n in est.get_params())
    grid = {f"{type(est).__name__.lower()}__{size}": [1, 100]}
    search = GridSearchCV(make_pipeline(StandardScaler(), est), grid, cv=3)
    search.fit(*data)
    assert search.best_score_ > 0.85
    assert cross_val_score(est, *data, cv=3).mean() > 0.85


@pytest.mark.parametrize("cls", ALL_ESTIMATORS)
def test_every_parameter_has_a_domain(cls):
    """Each parameter is checked at `fit`, and its default lies in its domain."""
    assert set(cls().get_params()) == set(cls.DOMAINS)
    for name, value in cls().get_params().items():
        assert cls.DOMAINS[name].accepts(value), name
    checked_later = {
        "bias",
        "categorical_features",
        "constraints",
        "cost_matrix",
        "class_weight",
        "decision",
        "positive_class",
        "rules",
        "teacher",
    }
    unchecked = set(cls.DOMAINS) - set(cls.settable())
    assert unchecked <= {*checked_later, "random_state", "n_jobs", "verbose"}


@pytest.mark.parametrize("cls", ALL_ESTIMATORS)
def test_parameters_are_documented_with_the_shared_ones_last(cls):
    """Signature and docstring list the same parameters in the same order, with their defaults."""
    signature = inspect.signature(cls)
    names = list(signature.parameters)
    assert names[-6:] == [
        "class_weight",
        "decision",
        "categorical_features",
        "random_state",
        "n_jobs",
        "verbose",
    ]
    section = inspect.getdoc(cls).partition("Parameters\n----------\n")[2]
    section = section.partition("\nAttributes\n----------\n")[0]
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    assert [line.split(" : ")[0] for line in lines] == names
    for line, parameter in zip(lines, signature.parameters.values(), strict=True):
        assert line.endswith(f"default={parameter.default!r}")


@pytest.mark.parametrize("cls", [cls for cls in ALL_ESTIMATORS if cls.PAPER])
def test_the_settings_of_the_paper_can_be_overridden(cls):
    """`paper` gives the published settings, all else by default, with any of them changed."""
    defaults, published = cls().get_params(), cls.paper().get_params()
    assert published == {**defaults, **cls.PAPER}
    name = next(iter(cls.PAPER))
    assert cls.paper(**{name: defaults[name]}).get_params()[name] == defaults[name]


def test_a_subclass_may_have_its_own_parameters_and_fields():
    """Subclasses add a parameter, or plain annotations, without writing `__init__` again."""

    class Noted(estimators.MLRulesClassifier):
        note: str

    class Louder(estimators.MLRulesClassifier):
        """Another learner."""

        volume: int = Parameter(Integer(0), "How loud.", default=3)

    assert Noted(7).get_params() == estimators.MLRulesClassifier(7).get_params()
    louder = clone(Louder(7, volume=5))
    assert (louder.max_rules, louder.volume, next(iter(Louder.DOMAINS))) == (7, 5, "volume")
    assert set(Louder.DOMAINS) == {*estimators.MLRulesClassifier.DOMAINS, "volume"}
