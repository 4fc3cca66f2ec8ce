import json

import numpy as np
import pytest

from builders import LEARNERS as MAKERS
from builders import mixed_table
from rulewright.cli.learners import FORMS
from rulewright.estimators import BY_TASK, LEARNERS, REGRESSORS


def test_all_learners_are_listed(cli):
    """Each learner has a line with what it predicts and when to take it."""
    lines = cli("learners").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:-2]] == list(LEARNERS)
    assert lines[1].startswith("compact           classes, numbers  a small model to explain")
    told = json.loads(cli("learners", "--json").stdout)
    assert [one["name"] for one in told] == list(LEARNERS)
    assert {one["name"] for one in told if "numbers" in one["predicts"]} == set(REGRESSORS)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_parameter_is_told_basics_first(cli, name):
    """All that --set takes is there, with domain, default and documentation."""
    learner = LEARNERS[name]
    told = json.loads(cli("learners", name, "--json").stdout)["classes"]
    found = {one["name"]: one for one in told["parameters"]}
    assert found.keys() == learner.settable().keys()
    assert all(
        one["doc"] and one["values"] == str(learner.DOMAINS[key]) for key, one in found.items()
    )
    basic = [one["basic"] for one in told["parameters"]]
    assert basic[0]
    assert basic == sorted(basic, reverse=True)
    words = " ".join(cli("learners", name).stdout.split())
    for key, one in found.items():
        assert f"{key}: {one['values']} [default: {one['default']}]" in words
        assert " ".join(one["doc"].split()) in words


def test_the_form_of_each_model_is_the_promised_one():
    """What the catalogue says of a learner before it is imported is so."""
    X, y = mixed_table(np.random.default_rng(0), 60)
    for name, make in MAKERS.items():
        assert make().fit(X, y).model_.form == LEARNERS.entries[name].form
    for catalogue in BY_TASK.values():
        for name, entry in catalogue.entries.items():
            assert set(entry.basics.split()) <= catalogue[name].settable().keys()
            assert entry.form in FORMS


def test_how_learners_of_numbers_differ(cli):
    """Only what differs is told again."""
    last = cli("learners", "compact").stdout.splitlines()[-1]
    start = (
        "for numbers (CompactRulesRegressor): defaults linear=auto, loss=squared, quantile=0.5, "
    )
    assert last.startswith(start)
    assert last.endswith("without ordinal, teacher_share")


def test_unknown_learners(cli_failure):
    """The error suggests similar names, or lists those that there are."""
    assert cli_failure("learners", "compct") == "compct: no such learner. Did you mean compact?"
    assert cli_failure("learners", "x").startswith("x: no such learner. There are: compact, ")
