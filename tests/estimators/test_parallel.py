"""Fits beside fits, in threads and processes, and fits that the user interrupts."""

import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from budget import always, crossed, is_full
from builders import LEARNERS, compressed, every_learner, mixed_table, mlrules
from interrupts import ControlC, call_at_step
from rulewright import compress
from rulewright.estimators.folds.folds import CancelledError, run_parallel
from rulewright.estimators.mlrules.boosting import Boosting

pytestmark = pytest.mark.native

DRAWN = {
    "subsample": 0.5,
    "calibration": "platt",
    "size": "cv",
    "bagging": True,
    "precision_cv": 3,
}
"""Settings that let a learner draw rows and run folds."""
GRID = {
    "max_rules": [2, 8],
    "max_candidates": [2, 40],
    "rules_per_class": [2, 15],
    "max_steps": [20, 100],
    "max_passes": [0, None],
    "positive_class": [0, 1],
    "min_branch_weight": [1.0, 20.0],
    "class_weight": [None, "balanced"],
}
ENDLESS = {
    "max_rules": 10**7,
    "size": "max",
    "max_candidates": 10**7,
    "rules_per_class": 10**7,
    "learning_rate": 1e-6,
    "max_steps": 10**9,
    "max_bins": 500,
    "n_optimizations": 10**9,
    "calibration": None,
}
FOLDS = {**DRAWN, **ENDLESS, "size": "cv", "calibration": "platt"}
"""Settings with which the folds are endless, for those who have folds."""
STEPPING = {name: make for name, make in LEARNERS.items() if name != "stump"}
"""Learners whose search has more than a single step."""
SOON = 60.0
"""Seconds within which a fit must hear Ctrl-C; uninterrupted it takes hours."""


def known_of(make, settings):
    """Give those of the settings that a learner has."""
    known = make().get_params()
    own = {name: value for name, value in settings.items() if name in known}
    if "max_steps" in own:  # endless steps do, rule sets are small
        own.pop("max_rules", None)
    return own


def chosen(make, settings, **others):
    """Make a learner with those of the settings that it has."""
    return make(**{**known_of(make, settings), **others})


def drawing(make):
    return lambda **options: chosen(make, DRAWN, **options)


MAKERS = {name: drawing(make) for name, make in LEARNERS.items()}
MAKERS["compact"] = lambda **options: compressed(mlrules(subsample=0.5, **options), 5)


def numbers(n_rows, seed=0):
    """Make rows of numbers with noisy classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)


def fit(est, X, y):
    return est.fit(X, y).model_


def test_fits_in_threads_do_not_disturb_each_other():
    """Many fits on six threads, each with its own folds and threads, give those of fits alone."""
    tables = [mixed_table(np.random.default_rng(seed), 90, n_classes=3) for seed in range(2)]
    tasks = [(make, table, seed) for make in MAKERS.values() for table in tables for seed in (0, 1)]
    tasks = tasks if is_full else tasks[:: len(tables) + 1]
    alone = [fit(make(random_state=seed), *table) for make, table, seed in tasks]
    with ThreadPoolExecutor(6) as pool:
        futures = [
            pool.submit(fit, make(random_state=seed, n_jobs=1 + seed), *table)
            for make, table, seed in tasks
        ]
        assert [future.result() for future in futures] == alone


@every_learner
def test_one_estimator_predicts_in_many_threads(make):
    """A fitted model is only read: any number of threads get its answers."""
    X, y = numbers(300)
    est = make().fit(X, y)
    expected = est.predict_proba(X)
    with ThreadPoolExecutor(6) as pool:
        for p in pool.map(est.predict_proba, [X] * 20):
            np.testing.assert_array_equal(p, expected)


def test_fits_in_processes_give_the_same_models():
    """Joblib's workers learn what this process learns, and a grid search finds the same."""
    X, y = numbers(100)
    ests = [make(n_jobs=n) for make in MAKERS.values() for n in (1, 2)]
    ests = ests if is_full else [*ests[::4], *ests[3::4]]  # every learner, with one thread or two
    found = Parallel(n_jobs=2)(delayed(fit)(est, X, y) for est in ests)
    assert found == [fit(est, X, y) for est in ests]


@pytest.mark.parametrize(
    "make",
    always(
        [LEARNERS["mlrules"], LEARNERS["ripper"]],
        LEARNERS.values(),
        "the test above has all learners in processes",
    ),
    ids=LEARNERS,
)
def test_a_search_in_processes_finds_the_same(make):
    """Grid search scores all settings alike in this process and in workers."""
    X, y = numbers(90)
    est = make()
    grid = {name: values for name, values in GRID.items() if name in est.get_params()}
    searches = [GridSearchCV(est, grid, cv=2, n_jobs=n).fit(X, y) for n in (1, 2)]
    one, two = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_array_equal(one, two)
    assert len(set(one)) > 1
    assert searches[0].best_estimator_.model_ == searches[1].best_estimator_.model_


