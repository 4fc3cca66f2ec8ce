"""Kill workers in the middle of fits on Dask: `python benchmarks/chaos.py --runs 100`.

Every run has another table, another number of partitions, and a worker that is killed at another
moment of the fit, from the first look at the rows to the last rule. A run must end within a bounded
time with the model of one process, to the bit.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np
from distributed.utils import get_mp_context

from rulewright import MLRulesClassifier
from rulewright.scale import fit_partitions

MOST_SECONDS = 300
N_WORKERS = 3  # of which one may still be starting


def rows_of(seed):
    """Generate a table with numbers and gaps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(500, 5000)), 6)).round(2)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(X)) > 0).astype(int)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def content_hash(model):
    """Return the hash of a saved model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return json.loads(path.read_text())["sha256"]


def run(client, seed):
    """Fit while a worker is killed; tell whether the model is that of one process, and when."""
    rng = np.random.default_rng(seed + 1000)
    X, y = rows_of(seed)
    est = MLRulesClassifier(15, random_state=seed, stopping="none")
    expected = content_hash(fit_partitions(est, [X], [y]).model_)
    chunk = -(-len(X) // int(rng.integers(1, 9)))
    rows, classes = da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk)
    start = time.perf_counter()
    same = content_hash(fit_partitions(est, rows, classes, client=client).model_) == expected
    delay = float(rng.uniform(0, time.perf_counter() - start))
    victim = int(rng.choice(sorted(client.run(os.getpid).values())))
    killed = threading.Event()

    def kill():
        os.kill(victim, signal.SIGKILL)
        killed.set()

    while not killed.is_set():  # a fit that was faster than the first is repeated
        killer = threading.Timer(delay, kill)
        killer.start()
        same &= content_hash(fit_partitions(est, rows, classes, client=client).model_) == expected
        killer.cancel()
        killer.join()
        delay *= 0.7
    return same, delay / 0.7


def main() -> None:
    """Run them all; a run that hangs prints where it is and ends the process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--direct", action="store_true", help="talk to workers directly")
    given = parser.parse_args()
    wrong = 0
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})  # starts fast
    get_mp_context().set_forkserver_preload(["distributed", "rulewright.scale"])
    settings = {"n_workers": N_WORKERS, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**settings, silence_logs=50) as cluster,
        distributed.Client(cluster, direct_to_workers=given.direct) as client,
    ):
        for seed in range(given.first, given.first + given.runs):
            client.wait_for_workers(N_WORKERS, timeout=MOST_SECONDS)  # killed ones are restarted
            faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
            start = time.perf_counter()
            same, delay = run(client, seed)
            faulthandler.cancel_dump_traceback_later()
            wrong += not same
            verdict = "the same model" if same else "ANOTHER MODEL"
            seconds = time.perf_counter() - start
            print(f"{seed}: killed after {delay:.2f} s, {seconds:.1f} s, {verdict}", flush=True)
    print(f"{given.runs} runs, {wrong} with another model")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
