"""What do votes for other classes gain? `other_classes.py [PROBLEM ...]`, as in problems.py.

Log-loss on other rows and processor seconds of LightGBM's defaults, and of MLRules whose rules vote
for one class or for several.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import lightgbm
from console import aligned
from problems import make, other_rows
from sklearn.metrics import log_loss

from rulewright import Growth, MLRulesClassifier

CHOSEN_ON = (
    "gaps-60000x21-3",
    "gaps-30000x23-4",
    "wide-40000x20-5",
    "gaps-60000x21-7",
    "gaps-20000x24-5",
    "wide-30000x15-3",
)


def measure(learner: Any, train: Any, test: Any) -> tuple[float, float, int]:
    """Return log-loss, processor seconds and the number of rounds of a learner."""
    start = time.process_time()
    learner.fit(*train)
    seconds = time.process_time() - start
    rounds = len(learner.trace_["train_loss"]) if hasattr(learner, "trace_") else 100
    return log_loss(test[1], learner.predict_proba(test[0])), seconds, rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=CHOSEN_ON)
    options = parser.parse_args()
    body = []
    for name in options.problems:
        parts = make(name), make(other_rows(name))
        learners = [
            lightgbm.LGBMClassifier(n_jobs=1, verbosity=-1, random_state=0),
            *(
                MLRulesClassifier(growth=Growth(other_classes=several), n_jobs=1, random_state=0)
                for several in (False, True)
            ),
        ]
        figures = [measure(learner, *parts) for learner in learners]
        body.append([name, *(value for figure in figures for value in figure)])
    heads = [f"{what} {who}" for who in ("trees", "one", "several") for what in ("loss", "s", "n")]
    print("\n".join(aligned(["", *heads], body)))


if __name__ == "__main__":
    main()
