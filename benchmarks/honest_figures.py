"""Are the figures that compact rules print true on new rows? `python benchmarks/honest_figures.py`.

Ten generated problems, several concepts of each and 300 to 2,000 rows to learn from; 20,000 fresh
rows of the same concept tell the truth. The printed log-loss, which is corrected for the choice of
the size, and the mean of the folds without this correction are compared with it. How hard the
training rows happen to be is taken out: by boosted trees that were learned from other rows, hence
without bias. Models of the folds learn from fewer rows than the printed one, so a small pessimism
is expected. The mean difference must be below 0.003.

With `--copies 5` every row to learn from is given five times under `groups=`.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np
from problems import make
from sklearn.ensemble import HistGradientBoostingClassifier

import rulewright as rw
from rulewright.evidence import score_answers

PROBLEMS = (
    "smooth-{}x20-{}",
    "smooth-{}x8-{}",
    "products-{}x20-{}",
    "products-{}x10-{}",
    "boxes-{}x20-{}",
    "boxes-{}x10-{}",
    "sphere-{}x10-{}",
    "rules-{}x20-{}",
    "rules-{}x10-{}",
    "wide-{}x{}-2",
)
SIZES = (300, 600, 1_200, 2_000)
N_FRESH = 20_000
MOST_BIAS = 0.003


class Outcome(NamedTuple):
    """Size of a model, and its log-losses minus the log-loss on fresh rows."""

    n_rules: int
    printed: float
    uncorrected: float


class Concept:
    """A concept: fresh rows, and trees that tell how hard the rows to learn from are."""

    def __init__(self, problem: str, concept: int) -> None:
        self.problem, self.concept = problem, concept
        fresh = name_rows(problem, N_FRESH, concept)
        self.X, self.y = make(f"{fresh}@1")
        self.trees = HistGradientBoostingClassifier(random_state=0).fit(*make(f"{fresh}@2"))

    def judge(self, n_rows: int, copies: int = 1) -> Outcome | None:
        """Learn from some rows, or copies of them, and compare the figures; None without rules."""
        X, y = make(name_rows(self.problem, n_rows, self.concept))
        groups = None if copies == 1 else np.repeat(np.arange(len(y)), copies)
        many = (X, y) if groups is None else (X[groups], y[groups])
        est = rw.CompactRulesClassifier(random_state=self.concept).fit(*many, groups=groups)
        if est.held_out_ is None:
            return None
        harder = log_loss(self.trees, X, y) - log_loss(self.trees, self.X, self.y)
        fresh = log_loss(est, self.X, self.y) + harder
        by_repetition = est.held_out_.repeat_answers(est.size_.n_rules, est.model_)
        raw = float(np.mean([score_answers(one)["log_loss"] for one in by_repetition]))
        printed = est.model_.summary["validation"]["figures"]["log_loss"]["value"]
        return Outcome(len(est.model_), printed - fresh, raw - fresh)


def log_loss(fitted: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the log-loss of a fitted classifier."""
    places = np.searchsorted(fitted.classes_, y)
    return float(-np.log(fitted.predict_proba(X)[np.arange(len(y)), places]).mean())


def name_rows(problem: str, n_rows: int, concept: int) -> str:
    """Name rows of a problem; the concept of `wide` is its number of columns."""
    return problem.format(n_rows, 10 + 5 * concept if problem.startswith("wide") else concept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--concepts", type=int, nargs="+", default=[1, 2, 3, 4, 5, 6], help="their seeds"
    )
    parser.add_argument("--copies", type=int, default=1, help="of every row, as a group")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of rows")
    given = parser.parse_args()
    seeds = given.concepts
    warnings.simplefilter("ignore", UserWarning)  # of models without rules
    every: list[Outcome] = []
    print("minus fresh rows   fits  rules          printed      uncorrected")
    for problem in PROBLEMS:
        concepts = [Concept(problem, k) for k in seeds]
        judged = [concept.judge(n, given.copies) for concept in concepts for n in given.sizes]
        found = [one for one in judged if one is not None]
        every += found
        print_line(problem.format("n", "k"), found)
    print_line("all", every)
    bias = np.mean([one.printed for one in every])
    print(f"mean difference {bias:+.4f}: {'passed' if abs(bias) < MOST_BIAS else 'FAILED'}")


def print_line(name: str, found: list[Outcome]) -> None:
    """Print mean differences with their standard errors."""
    if not found:
        print(f"{name:18} {0:4d}")
        return
    cells = []
    for kind in ("printed", "uncorrected"):
        gaps = np.array([getattr(one, kind) for one in found])
        cells.append(f"{gaps.mean():+.4f} ± {gaps.std() / np.sqrt(len(gaps)):.4f}")
    rules = np.mean([one.n_rules for one in found])
    print(f"{name:18} {len(found):4d} {rules:6.1f} {' '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
