"""Fits on Dask: the model of one process, whatever the cluster does."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from budget import always
from rulewright import CompactRulesClassifier, MLRulesClassifier, RuleFitRegressor, load_model
from rulewright.data import DataError
from rulewright.scale import dask as scale_dask
from rulewright.scale import fit_partitions, on_dask
from rulewright.scale.dask import ActorParts, NoWorkersError
from scale.tables import content_hash, mixed_table

distributed = pytest.importorskip("distributed", reason="the extra is not installed")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def cluster(n_workers=2, processes=False, n_threads=1):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=n_threads,
        processes=processes,
        dashboard_address=":0",
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def client():
    with cluster() as started, distributed.Client(started) as own:
        yield own


def learner(**settings):
    return MLRulesClassifier(max_rules=5, random_state=0, **settings)


def test_partitions_on_workers_give_the_model_of_one_process(client, tmp_path):
    """One partition or seven, on one worker or two: the file has the same hash."""
    frame = mixed_table()
    expected = content_hash(fit_partitions(learner(), [frame], "y").model_, tmp_path)
    for n_partitions in (1, 7):
        rows = dd.from_pandas(frame, npartitions=n_partitions, sort=False)
        est = on_dask(learner(), client).fit(rows, "y")
        assert content_hash(est.model_, tmp_path) == expected


SHAPES = [(1, 1, False), (1, 1, True), (1, 3, False), (5, 2, False)]


@pytest.mark.parametrize(
    "shape",
    always(SHAPES[3:], SHAPES, "each starts a cluster; five workers have all that fewer have"),
    ids=str,
)
def test_clusters_of_any_shape_give_the_model_of_one_process(shape, tmp_path, monkeypatch):
    """One worker, as thread or process, several threads, and workers whose sums are a tree."""
    frame = mixed_table()
    expected = content_hash(fit_partitions(learner(), [frame], "y").model_, tmp_path)
    monkeypatch.setattr(scale_dask, "FAN_IN", 2)
    n_workers, n_threads, processes = shape
    with cluster(n_workers, processes, n_threads) as started, distributed.Client(started) as own:
        rows = dd.from_pandas(frame, npartitions=7, sort=False)
        assert (
            content_hash(fit_partitions(learner(), rows, "y", client=own).model_, tmp_path)
            == expected
        )


def test_predictions_are_lazy_and_those_of_memory(client, tmp_path):
    """Frames give series and frames with their index, arrays give arrays; the model saves."""
    frame = mixed_table()
    rows = dd.from_pandas(frame, npartitions=3)
    est = on_dask(learner(), client).fit(rows.drop(columns="y"), rows["y"])
    found, shares = est.predict(rows), est.predict_proba(rows)
    assert isinstance(found, dd.Series)
    assert found.compute().tolist() == est.estimator_.predict(frame).tolist()
    np.testing.assert_array_equal(shares.compute(), est.estimator_.predict_proba(frame))
    assert list(shares.columns) == ["no", "yes"]
    est.model_.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json").predict(frame).tolist() == found.compute().tolist()


def test_arrays_are_learned_in_chunks(client):
    """Blocks of columns are joined; numbers and probabilities have the chunks of the rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    rows, numbers = da.from_array(X, chunks=(150, 2)), X[:, 0] * 3 + (X[:, 1] > 0)
    y = da.from_array((X[:, 0] > 0).astype(int), chunks=150)
    est = on_dask(learner(), client).fit(rows, y)
    assert est.predict_proba(rows).compute().shape == (400, 2)
    assert est.predict(rows).chunks == ((150, 150, 100),)
    assert (est.predict(rows).compute() == (X[:, 0] > 0)).mean() > 0.9
    regressor = on_dask(
        RuleFitRegressor(max_candidates=20, cv=2, random_state=0), client, sample_rows=200
    )
    found = regressor.fit(rows, da.from_array(numbers, chunks=150)).predict(rows).compute()
    assert np.corrcoef(found, numbers)[0, 1] > 0.9


def test_compact_rules_are_learned_on_dask(client, tmp_path):
    """Rules from the sample, points from all partitions: the model of one process."""
    frame = mixed_table(1200)
    est = CompactRulesClassifier(2, size="max", random_state=0, teacher_share=0.0, cv=2)
    ours = on_dask(est, client, sample_rows=400).fit(dd.from_pandas(frame, npartitions=3), "y")
    twin = fit_partitions(est, [frame], "y", sample_rows=400)
    assert content_hash(ours.model_, tmp_path) == content_hash(twin.model_, tmp_path)


