"""Fits beside fits, in threads and processes, and fits that the user interrupts."""

import itertools
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from builders import compressed, mixed_table, mlrules, slipper
from rulewright import compress
from rulewright.estimators.common.folds import CancelledError, run_parallel
from rulewright.estimators.mlrules.boosting import Boosting

pytestmark = pytest.mark.native

MAKERS = {
    "mlrules": lambda **kw: mlrules(subsample=0.5, calibration="platt", **kw),
    "compact": lambda **kw: compressed(mlrules(subsample=0.5, **kw), 5),
    "slipper": lambda **kw: slipper(n_rounds="cv", calibration="platt", **kw),
}


def numbers(n_rows, seed=0):
    """Make rows of numbers with noisy classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)


def fit(est, X, y):
    return est.fit(X, y).model_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fits_in_threads_do_not_disturb_each_other(n_jobs):
    """Eighteen fits on six threads, each with its own folds, give the models of fits alone."""
    tables = [mixed_table(np.random.default_rng(seed), 150, n_classes=3) for seed in range(3)]
    tasks = [(make, table, seed) for make in MAKERS.values() for table in tables for seed in (0, 1)]
    alone = [fit(make(random_state=seed), *table) for make, table, seed in tasks]
    with ThreadPoolExecutor(6) as pool:
        futures = [
            pool.submit(fit, make(random_state=seed, n_jobs=n_jobs), *table)
            for make, table, seed in tasks
        ]
        assert [future.result() for future in futures] == alone


def test_one_estimator_predicts_in_many_threads():
    """A fitted model is only read: any number of threads get its answers."""
    X, y = numbers(500)
    est = slipper().fit(X, y)
    expected = est.predict_proba(X)
    with ThreadPoolExecutor(6) as pool:
        for p in pool.map(est.predict_proba, [X] * 20):
            np.testing.assert_array_equal(p, expected)


def test_fits_in_processes_give_the_same_models():
    """Joblib's workers learn what this process learns, and a grid search finds the same."""
    X, y = numbers(150)
    ests = [make(n_jobs=n) for make in MAKERS.values() for n in (1, 2)]
    found = Parallel(n_jobs=2)(delayed(fit)(est, X, y) for est in ests)
    assert found == [fit(est, X, y) for est in ests]
    grids = [
        (MAKERS["mlrules"](), {"n_rules": [5, 15], "calibration": ["platt", "isotonic"]}),
        (MAKERS["slipper"](), {"max_rounds": [3, 8], "positive_class": [0, 1]}),
    ]
    for est, grid in grids:
        searches = [GridSearchCV(est, grid, cv=3, n_jobs=n).fit(X, y) for n in (1, 2)]
        one, two = (search.cv_results_["mean_test_score"] for search in searches)
        np.testing.assert_array_equal(one, two)
        assert searches[0].best_estimator_.model_ == searches[1].best_estimator_.model_


ENDLESS = """
import sys
import numpy as np
from rulewright import MLRulesClassifier, SlipperClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 10))
y = rng.integers(0, 2, 20000)
est = {
    "mlrules": MLRulesClassifier(
        10**7, min_evidence=0, stopping="none", calibration="platt", n_jobs=2, verbose=1
    ),
    "slipper": SlipperClassifier(max_rounds=10**7, n_jobs=2),
}[sys.argv[1]]
print("started", flush=True)
est.fit(X, y)
print("finished", flush=True)
"""


@pytest.mark.parametrize("name", ["mlrules", "slipper"])
def test_control_c_ends_the_process(name):
    """A fit that would take days ends within seconds, by KeyboardInterrupt and nothing else."""
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS, name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "started\n"
        time.sleep(1)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=8)
        finally:
            process.kill()
    assert out == ""
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert "During handling" not in err
    assert process.returncode == -signal.SIGINT


