"""Do statistics of rules keep their promises? `python benchmarks/rule_fdr.py --repeats 1000`.

Rules with planted truth, most of them overlapping, are judged on fresh rows by
`trust.rule_statistics`, over and over. The false discovery rate (the mean share of untrue claims
among the discoveries) must be at most q, and each interval must hold the true precision of at least
the share of rules that it claims. Columns are uniform, and the target depends on the first of them,
so that the truth of every rule is known exactly.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from rulewright.data import read_table
from rulewright.model import AdditiveRules, RegressionRules
from rulewright.rules import Adds, Coverage, NumberCoverage, Rule, parse_formula
from rulewright.trust import ClassRuleStatistics, RuleStatistics, rule_statistics

N_COLUMNS = 4
BASE = 0.3
Q = 0.1
LEAST_COVERAGE = 0.95


@dataclass(frozen=True)
class World:
    """How strongly the target depends on the first column, and how many rules use that column."""

    name: str
    effect: float
    used: float
    numbers: bool = False


WORLDS = (
    World("nothing is true", 0.0, 0.5),
    World("few rules are true", 0.5, 0.15),
    World("many rules are true", 0.5, 0.8),
    World("numbers, nothing is true", 0.0, 0.5, numbers=True),
    World("numbers, few rules are true", 1.5, 0.15, numbers=True),
)


@dataclass(frozen=True)
class Box:
    """A rule as a box: from low to high in each column, for the second class or the first."""

    low: np.ndarray
    high: np.ndarray
    sign: int

    @classmethod
    def draw(cls, rng: np.random.Generator, used: float) -> Box:
        low, high = np.zeros(N_COLUMNS), np.ones(N_COLUMNS)
        others = rng.choice(np.arange(1, N_COLUMNS), rng.integers(1, 3), replace=False)
        for j in [0, *others] if rng.random() < used else others:
            width = round(rng.uniform(0.3, 0.7), 2)
            low[j] = round(rng.uniform(0.0, 1.0 - width), 2)
            high[j] = low[j] + width
        return cls(low, high, int(rng.choice([-1, 1])))

    @property
    def body(self) -> str:
        ends = zip(range(N_COLUMNS), self.low, self.high, strict=True)
        return " and ".join(
            f"{low:.6g} < x{j} <= {high:.6g}" for j, low, high in ends if high - low < 1
        )

    @property
    def share(self) -> float:
        return float(np.prod(self.high - self.low))

    def mean(self, effect: float) -> float:
        """Return the mean target inside: the effect belongs to the upper half of a column."""
        upper = max(0.0, self.high[0] - max(0.5, self.low[0])) / (self.high[0] - self.low[0])
        return BASE + effect * float(upper)

    def is_true(self, effect: float) -> bool:
        inside, whole = self.mean(effect), BASE + effect / 2
        return self.sign * (inside - whole) > 1e-9


def model_of(boxes: list[Box], numbers: bool) -> AdditiveRules | RegressionRules:
    schema = read_table({f"x{j}": [0.0, 0.5] for j in range(N_COLUMNS)}).schema
    bodies = [parse_formula(box.body) for box in boxes]
    if numbers:
        rules = [
            Rule(body, Adds(0, float(box.sign)), NumberCoverage(1, 0, 0))
            for body, box in zip(bodies, boxes, strict=True)
        ]
        return RegressionRules(schema, 0.0, tuple(rules), {})
    rules = [
        Rule(body, Adds(int(box.sign > 0), 1.0), Coverage.of((1.0, 1.0)))
        for body, box in zip(bodies, boxes, strict=True)
    ]
    return AdditiveRules(schema, np.array([0, 1]), (0.0, 0.0), tuple(rules), {})


def draw_rows(rng: np.random.Generator, world: World, n_rows: int) -> tuple[dict, np.ndarray]:
    X = {f"x{j}": rng.random(n_rows) for j in range(N_COLUMNS)}
    mean = BASE + world.effect * (X["x0"] > 0.5)
    if world.numbers:
        return X, mean + rng.exponential(size=n_rows) - 1.0
    return X, (rng.random(n_rows) < mean).astype(int)


@dataclass(frozen=True)
class Outcome:
    """Shares of false discoveries and of true claims found, by p and e; intervals that hold."""

    false: tuple[float, float]
    found: tuple[float, float]
    precision: float
    share: float


def judged(statistics: RuleStatistics, boxes: list[Box], world: World) -> Outcome:
    true = np.array([box.is_true(world.effect) for box in boxes])
    lists = (statistics.discovered_by_p, statistics.discovered_by_e)
    means = np.array([box.mean(world.effect) for box in boxes])
    if isinstance(statistics, ClassRuleStatistics):
        means = np.where([box.sign > 0 for box in boxes], means, 1.0 - means)
        low, high = statistics.precision_low, statistics.precision_high
    else:
        low, high = statistics.mean_low, statistics.mean_high
    shares = np.array([box.share for box in boxes])
    return Outcome(
        tuple(float((out & ~true).sum() / max(1, out.sum())) for out in lists),
        tuple(float((out & true).sum() / max(1, true.sum())) for out in lists),
        float(np.mean((low <= means) & (means <= high))),
        float(np.mean((statistics.share_low <= shares) & (shares <= statistics.share_high))),
    )


def simulate(world: World, n_repeats: int, n_rows: int = 300, n_rules: int = 40) -> list[Outcome]:
    """Judge new rules on new rows, as often as asked."""
    outcomes = []
    for seed in range(n_repeats):
        rng = np.random.default_rng([seed, n_rows, n_rules])
        boxes = [Box.draw(rng, world.used) for _ in range(n_rules)]
        rows = draw_rows(rng, world, n_rows)
        statistics = rule_statistics(model_of(boxes, world.numbers), *rows, q=Q)
        outcomes.append(judged(statistics, boxes, world))
    return outcomes


def mean_of(outcomes: list[Outcome], name: str) -> np.ndarray:
    return np.mean([getattr(outcome, name) for outcome in outcomes], axis=0)


def line(world: World, outcomes: list[Outcome]) -> str:
    false, found = mean_of(outcomes, "false"), mean_of(outcomes, "found")
    precision, share = mean_of(outcomes, "precision"), mean_of(outcomes, "share")
    # Intervals of means are approximations: only those of shares promise anything.
    kept = max(false) <= Q and (world.numbers or min(precision, share) >= LEAST_COVERAGE)
    what = "mean" if world.numbers else "precision"
    return (
        f"{world.name:28} FDR by p {false[0]:.4f}, by e {false[1]:.4f}; true rules found by p "
        f"{found[0]:.2f}, by e {found[1]:.2f}; intervals hold {what} {precision:.3f}, share "
        f"{share:.3f}: {'kept' if kept else 'BROKEN'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--rules", type=int, default=40)
    given = parser.parse_args()
    print(f"q = {Q}, {given.rules} rules on {given.rows} rows, {given.repeats} repeats")
    for world in WORLDS:
        print(line(world, simulate(world, given.repeats, given.rows, given.rules)), flush=True)


if __name__ == "__main__":
    main()