def test_two_fits_at_once_do_not_meet(client, tmp_path):
    """Each has its own partitions, even of the same rows."""
    frame, found = mixed_table(), {}
    rows = dd.from_pandas(frame, npartitions=2)

    def learn(rate):
        found[rate] = fit_partitions(learner(learning_rate=rate), rows, "y", client=client).model_

    threads = [threading.Thread(target=learn, args=(rate,)) for rate in (0.1, 0.5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for rate, model in found.items():
        alone = fit_partitions(learner(learning_rate=rate), [frame], "y").model_
        assert content_hash(model, tmp_path) == content_hash(alone, tmp_path)


def test_nothing_stays_on_the_workers(client):
    """After a fit, and after an error, no partition is kept."""
    rows = dd.from_pandas(mixed_table(200), npartitions=2)
    fit_partitions(learner(), rows, "y", client=client)
    with pytest.raises(DataError, match=r"partition \d: .*'z'"):
        fit_partitions(learner(), rows, "z", client=client)
    end = time.monotonic() + 10
    while (kept := n_kept(client)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not kept


def n_kept(client):
    """Count the results and actors that workers hold."""

    def held(dask_worker):
        return len(dask_worker.data) + len(dask_worker.state.actors)

    return sum(client.run(held).values())


def test_a_client_and_matching_partitions_are_needed(client):
    """The errors say what to give."""
    rows = dd.from_pandas(mixed_table(60), npartitions=3)
    with pytest.raises(DataError, match="y has 1 partitions, but X has 3"):
        fit_partitions(learner(), rows, rows["y"].repartition(npartitions=1), client=client)
    with pytest.raises(DataError, match="y is not a Dask"):
        fit_partitions(learner(), rows, np.zeros(60), client=client)


@pytest.mark.full("kills processes of a cluster; `make chaos` does it a hundred times")
@pytest.mark.parametrize("moment", ["coding", "growing"])
def test_a_killed_worker_costs_time_but_not_the_model(moment, tmp_path, monkeypatch):
    """A process is killed while rows are coded or rules are grown: its rows are told all rules."""
    frame = mixed_table(1000)
    est = MLRulesClassifier(max_rules=12, random_state=0, stopping="none")
    expected = content_hash(fit_partitions(est, [frame], "y").model_, tmp_path)
    with cluster(processes=True) as started, distributed.Client(started) as own:
        victims = sorted(own.run(os.getpid).values())[:1]
        name, call = {"coding": ("_settle", 1), "growing": ("total", 25)}[moment]
        original, calls = getattr(ActorParts, name), []

        def kill_before(parts, *args):
            calls.append(1)
            if len(calls) == call:
                os.kill(victims.pop(), signal.SIGKILL)
            return original(parts, *args)

        monkeypatch.setattr(ActorParts, name, kill_before)
        model = fit_partitions(
            est, dd.from_pandas(frame, npartitions=4, sort=False), "y", client=own
        ).model_
    assert not victims
    assert content_hash(model, tmp_path) == expected


@pytest.mark.parametrize("moment", ["tables", "coding", "growing"])
def test_a_fit_without_workers_gives_up(moment, monkeypatch):
    """Workers that are gone for good end the fit after a while, with what to do."""
    monkeypatch.setattr(scale_dask, "PATIENCE", 0.2)
    monkeypatch.setattr(scale_dask, "MOST_ALONE", 0.4)
    frame = mixed_table(200)
    est = MLRulesClassifier(max_rules=12, random_state=0, stopping="none")
    with cluster(n_workers=1) as started, distributed.Client(started) as own:
        name, call = {"coding": ("_settle", 1), "growing": ("total", 9)}.get(moment, ("close", 0))
        original, calls = getattr(ActorParts, name), []

        def end_before(parts, *args):
            calls.append(1)
            if len(calls) == call:
                started.scale(0)
                own.sync(started._correct_state)
                while own.nthreads():
                    time.sleep(0.05)
            return original(parts, *args)

        monkeypatch.setattr(ActorParts, name, end_before)
        table = dd.from_pandas(frame, npartitions=2, sort=False)
        if moment == "tables":
            started.scale(0)
        with pytest.raises(NoWorkersError, match=r"no workers for 0\.4 seconds.*Start workers"):
            fit_partitions(est, table, "y", client=own)
