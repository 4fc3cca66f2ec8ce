import time

import numpy as np
import pytest

from rulewright.comparison import runner
from rulewright.comparison.learners import Learner, codes_of, known_learners
from rulewright.comparison.runner import Records, run_trials
from rulewright.comparison.trial import FileData, FoldProtocol, Place, Trial
from rulewright_lab.experiments.data import PaperData
from rulewright_lab.experiments.measures import stages

RIVALS = '''
"""Rivals that do what real ones do at times."""
import os, time
import numpy as np

MODULES = {"majority": "", "crash": "", "hang": "", "nan": ""}

def make(name, n_rules, n_jobs, settings):
    return Adapter(name)

class Adapter:
    def __init__(self, name):
        self.name = name
    def fit(self, X, y):
        if self.name == "crash":
            os.abort()
        if self.name == "hang":
            time.sleep(60)
        self.classes_, self.counts = np.unique(y, return_counts=True)
        return self
    def predict_proba(self, X):
        shares = self.counts / self.counts.sum()
        return np.tile(shares * (np.nan if self.name == "nan" else 1.0), (len(X), 1))
    def describe(self):
        return {"rules": 2.0, "conditions": 3.0}
    def version(self):
        return "1.0"
'''
MLRULES = Learner("few rules", "mlrules", {"max_rules": 5})


@pytest.fixture(autouse=True)
def generated_data(monkeypatch):
    monkeypatch.delenv("RULEWRIGHT_DATA", raising=False)


@pytest.fixture
def rivals(tmp_path, monkeypatch):
    """Install adapters: a module, and the entry point that names it."""
    folder = tmp_path / "site-packages"
    metadata = folder / "toy_rivals-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / "toy_rivals.py").write_text(RIVALS)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-rivals\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[rulewright.rivals]\ntoy = toy_rivals\n")
    monkeypatch.syspath_prepend(folder)


def trial(learner, fold=0, data="iris", **more):
    return Trial(learner, PaperData(data), FoldProtocol(10), Place(0, fold), **more)


def run(tmp_path, trials, **options):
    with Records(tmp_path / "records.jsonl") as records:
        return list(run_trials(trials, records, **options))


def test_a_record_says_what_was_tried_how_good_it_is_and_what_it_cost(tmp_path):
    (record,) = run(tmp_path, [trial(MLRULES, 3)], extra={"commit": "abc"})
    assert record["status"] == "ok"
    about = ("learner", "set", "repeat", "fold", "seed", "commit")
    assert [record[k] for k in about] == ["few rules", "iris", 0, 3, 0, "abc"]
    assert record["parameters"] == {"max_rules": 5, "paper": False}
    assert (record["n_train"], record["n_test"]) == (135, 15)
    assert 1 <= record["rules"] <= 5  # equal rules are merged
    assert 0 <= record["error"] < 0.3
    assert 0.5 < record["auc"] <= 1
    assert record["log_loss"] < np.log(3)
    assert record["conditions"] >= record["rules"]
    costs = ("fit_seconds", "fit_wall_seconds", "predict_seconds", "memory_mb")
    assert all(record[k] >= 0 for k in costs)
    assert record["fit_seconds"] > 0
    assert record["versions"]["rulewright"]


def test_the_same_trial_gives_the_same_figures_however_many_run_at_a_time(tmp_path):
    trials = [trial(MLRULES, fold) for fold in range(3)]
    found = []
    for jobs in (1, 3):
        (tmp_path / str(jobs)).mkdir()
        records = run(tmp_path / str(jobs), trials, n_jobs=jobs)
        found.append({r["fold"]: (r["error"], r["log_loss"]) for r in records})
    assert found[0] == found[1]


def test_what_is_recorded_is_not_run_again(tmp_path):
    trials = [trial(MLRULES, fold) for fold in range(2)]
    assert len(run(tmp_path, trials[:1])) == 1
    assert [r["fold"] for r in run(tmp_path, trials)] == [1]


def test_an_error_is_recorded_with_its_text_and_the_others_go_on(tmp_path):
    bad = Learner("bad", "mlrules", {"max_rules": -1})
    records = run(tmp_path, [trial(bad), trial(MLRULES), trial(MLRULES, data="nonsense")])
    by = {(r["learner"], r["set"]): r for r in records}
    assert by["few rules", "iris"]["status"] == "ok"
    assert "max_rules=-1" in by["bad", "iris"]["problem"]
    assert "Traceback" in by["bad", "iris"]["traceback"]
    assert "no data set 'nonsense'" in by["few rules", "nonsense"]["problem"]