INTERRUPTED = """
import json, sys
import numpy as np
from interrupts import call_at_step
from rulewright.estimators import LEARNERS
rng = np.random.default_rng(0)
call_at_step(20, lambda: print("searching", flush=True))
est = LEARNERS[sys.argv[1]](n_jobs=2, verbose=1, **json.loads(sys.argv[2]))
X = rng.normal(size=(3000, 6))
est.fit(X, (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=3000) > 0).astype(int))
print("finished", flush=True)
"""


@pytest.mark.parametrize(
    "name",
    always(
        ("mlrules", "sl2", "ripper"),  # a boosted, a random and a greedy search
        STEPPING,
        "how a process ends depends on the kind of search, not on the learner",
    ),
)
def test_control_c_ends_the_process(name):
    """A fit that would take days ends by KeyboardInterrupt and nothing else."""
    endless = known_of(LEARNERS[name], ENDLESS)
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, name, json.dumps(endless)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    ) as process:
        watchdog = threading.Timer(SOON, process.kill)
        watchdog.start()
        assert process.stdout.readline() == "searching\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        watchdog.cancel()
    assert out == ""
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert "During handling" not in err
    assert process.returncode == -signal.SIGINT


@pytest.fixture(autouse=True)
def hear_control_c():
    """Hear the signal even where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def presser():
    """Give a thread that presses Ctrl-C from its start to the end of the test."""
    thread = ControlC()
    yield thread
    assert thread.ident is not None, "nothing was interrupted"
    thread.join()


def interrupt(est, data, presser, monkeypatch):
    """Press Ctrl-C in the middle of a fit: it ends soon, and no thread keeps working."""
    before = threading.active_count()
    call_at_step(20, presser.start, monkeypatch.setattr)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        est.fit(*data)
    presser.join()
    assert time.monotonic() - start < SOON
    assert threading.active_count() == before
    monkeypatch.undo()


PLACES = {
    "learning-1": (ENDLESS, 1),
    "folds-1": (FOLDS, 1),
    "learning-2": (ENDLESS, 2),
    "folds-2": (FOLDS, 2),
}


@crossed("every learner and every place are met", ("make", "place"), STEPPING, PLACES)
def test_control_c_leaves_nothing_behind(make, place, presser, monkeypatch):
    """KeyboardInterrupt comes soon, no thread keeps working, and the next fit is as ever."""
    settings, n_jobs = place
    data = numbers(3000)
    est = chosen(make, {**DRAWN, "calibration": None, "precision_cv": None}, n_jobs=n_jobs)
    expected = fit(clone(est), *data)
    run = Boosting.run
    if settings is FOLDS:  # MLRules has its folds after the fit on all rows, which is cut short
        short = [3]
        monkeypatch.setattr(
            Boosting, "run", lambda self, n, *rest: run(self, short.pop() if short else n, *rest)
        )
    interrupt(chosen(make, settings, n_jobs=n_jobs), data, presser, monkeypatch)
    assert fit(clone(est), *data) == expected


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_control_c_ends_compression(n_jobs, presser, monkeypatch):
    """The folds of `compress` end like those of a fit."""
    started = threading.Event()

    def endless(fit, sizes, check):
        if not started.is_set():
            started.set()
            presser.start()
        while True:
            check()
            time.sleep(0.01)
            yield from ()

    X, y = numbers(200)
    est = mlrules().fit(X, y)
    before = threading.active_count()
    monkeypatch.setattr("rulewright.estimators.finishing.compression.selections", endless)
    with pytest.raises(KeyboardInterrupt):
        compress(est, X, y, n_jobs=n_jobs)
    presser.join()
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


BARS = {
    "mlrules": "cross-validation",
    "slipper": "boosting rules",
    "sl2": "searching rule sets",
    "ruleset-ensemble": "searching rule sets",
    "compact": "learning rules",
    "cards": "adding items",
    "rulefit": "weighting rules",
    "rumble": "weighing rules",
    "ripper": "covering classes",
    "foil": "covering classes",
    "c45rules": "choosing rules",
    "part": "covering rows",
    "stump": "judging tests",
    "rise": "generalising rules",
    "averaging": "learning parts",
    "cn2": "searching rules",
    "lri": "learning rules",
}


@pytest.mark.parametrize("name", MAKERS)
def test_progress_is_drawn_on_standard_error(name, monkeypatch, capfd):
    """Standard output stays clean while folds on threads move the bar, as on a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    quiet = MAKERS[name](n_jobs=2, verbose=0).fit(*numbers(200))
    assert capfd.readouterr() == ("", "")
    loud = MAKERS[name](n_jobs=2, verbose=1).fit(*numbers(200))
    out, err = capfd.readouterr()
    assert out == ""
    assert BARS[name] in err
    assert loud.model_ == quiet.model_
