"""Searchers on hard k-term DNF problems: `python benchmarks/hard_dnf.py --seeds 30`.

For each size the phase transition is found first: with how many negatives can nine tenths, half
and a tenth of random problems be solved? There planted problems, and random ones that
can be solved, are given to all searchers with equally many steps.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from console import aligned
from hard_dnf_walksat import walksat
from joblib import Parallel, delayed

from rulewright.rules.rule import wilson_interval
from rulewright.search import find_consistent_dnf, search_dnf
from rulewright_lab.experiments.dnf_problems import (
    Sizes,
    critical_negatives,
    planted_length,
    planted_problem,
    random_problem,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hard_dnf_walksat import Formula

    from rulewright_lab.experiments.dnf_problems import Problem

# Fifteen positives and three terms are those of Figure 4.1 of the thesis.
SIZES = (Sizes(3, 32, 15), Sizes(3, 64, 20), Sizes(4, 32, 24), Sizes(3, 64, 30))
SHARES = (0.9, 0.5, 0.1)  # of random problems that can be solved
Answer = tuple[Any, int]  # a formula or None, and steps


def slsearch(problem: Problem, max_steps: int, seed: int, **settings: Any) -> Answer:
    found = search_dnf(
        problem.rows,
        problem.labels,
        problem.k,
        max_steps=max_steps,
        random_state=seed,
        n_jobs=1,
        **settings,
    )
    return None if found.errors else found.formula, found.steps


def focused(problem: Problem, max_steps: int, seed: int) -> Answer:
    return slsearch(problem, max_steps, seed, focused=True, p_g1=0.5)


def randomsearch(problem: Problem, max_steps: int, seed: int) -> Answer:
    """Count a positive put into a part as a step, as if every restart placed all of them."""
    n_p = len(problem.positives)
    found = find_consistent_dnf(
        problem.rows,
        problem.labels,
        problem.k,
        max_restarts=max(max_steps // n_p, 1),
        random_state=seed,
        n_jobs=1,
    )
    return found.formula, found.restarts * n_p


def flipping(problem: Problem, max_steps: int, seed: int) -> Answer:
    return walksat(problem, max_steps, 0.5, seed)


SEARCHERS: dict[str, Callable[[Problem, int, int], Answer]] = {
    "SLSEARCH": slsearch,
    "SLSEARCH focused": focused,
    "RANDOMSEARCH": randomsearch,
    "WalkSAT": flipping,
}


@dataclass(frozen=True)
class Group:
    """Problems of one kind and one size."""

    kind: str
    sizes: Sizes
    n_n: int
    share: float
    seeds: tuple[int, ...]

    def problem(self, seed: int) -> Problem:
        make = planted_problem if self.kind == "planted" else random_problem
        return make(self.sizes, self.n_n, seed)


@dataclass(frozen=True)
class Outcome:
    """What a searcher made of a group: the steps of its successes, and its seconds a step."""

    searcher: str
    n: int
    steps: tuple[int, ...]
    us_per_step: float

    def text(self) -> str:
        share = len(self.steps) / self.n
        low, high = wilson_interval(share, self.n)
        median = f"{np.median(self.steps):.0f}" if self.steps else "-"
        return f"{share:.2f} [{low:.2f}, {high:.2f}] {median:>5}"


def check(problem: Problem, formula: Formula) -> None:
    """Make sure that a success is one."""
    covers = [
        np.all([problem.rows[:, v] == value for v, value in term], axis=0) for term in formula
    ]
    consistent = np.array_equal(np.any(covers, axis=0), problem.labels)
    if not consistent or len(formula) > problem.k:
        raise AssertionError("a searcher called a formula consistent that is not")


def answer(group: Group, seed: int, searcher: str, max_steps: int) -> tuple[bool, int, float]:
    """Run one searcher on one problem; tell if it succeeded, its steps and its seconds."""
    problem = group.problem(seed)
    start = time.perf_counter()
    formula, steps = SEARCHERS[searcher](problem, max_steps, seed)
    seconds = time.perf_counter() - start
    if formula is not None:
        check(problem, formula)
    return formula is not None, steps, seconds


def find_groups(
    sizes: Sizes, n_seeds: int, shares: tuple[float, ...], run: Parallel
) -> list[Group]:
    """Find the transition with random problems, and draw groups of problems around it."""
    seeds = range(2 * n_seeds)  # half of them can be solved at the transition
    most = np.array(run(delayed(critical_negatives)(sizes, seed) for seed in seeds))
    groups = []
    for share in shares:
        n_n = max(int(np.quantile(most, 1 - share, method="higher")), 1)
        real = float((most >= n_n).mean())
        groups.append(Group("planted", sizes, n_n, real, tuple(range(n_seeds))))
        if share == 0.5:
            solved = tuple(np.flatnonzero(most >= n_n)[:n_seeds].tolist())
            groups.append(Group("random", sizes, n_n, real, solved))
    return groups


def measure(group: Group, max_steps: int, run: Parallel) -> list[Outcome]:
    """Run all searchers on all problems of a group."""
    tasks = [(seed, searcher) for searcher in SEARCHERS for seed in group.seeds]
    answers = run(delayed(answer)(group, *task, max_steps) for task in tasks)
    outcomes = []
    for searcher in SEARCHERS:
        own = [got for (_, name), got in zip(tasks, answers, strict=True) if name == searcher]
        spent, taken = sum(got[2] for got in own), sum(got[1] for got in own)
        steps = tuple(got[1] for got in own if got[0])
        outcomes.append(Outcome(searcher, len(own), steps, 1e6 * spent / max(taken, 1)))
    return outcomes


def table_lines(results: list[tuple[Group, list[Outcome]]]) -> list[str]:
    """Write one line for each group."""
    head = ["problems", "k", "m", "n_p", "n_n", "literals", "solvable", *SEARCHERS]
    body = []
    for group, outcomes in results:
        s = group.sizes
        length = str(planted_length(s, group.n_n)) if group.kind == "planted" else ""
        numbers = [str(s.k), str(s.m), str(s.n_p), str(group.n_n), length, f"{group.share:.2f}"]
        body.append([group.kind, *numbers, *(outcome.text() for outcome in outcomes)])
    return aligned(head, body)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one size, ten seeds, 2,000 steps")
    parser.add_argument("--seeds", type=int, help="problems of each kind and size (30)")
    parser.add_argument("--steps", type=int, help="steps of each searcher (10,000)")
    parser.add_argument("--jobs", type=int, default=2, help="problems at a time")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    n_seeds = options.seeds or (10 if options.quick else 30)
    max_steps = options.steps or (2_000 if options.quick else 10_000)
    results: list[tuple[Group, list[Outcome]]] = []
    start = time.perf_counter()
    with Parallel(n_jobs=options.jobs) as run:
        for sizes in SIZES[:1] if options.quick else SIZES:
            for group in find_groups(sizes, n_seeds, SHARES, run):
                results.append((group, measure(group, max_steps, run)))
                line = f"  {time.perf_counter() - start:.0f} s: {group.kind} {sizes}, {group.n_n}"
                print(line, file=sys.stderr, flush=True)
    print(f"solved within {max_steps} steps [95 % interval], median steps of the successes")
    print("\n".join(table_lines(results)))
    costs = {name: [o[i].us_per_step for _, o in results] for i, name in enumerate(SEARCHERS)}
    spent = ", ".join(f"{name} {np.mean(cost):.2g}" for name, cost in costs.items())
    print(f"microseconds a step: {spent} (WalkSAT is NumPy, the others are native)")
    if options.json:
        found = [{**asdict(g), "outcomes": [asdict(o) for o in os]} for g, os in results]
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
