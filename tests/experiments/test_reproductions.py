"""Reproductions on made-up records: what they list, show and judge."""

import numpy as np
import pytest

from rulewright.experiments.datasets import find_dataset
from rulewright.experiments.printed import printed_table
from rulewright.experiments.reproductions import REPRODUCTIONS, Extent
from rulewright.experiments.reproductions.mlrules import MORE_RULES
from rulewright.experiments.reproductions.ruleset_bounds import THETAS
from rulewright.experiments.reproductions.rumble import STUDIES

ALL = pytest.mark.parametrize("name", REPRODUCTIONS)


def made_up(trial, error):
    """Return the record that a trial could have had."""
    record = {**trial.about(), "status": "ok", "n_test": 10, "error": error}
    figures = ("log_loss", "brier", "auc", "predict_seconds", "memory_mb", "conditions")
    record |= dict.fromkeys(figures, 0.5) | {"rules": 1.5, "literals": 9.0}
    size = trial.protocol.sizes[trial.place.fold] if hasattr(trial.protocol, "sizes") else 100
    record |= {"n_train": size, "fit_seconds": size * np.log(size) / 1e6}
    if trial.measure == "stages":
        record["errors"] = [error] * len(trial.options["at"])
    if trial.measure == "abstention":
        record |= {
            "coverages": [1.0 - theta / 4 for theta in THETAS],
            "joint_errors": [error * (1.0 - theta / 4) for theta in THETAS],
            "training_loss": 0.2,
        }
        for kind, value in (("bounds", 0.9), ("bounds_mcallester", 1.1), ("divergences", 50.0)):
            record[kind] = dict.fromkeys(trial.options["priors"], value)
    return record


BIASES = {study.learner.label: study.printed for study in STUDIES}
PRINTED_ERRORS = {
    "mlrules-table1": lambda t, who, what: t.rows([what]).column(who.split(",")[0])[0],
    "slipper-table1": lambda t, who, what: t.rows([what]).column(who)[0] / 100,
    "thesis-4.2": lambda t, who, what: 1 - t.rows([what]).column(who)[0] / 100,
    "thesis-4.5": lambda t, who, what: 1 - t.rows([what]).column(who)[0] / 100,
    "thesis-5.1": lambda t, who, what: (
        1 - (BIASES[who] if who in BIASES else t.rows([what]).column(who)[0]) / 100
    ),
}
TABLES = {
    "mlrules-table1": "mlrules-table1",
    "rulefit-two-class": "mlrules-table1",
    "slipper-table1": "slipper-table1",
    "sl2-tables": "thesis-4.2",
    "rulesets-table45": "thesis-4.5",
    "rumble-tables": "thesis-5.1",
    "base-thesis-4.2": "thesis-4.2",
    "base-slipper": "slipper-table1",
    "lri-mlrules": "mlrules-table1",
    "part-jrip-thesis-4.5": "thesis-4.5",
}


def records_as_printed(name, extent, shift=0.0):
    """Return records whose errors are the printed ones, up to a shift."""
    table = TABLES.get(name)
    trials = REPRODUCTIONS[name].trials(extent)
    if table is None:
        return [made_up(trial, 0.2) for trial in trials]
    printed = printed_table(table)
    error = PRINTED_ERRORS[table]
    return [made_up(t, error(printed, t.learner.label, t.data.label) + shift) for t in trials]


@ALL
def test_trials_are_different_use_known_data_and_a_quick_run_has_fewer_or_cheaper_ones(name):
    full, quick = (REPRODUCTIONS[name].trials(Extent(quick=q)) for q in (False, True))
    assert len({trial.key for trial in full}) == len(full)
    for trial in full:
        for data in trial.data.names or (trial.data.label,):
            find_dataset(data)
    cheaper = {t.learner.parameters.get("max_steps") for t in quick} == {10_000}
    assert len(quick) < len(full) or cheaper


@ALL
def test_more_runs_repeat_the_trials_with_other_splits(name):
    one, two = (REPRODUCTIONS[name].trials(Extent(runs=n)) for n in (1, 2))
    assert {t.key for t in one} <= {t.key for t in two}
    once = [t for t in one if name == "mlrules-table1" and t.data.label in MORE_RULES]
    assert bool(once) == (name == "mlrules-table1")
    if "figure1" not in name:
        assert len(two) == 2 * len(one) - len(once)


