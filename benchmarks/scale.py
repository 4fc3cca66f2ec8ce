"""What do fits on partitions cost? `python benchmarks/scale.py --rows 50000000`.

Three parts, each in a process of its own: the overhead over a fit in memory, the bytes that travel
for a rule, and fits on generated Parquet files, of which a tenth and all are learned from.
Processor time is that of all processes of a part.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dask.array as da
import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from console import aligned

from rulewright import MLRulesClassifier
from rulewright.estimators.mlrules.boosting import Boosting
from rulewright.scale import dask as on_workers
from rulewright.scale import fit_partitions

N_COLUMNS = 30
MOST_FILE_ROWS = 1_000_000
BYTES_PER_ROW = 8 * N_COLUMNS + 8  # of generated Parquet
CODED_BYTES = 32  # of codes, for each row


def rows_of(n_rows, seed):
    """Generate numbers with a signal in four of 30 columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32).astype(np.float64)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * (X[:, 3] > 1)
    return X, (score + rng.normal(size=n_rows) > 0).astype(np.int64)


def learner(n_rules, n_jobs=2):
    return MLRulesClassifier(n_rules, random_state=0, n_jobs=n_jobs, stopping="none")


def own_time():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def per_rule(run, processor_time, n_rules=30):
    """Return wall and processor time of a rule, and processor time of all that is not the loop."""
    taken, original = [], Boosting.run

    def timed(*args):
        start, used = time.perf_counter(), processor_time()
        original(*args)
        taken.append((time.perf_counter() - start, processor_time() - used))

    Boosting.run, before = timed, processor_time()
    try:
        run(n_rules)
    finally:
        Boosting.run = original
    (wall, cpu), whole = taken[0], processor_time() - before
    return {"wall": wall / n_rules, "cpu": cpu / n_rules, "before": whole - cpu}


def overhead(n_rows, n_parts=8, repeats=3):
    """Compare a fit in memory with partitions here and on two Dask workers, taken in turns."""
    X, y = rows_of(n_rows, 0)
    places = np.array_split(np.arange(n_rows), n_parts)
    parts, targets = [X[some] for some in places], [y[some] for some in places]
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster, direct_to_workers=True) as client:

        def everyone():
            return own_time() + sum(client.run(own_time).values())

        chunk = -(-n_rows // n_parts)
        rows, classes = da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk)
        rows, classes = client.persist([rows, classes])
        ways = {
            "in memory, two threads": (lambda n: learner(n).fit(X, y), own_time),
            f"{n_parts} parts, two threads": (
                lambda n: fit_partitions(learner(n), parts, targets),
                own_time,
            ),
            f"{n_parts} partitions, two Dask workers": (
                lambda n: fit_partitions(learner(n, 1), rows, classes, client=client),
                everyone,
            ),
        }
        found = {name: [] for name in ways}
        for _ in range(repeats):
            for name, way in ways.items():
                found[name].append(per_rule(*way))
    best = {
        name: {figure: min(one[figure] for one in own) for figure in own[0]}
        for name, own in found.items()
    }
    base = next(iter(best.values()))
    return [
        {
            "fit": name,
            **{k: round(v, 4) for k, v in own.items()},
            **{f"{k} ratio": round(own[k] / base[k], 2) for k in ("wall", "cpu")},
        }
        for name, own in best.items()
    ]


def traffic(n_rows, n_parts=8, n_rules=20):
    """Compare the bytes that workers send for a rule with what the cost model says."""
    X, y = rows_of(n_rows, 0)
    chunk, sent, rounds = -(-n_rows // n_parts), [], []
    rows, classes = da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk)
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    ask = on_workers.ask_actors

    async def counted(*args):
        answers = await ask(*args)
        sent.extend(map(len, answers))
        rounds.extend(["histogram"] if len(answers[0]) > 8_000 else [])
        return answers

    with cluster, distributed.Client(cluster) as client:
        on_workers.ask_actors = counted
        est = fit_partitions(learner(n_rules, 1), rows, classes, client=client)
    assert len(est.stages_) == n_rules
    histogram = N_COLUMNS * 256 * 2 * 8
    computed = len(rounds) / n_rules * 2 * histogram
    measured = sum(sent) / n_rules
    return [
        {
            "histograms per rule": round(len(rounds) / n_rules, 2),
            "bytes of one": histogram,
            "computed per rule": round(computed),
            "measured per rule": round(measured),
            "ratio": round(measured / computed, 3),
        }
    ]


def files(n_rows, pattern, folder, n_rules=10):
    """Learn from Parquet files."""

    def run(n):
        fit_partitions(learner(n), pattern, "y", folder=folder)

    start = time.perf_counter()
    found, millions = per_rule(run, own_time, n_rules), n_rows / 1e6
    return [
        {
            "rows": f"{n_rows:,}",
            "cpu before rules": round(found["before"], 1),
            "per million": round(found["before"] / millions, 2),
            "cpu of a rule": round(found["cpu"], 3),
            "of a million": round(found["cpu"] / millions, 4),
            "wall of a rule": round(found["wall"], 3),
            "wall of all": round(time.perf_counter() - start, 1),
            "peak GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        }
    ]


def generate(folder, n_rows):
    """Write files in ten folders of as many rows each; stop where the disk is too small."""
    needed, free = n_rows * (BYTES_PER_ROW + CODED_BYTES) * 1.1, shutil.disk_usage(folder).free
    if needed > free:
        sys.exit(
            f"{n_rows:,} rows need about {needed / 1e9:.0f} GB in {folder}, which has "
            f"{free / 1e9:.0f} GB left: give fewer --rows or another --folder"
        )
    tenth, seed = n_rows // 10, 0
    for k in range(10):
        place = Path(folder) / str(k)
        place.mkdir()
        for start in range(0, tenth, MOST_FILE_ROWS):
            X, y = rows_of(min(MOST_FILE_ROWS, tenth - start), seed)
            columns = {f"x{j}": X[:, j] for j in range(N_COLUMNS)}
            pq.write_table(pa.table({**columns, "y": y}), place / f"{seed:04}.parquet")
            seed += 1
    return 10 * tenth


def in_a_process(part, *args):
    """Run a part by itself and return its figures."""
    command = [sys.executable, __file__, "--part", part, *map(str, args)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def show(figures):
    """Print figures as a table."""
    head = list(figures[0])
    print(*aligned(head, [[one[name] for name in head] for one in figures]), sep="\n", flush=True)


PARTS = {"overhead": overhead, "traffic": traffic, "files": files}


def main() -> None:
    """Run all parts and print their figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=50_000_000, help="rows of the Parquet files")
    parser.add_argument("--memory-rows", type=int, default=1_000_000)
    parser.add_argument("--folder", help="where files are written; a temporary folder by default")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--part", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        name, n_rows, *rest = given.part
        print(json.dumps(PARTS[name](int(n_rows), *rest)))
        return
    for name in ("overhead", "traffic"):
        if given.only in (None, name):
            show(in_a_process(name, given.memory_rows))
    if given.only in (None, "files"):
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            n_rows, tenth = generate(folder, given.rows), f"{folder}/0/*.parquet"
            smaller = in_a_process("files", n_rows // 10, tenth, folder)
            show(smaller + in_a_process("files", n_rows, f"{folder}/*/*.parquet", folder))


if __name__ == "__main__":
    main()
