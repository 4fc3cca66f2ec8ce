"""How long a person waits in the workbench: previews, refits, and the first page.

workbench.py                # 100,000 rows, 20 rules, 200 random edits
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from console import aligned
from problems import make

from rulewright import CompactRulesClassifier
from rulewright.data import DataError
from rulewright.workbench import Session


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
    """Measure wall time and print it by kind of edit."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--edits", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = make(f"wide-{options.rows}x30-2")
    est = CompactRulesClassifier(20, size="max", cv=2, random_state=0).fit(X, y)
    start = time.perf_counter()
    session = Session(est, X, y)
    opened = time.perf_counter() - start
    rng, times = np.random.default_rng(0), {}
    session.preview(session.refit().edit)
    for k in range(options.edits):
        kinds = edits(rng, session)
        name = list(kinds)[k % len(kinds)]
        start = time.perf_counter()
        try:
            str(kinds[name]())
        except DataError:
            continue
        times.setdefault(name, []).append(1000 * (time.perf_counter() - start))
    single = [ms for name, own in times.items() if name != "refit" for ms in own]
    times["all but refit"] = single
    body = [[name, len(own), np.median(own), max(own)] for name, own in times.items()]
    print(f"{len(est.model_)} rules, {options.rows:,} rows; opened in {opened:.2f} s")
    print("\n".join(aligned(["edit", "n", "median ms", "worst ms"], body)))
    start = time.perf_counter()
    small = Session(est, {name: column[:5000] for name, column in _columns(X).items()}, y[:5000])
    str(small.figures)
    print(f"first figures of 5,000 rows: {time.perf_counter() - start:.2f} s")


def _columns(X: Any) -> dict[str, Any]:
    return X if isinstance(X, dict) else {f"x{k}": X[:, k] for k in range(X.shape[1])}


if __name__ == "__main__":
    main()