def test_an_installed_rival_is_found_and_judged_like_ours(tmp_path, rivals):
    assert {"mlrules", "slipper.paper", "majority"} <= known_learners().keys()
    (record,) = run(tmp_path, [trial(known_learners()["majority"], data="balance-scale")])
    assert record["status"] == "ok", record["problem"]
    assert record["error"] == pytest.approx(1 - 29 / 63, abs=0.02)
    assert (record["rules"], record["conditions"]) == (2, 6)
    assert record["versions"] == {"majority": "1.0"}


def test_a_rival_that_crashes_or_gives_no_probabilities_costs_one_record(tmp_path, rivals):
    kinds = ("crash", "nan", "majority")
    records = run(tmp_path, [trial(Learner(kind, kind)) for kind in kinds], n_jobs=2)
    by = {r["learner"]: r for r in records}
    assert "signal 6" in by["crash"]["problem"]
    assert "not finite" in by["nan"]["problem"]
    assert by["majority"]["status"] == "ok"


@pytest.mark.full("waits for the time limit of a process")
def test_a_rival_that_hangs_is_ended_by_the_time_limit(tmp_path, rivals):
    begun = time.monotonic()
    (record,) = run(tmp_path, [trial(Learner("hang", "hang"))], time_limit=2)
    assert record["problem"].startswith("not finished within the time limit of 2 s; --retry")
    assert time.monotonic() - begun < 30


def test_rivals_must_be_installed():
    assert "majority" not in known_learners()
    with pytest.raises(ValueError, match=r"no adapter of 'majority'.*pip install rulewright-lab"):
        Learner("majority", "majority").start(0)


def test_a_key_tells_trials_apart_by_what_they_depend_on():
    base = trial(MLRULES)
    others = [
        trial(MLRULES, 1),
        trial(MLRULES, data="tic-tac-toe"),
        trial(MLRULES, seed=1),
        trial(Learner("few rules", "mlrules", {"max_rules": 6})),
        trial(Learner("few rules", "mlrules", {"max_rules": 5}, paper=True)),
        Trial(MLRULES, PaperData("iris"), FoldProtocol(5), Place(0, 0)),
        Trial(MLRULES, PaperData("iris", two_classes=True), FoldProtocol(10), Place(0, 0)),
        trial(MLRULES, measure=stages, options={"at": [1]}),
    ]
    assert len({base.key, *(t.key for t in others)}) == len(others) + 1
    # More repetitions, or fewer folds of each, are the same trial.
    assert (
        base.key == Trial(MLRULES, PaperData("iris"), FoldProtocol(10, 7, used=2), Place(0, 0)).key
    )


def test_a_changed_file_is_another_trial(tmp_path):
    path = tmp_path / "a.csv"
    data = FileData("a", str(path), "y")
    path.write_text("x,y\n1,a\n2,b\n")
    first = Trial(MLRULES, data, FoldProtocol(2), Place(0, 0)).key
    path.write_text("x,y\n1,a\n2,b\n3,b\n")
    assert Trial(MLRULES, data, FoldProtocol(2), Place(0, 0)).key != first


def test_labels_in_any_order_find_their_codes():
    codes = codes_of(np.array(["b", "a", "c"]), np.array(["c", "b", "a"]))
    assert codes.tolist() == [1, 2, 0]


def test_the_server_of_processes_imports_the_modules_of_the_trials():
    """Their data and functions: a trial that imports them itself takes longer."""
    found = runner._modules([trial(MLRULES, measure=count_rows)])
    assert {PaperData.__module__, count_rows.__module__, Trial.__module__} <= set(found)
    assert "builtins" not in found


def count_rows(worker, train, test):
    return {"error": 0.0}


def test_no_trial_starts_after_the_budget(tmp_path):
    """Trials that have not started have no record."""
    assert run(tmp_path, [trial(MLRULES, fold) for fold in range(3)], budget=0) == []


def test_trials_of_other_files_of_the_folder_are_adopted(tmp_path):
    """Only those that are asked for, and that are not known."""
    with Records(tmp_path / "a.records.jsonl") as records:
        for key in ("x", "y"):
            records.append({"key": key, "error": 0.1})
    with Records(tmp_path / "b.records.jsonl") as records:
        records.append({"key": "z", "error": 0.2})
        records.adopt(["x", "z", "w"])
        assert {key: one["error"] for key, one in records.known.items()} == {"z": 0.2, "x": 0.1}