LONG = {
    "learning": ("mlrules", {"n_rules": 10**7, "learning_rate": 1e-6}),
    "folds": ("mlrules", {"n_rules": 10**7, "learning_rate": 1e-6}),
    "slipper": ("slipper", {"n_rounds": 10**7, "calibration": None}),
    "slipper folds": ("slipper", {"max_rounds": 10**7}),
}


@pytest.fixture(autouse=True)
def hear_control_c():
    """Hear the signal even where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class ControlC(threading.Thread):
    """Sends the signal of Ctrl-C after so many seconds, and again like an impatient user.

    One signal may get lost: an exception in a callback of the garbage collector is ignored.
    """

    def __init__(self, after):
        super().__init__()
        self.after, self.heard = after, threading.Event()

    def run(self):
        while not self.heard.wait(self.after):
            signal.raise_signal(signal.SIGINT)
            self.after = 2.0

    def join(self):
        self.heard.set()
        super().join()


def press_control_c(after):
    """Press Ctrl-C after so many seconds, until joined."""
    presser = ControlC(after)
    presser.start()
    return presser


def press_in_folds(monkeypatch):
    """Cut the fit on all rows short and press Ctrl-C when the first fold is being learned."""
    run, calls, timers = Boosting.run, itertools.count(), []

    def spy(self, n_rules, *arguments):
        call = next(calls)
        if call == 1:
            timers.append(press_control_c(0.2))
        return run(self, n_rules if call else 3, *arguments)

    monkeypatch.setattr(Boosting, "run", spy)
    return timers


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", LONG)
def test_control_c_leaves_nothing_behind(name, n_jobs, monkeypatch):
    """KeyboardInterrupt comes soon, no thread keeps working, and the next fit is as ever."""
    (learner, endless), (X, y) = LONG[name], numbers(3000)
    est = MAKERS[learner](n_jobs=n_jobs)
    expected, before = fit(clone(est), X, y), threading.active_count()
    timers = press_in_folds(monkeypatch) if name == "folds" else [press_control_c(0.3)]
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        clone(est).set_params(**endless).fit(X, y)
    assert time.monotonic() - start < 5
    timers[0].join()
    assert threading.active_count() == before
    monkeypatch.undo()
    assert fit(clone(est), X, y) == expected


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_control_c_ends_compression(n_jobs, monkeypatch):
    """The folds of `compress` end like those of a fit."""

    def endless(fit, sizes, check):
        while True:
            check()
            time.sleep(0.01)
            yield from ()

    X, y = numbers(200)
    est = mlrules().fit(X, y)
    before = threading.active_count()
    monkeypatch.setattr("rulewright.estimators.common.compression.selections", endless)
    timer = press_control_c(0.3)
    with pytest.raises(KeyboardInterrupt):
        compress(est, X, y, n_jobs=n_jobs)
    timer.join()
    assert threading.active_count() == before


@pytest.mark.parametrize("n_threads", [1, 2])
def test_one_failure_ends_the_other_tasks(n_threads):
    """The first error is raised as it is; tasks that still run are told to end."""
    ended, started = [], threading.Event()

    def endless(check):
        started.set()
        try:
            while True:
                check()
                time.sleep(0.01)
        except CancelledError:
            ended.append(True)
            raise

    def failing(check):
        assert n_threads == 1 or started.wait(5)
        raise ZeroDivisionError

    tasks = [failing, endless] if n_threads == 1 else [endless, failing, endless]
    with pytest.raises(ZeroDivisionError):
        run_parallel(tasks, n_threads)
    assert len(ended) == n_threads - 1


@pytest.mark.parametrize("name", MAKERS)
def test_progress_is_drawn_on_standard_error(name, monkeypatch, capfd):
    """Standard output stays clean while folds on threads move the bar, as on a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    quiet, loud = (MAKERS[name](n_jobs=2, verbose=v).fit(*numbers(200)) for v in (0, 1))
    out, err = capfd.readouterr()
    assert out == ""
    bar = {"mlrules": "cross-validation", "compact": "learning rules", "slipper": "boosting rules"}
    assert bar[name] in err
    assert loud.model_ == quiet.model_
