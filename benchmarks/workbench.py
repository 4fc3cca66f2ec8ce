"""How long a person waits in the workbench: previews, refits, and the first page.

workbench.py                # 100,000 rows, 20 rules, 200 random edits
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
import warnings
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from console import aligned
from problems import make

from rulewright import CompactRulesClassifier, read_table
from rulewright.data import DataError
from rulewright.workbench import Session

if TYPE_CHECKING:
    from collections.abc import Callable


def edits(rng: np.random.Generator, session: Session) -> dict[str, Any]:
    """List one random edit of each kind."""
    pick = lambda: int(rng.integers(1, len(session.model) + 1))  # noqa: E731
    names = session.model.schema.names
    condition = lambda: f"{rng.choice(names)} >= {rng.normal():.3f}"  # noqa: E731
    return {
        "drop": lambda: session.drop([pick()]),
        "replace": lambda: session.replace(pick(), condition()),
        "add": lambda: session.add(condition()),
        "split": lambda: session.split(pick(), condition()),
        "merge": lambda: session.merge([pick(), pick()]),
        "set points": lambda: session.set_points(pick(), float(rng.normal())),
        "freeze": lambda: session.freeze([pick()]),
        "round": lambda: session.round_thresholds(2),
        "refit": session.refit,
    }


def main() -> None:
    """Measure wall and processor time and print them by kind of edit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--edits", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = make(f"wide-{options.rows}x30-2")
    est = CompactRulesClassifier(20, size="max", cv=2, random_state=0).fit(X, y)
    session = Session(est, X, y)
    rng, times = np.random.default_rng(0), defaultdict(list)
    for k in range(options.edits):
        kinds = edits(rng, session)
        name = list(kinds)[k % len(kinds)]
        try:
            times[name].append(clocked(lambda work=kinds[name]: str(work())))
        except DataError:
            continue
    times["all but refit"] = [
        pair for name, own in times.items() if name != "refit" for pair in own
    ]
    body = [[name, len(own), *summary(np.array(own))] for name, own in times.items()]
    titles = ["median ms", "worst ms", "median cpu ms", "worst cpu ms"]
    print(f"{len(est.model_)} rules, {options.rows:,} rows")
    print("\n".join(aligned(["edit", "n", *titles], body)))
    wall, cpu = first_page(X[:5000], y[:5000])
    print(f"first page of 5,000 rows: {wall:.2f} s after the start, {cpu:.2f} s of processor time")


def clocked(work: Callable[[], Any]) -> tuple[float, float]:
    """Return wall time and processor time in milliseconds."""
    start = time.perf_counter(), time.process_time()
    work()
    return 1000 * (time.perf_counter() - start[0]), 1000 * (time.process_time() - start[1])


def summary(pairs: Any) -> list[float]:
    """Return median and maximum of wall time, then of processor time."""
    return [float(f(column)) for column in pairs.T for f in (np.median, np.max)]


def first_page(X: Any, y: Any) -> tuple[float, float]:
    """Start `rulewright edit` and ask for all that the page shows; wall and processor time."""
    columns = {f"x{k}": column for k, column in enumerate(X.T)} | {"y": y}
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder, "rows.csv"), Path(folder, "model.json")
        with data.open("w", newline="") as file:
            csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
        table = read_table(str(data), target="y")
        CompactRulesClassifier(20, size="max", cv=2, random_state=0).fit(table).model_.save(model)
        command = [str(Path(sys.executable).with_name("rulewright")), "edit", str(model)]
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--data", str(data), "--target", "y", "--no-browser"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        address, _, token = process.stdout.readline().split()[1].partition("?token=")
        headers = {"x-token": token, "content-type": "application/json"}
        request = urllib.request.Request(f"{address}api/state", b"{}", headers)
        urllib.request.urlopen(request).read()
        wall = time.perf_counter() - start
        process.terminate()
        process.communicate()
    return wall, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


if __name__ == "__main__":
    main()