@ALL
def test_a_report_has_tables_and_can_be_written(name, tmp_path):
    extent = Extent()
    report = REPRODUCTIONS[name].report(records_as_printed(name, extent), extent)
    assert report.grids
    paths = report.write(tmp_path, {"commit": "abc"})
    assert all(path.stat().st_size > 100 for path in paths)
    assert not report.failure_lines()


@pytest.mark.parametrize("name", TABLES)
def test_printed_errors_meet_the_targets_and_much_larger_ones_do_not(name):
    extent = Extent()
    for shift, met in ((0.0, True), (0.05, False)):
        records = records_as_printed(name, extent, shift)
        targets = REPRODUCTIONS[name].report(records, extent).targets
        judged = [t for t in targets if "error" in t.text or "accuracy" in t.text]
        assert judged
        assert all(target.met is met for target in judged), targets


def test_printed_errors_give_the_printed_ranks_of_mlrules():
    """Up to ties: the paper ranked errors that were not rounded."""
    report = REPRODUCTIONS["mlrules-table1"].report(
        records_as_printed("mlrules-table1", Extent()), Extent()
    )
    ranks = [target for target in report.targets if "rank" in target.text]
    assert len(ranks) == 12  # two variants, three ways, on 20 and 35 sets
    for target in ranks:
        assert float(target.measured) == pytest.approx(float(target.text.split()[-1]), abs=0.035)


def test_mlrules_tells_how_close_it_comes_to_the_print():
    """Two runs, one a point below the print and one two above it, with a deviation of 0.021."""
    extent = Extent(runs=2)
    records = records_as_printed("mlrules-table1", extent, 0.02)
    for record in records:
        record["error"] -= 0.03 * record["repeat"]
    grid = REPRODUCTIONS["mlrules-table1"].report(records, extent).grids[0]
    assert len(grid.rows) == 6
    expected = (32 * 0.005 + 3 * 0.02) / 35  # three sets are run once
    for _, mean, size, within in grid.rows:
        assert mean == pytest.approx(expected)
        assert size == pytest.approx(expected)
        assert within == "32 of 32"
    for record in records:
        record["error"] += 0.04
    grid = REPRODUCTIONS["mlrules-table1"].report(records, extent).grids[0]
    assert {row[-1] for row in grid.rows} == {"0 of 32"}


@pytest.mark.parametrize("name", TABLES)
def test_a_part_is_shown_but_not_judged(name):
    sets = tuple(trial.data.label for trial in REPRODUCTIONS[name].trials(Extent())[:1])
    for extent in (Extent(quick=True), Extent(sets=sets)):
        report = REPRODUCTIONS[name].report(records_as_printed(name, extent), extent)
        assert {target.met for target in report.targets} == {None}
        assert len(report.about) == 2


@ALL
def test_failures_are_named_and_do_not_hide_the_rest(name):
    extent = Extent()
    records = records_as_printed(name, extent)
    bad = {key: records[0][key] for key in ("key", "learner", "set", "repeat", "fold")}
    records[0] = {**bad, "status": "failed", "problem": "MemoryError: too much"}
    report = REPRODUCTIONS[name].report(records, extent)
    assert report.failure_lines() == [
        f"{bad['learner']} on {bad['set']}: MemoryError: too much (1 trials)"
    ]


@ALL
def test_an_experiment_in_which_all_fails_still_reports(name, tmp_path):
    extent = Extent(quick=True)
    records = [
        {**trial.about(), "status": "failed", "problem": "no data"}
        for trial in REPRODUCTIONS[name].trials(extent)
    ]
    report = REPRODUCTIONS[name].report(records, extent)
    report.write(tmp_path, {})
    assert len(report.failure_lines()) >= 2


def test_unknown_sets_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"--sets nonsense: unknown\. Known are: haberman"):
        REPRODUCTIONS["mlrules-table1"].trials(Extent(sets=("nonsense",)))
