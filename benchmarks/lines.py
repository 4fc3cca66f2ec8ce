"""What do lines gain? Log-loss of MLRules without and with them, and of LightGBM's defaults.

`lines.py [PROBLEM ...] [--sets NAME ...]`: problems as in problems.py, means over `--concepts`.
"""

from __future__ import annotations

import argparse
from typing import Any

import lightgbm
import numpy as np
from console import aligned
from problems import data_set, make
from sklearn.metrics import log_loss

from rulewright import MLRulesClassifier

SHAPES = {"smooth": 20, "products": 15, "boxes": 25, "sphere": 10}
MADE_UP = [f"{kind}-{n}x{m}" for n in (1000, 20_000, 100_000) for kind, m in SHAPES.items()]


def compared(train: tuple[Any, Any], test: tuple[Any, Any], seed: int) -> list[float]:
    """Return the log-loss without lines, with lines and of trees, and the number of lines."""
    plain, lined = (
        MLRulesClassifier(linear=linear, n_jobs=1, random_state=seed).fit(*train)
        for linear in (False, True)
    )
    trees = lightgbm.LGBMClassifier(n_jobs=1, verbosity=-1, random_state=seed).fit(*train)
    losses = [log_loss(test[1], one.predict_proba(test[0])) for one in (plain, lined, trees)]
    return [*losses, float(np.count_nonzero([term.slopes for term in lined.model_.linear]))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=MADE_UP, help="without the last number")
    parser.add_argument("--sets", nargs="*", default=[], help="data sets of the papers")
    parser.add_argument("--concepts", type=int, default=3)
    options = parser.parse_args()
    body: list[list[object]] = []
    for name in options.problems:
        kind, shape = name.split("-")
        new = f"{kind}-20000x{shape.split('x')[1]}"
        found = [
            compared(make(f"{name}-{k}"), make(f"{new}-{k}@1"), seed=0)
            for k in range(1, options.concepts + 1)
        ]
        body.append([name, *np.mean(found, axis=0)])
    for name in options.sets:
        parts = data_set(name), data_set(name, 1)
        found = [compared(*parts, seed) for seed in range(options.concepts)]
        body.append([name, *np.mean(found, axis=0)])
    print("\n".join(aligned(["", "rules", "with lines", "trees", "lines"], body)))


if __name__ == "__main__":
    main()
