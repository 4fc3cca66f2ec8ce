"""Is the precision printed of rules true on new rows? `python benchmarks/rule_honesty.py`.

Ten made-up problems from which any number of rows can be drawn. Learners are fitted to some rows;
20,000 others tell the precision of their rules. The 95 % intervals that models print must hold it
for at least 93 % of the rules of each learner, over all problems. For comparison the rules of all
learners are also counted on the training rows. In a list, a rule is judged by what is left to it.

With `--kinds`, rows are also given five times under `groups=`, with weights of 5, and in groups of
2 to 20 rows that share values of columns and a tendency to a class.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification, make_moons

from rulewright.data import Table, read_table
from rulewright.encoding.covers import PackedCovers
from rulewright.estimators import LEARNERS, cross_fit
from rulewright.rules import Coverage
from rulewright_lab.experiments import generators

if TYPE_CHECKING:
    from rulewright.model import ClassModel

NOISE = 0.2
N_FRESH, LEAST_FRESH = 20_000, 20
LEAST_HELD = 0.93
Draw = Callable[[np.random.Generator, int], Table]


def resampled(table: Table) -> Draw:
    """Draw rows of a table with replacement."""
    return lambda rng, n: table.take(rng.integers(len(table), size=n))


def noisy(draw: Draw) -> Draw:
    """Assign random classes to some rows."""

    def drawn(rng: np.random.Generator, n: int) -> Table:
        rows = draw(rng, n)
        target, wrong = rows.known_target, rng.random(n) < NOISE
        others = rng.integers(len(target.classes), size=n).astype(np.int32)
        return replace(rows, target=replace(target, codes=np.where(wrong, others, target.codes)))

    return drawn


def normal(n_columns: int, label: Callable[[np.ndarray], np.ndarray]) -> Draw:
    """Draw normal columns, and a class that is a function of them."""

    def draw(rng: np.random.Generator, n: int) -> Table:
        X = rng.normal(size=(n, n_columns))
        return read_table(X, target=label(X))

    return draw


def clusters(seed: int, **options: Any) -> Draw:
    X, y = make_classification(60_000, random_state=seed, **options)
    return resampled(read_table(X, target=y))


def moons() -> Draw:
    X, y = make_moons(60_000, noise=0.3, random_state=0)
    rest = np.random.default_rng(0).normal(size=(len(y), 4))
    return resampled(read_table(np.hstack([X, rest]), target=y))


def problems() -> dict[str, Draw]:
    shells = (1.4, 3.7)
    return {
        "monks 1": noisy(resampled(generators.monks(1))),
        "monks 2": noisy(resampled(generators.monks(2))),
        "tic-tac-toe": noisy(resampled(generators.tic_tac_toe())),
        "balance scale": noisy(resampled(generators.balance_scale())),
        "two classes": clusters(1, n_features=15, n_informative=5, flip_y=NOISE, class_sep=0.8),
        "four classes": clusters(
            2, n_features=10, n_informative=5, n_classes=4, n_clusters_per_class=1, flip_y=NOISE
        ),
        "moons": moons(),
        "sphere": normal(10, lambda X: (X**2).sum(axis=1) > 9.34),
        "shells": noisy(normal(6, lambda X: np.digitize((X[:, :3] ** 2).sum(axis=1), shells))),
        "one condition": noisy(normal(3, lambda X: X[:, 0] > 0)),
    }


COPIES, SHARED = 5, 0.4


def alone(draw: Draw) -> Draw:
    return draw


def repeated(draw: Draw) -> Draw:
    """Give every row five times, as a group."""

    def drawn(rng: np.random.Generator, n: int) -> Table:
        groups = np.repeat(np.arange(n), COPIES)
        return replace(draw(rng, n).take(groups), groups=groups)

    return drawn


def weighted(draw: Draw) -> Draw:
    """Give every row a weight of 5."""
    return lambda rng, n: replace(draw(rng, n), weights=np.full(n, float(COPIES)))


def grouped(draw: Draw) -> Draw:
    """Make groups of 2 to 20 rows: half of the columns are shared, and often the class."""

    def drawn(rng: np.random.Generator, n: int) -> Table:
        rows, sizes = draw(rng, n), rng.integers(2, 21, n)
        groups = np.repeat(np.arange(n), sizes)[:n]
        first = np.searchsorted(groups, groups)
        columns = [
            replace(one, values=one.values[first]) if k % 2 else one
            for k, one in enumerate(rows.columns)
        ]
        target = rows.known_target
        own = rng.integers(len(target.classes), size=n).astype(np.int32)[groups]
        codes = np.where(rng.random(n) < SHARED, own, target.codes)
        parts = {"columns": tuple(columns), "target": replace(target, codes=codes)}
        return replace(rows, **parts, groups=groups)

    return drawn


KINDS = {"alone": alone, "repeated": repeated, "weighted": weighted, "grouped": grouped}


class Figures(NamedTuple):
    """Means over the rules of models, and the error on new rows."""

    n_rules: float
    printed: float
    fresh: float
    holds: float
    error: float

    def __str__(self) -> str:
        return (
            f"{self.n_rules:.0f} rules, precision {self.printed:.3f}, on new rows "
            f"{self.fresh:.3f}, intervals hold {self.holds:.3f}, error {self.error:.3f}"
        )


def class_counts(model: ClassModel, rows: Table) -> np.ndarray:
    """Return how many rows of each class each rule has a part in."""
    covers = PackedCovers(model.decided_bits(rows), len(rows))
    one_hot = np.eye(len(model.classes), dtype=np.float32)[rows.known_target.codes]
    return covers.unpack().astype(np.float32) @ one_hot


def judged(model: ClassModel, new: Table) -> Figures:
    counts = class_counts(model, new)
    heads = [line[rule.head.classes].sum() for line, rule in zip(counts, model.rules, strict=True)]
    covered, of_head = counts.sum(axis=1), np.array(heads)
    low, high = np.reshape([rule.share_interval for rule in model.rules], (-1, 2)).T
    known = (covered >= LEAST_FRESH) & ~np.isnan(low)
    printed, fresh = np.array([rule.share for rule in model.rules]), of_head / covered.clip(1)
    holds = (low <= fresh) & (fresh <= high)
    wrong = model.predict(new) != new.known_target.classes[new.known_target.codes]
    figures = (column[known].mean() if known.any() else 0 for column in (printed, fresh, holds))
    return Figures(float(known.sum()), *map(float, figures), float(wrong.mean()))


MAKERS = {
    **LEARNERS,
    "cn2, a list": partial(LEARNERS["cn2"], ordered=True),
    "averaging of ripper": partial(LEARNERS["averaging"], "ripper"),
}
CROSS_FITTED, COUNTED = "mlrules, cross-fitted", ", training rows"


def counted(model: ClassModel, rows: Table) -> ClassModel:
    """Count all rules on the training rows."""
    counts = class_counts(model, rows).astype(np.float64).tolist()
    return model.with_coverages([Coverage.of(tuple(line)) for line in counts])


def compared(
    chosen: list[str], kind: str, draw: Draw, n_rows: int, seed: int
) -> dict[str, Figures]:
    """Judge models of some learners, each by its own rules."""
    rng = np.random.default_rng([seed, n_rows])
    rows = KINDS[kind](draw)(rng, n_rows)
    new = (grouped(draw) if kind == "grouped" else draw)(rng, N_FRESH)
    models = {}
    for name in chosen:
        learner = MAKERS[name](random_state=seed).fit(rows)
        models[name], models[name + COUNTED] = learner.model_, counted(learner.model_, rows)
        if name == "mlrules" and kind == "alone":
            models[CROSS_FITTED] = cross_fit(learner, rows)
    return {name: judged(model, new) for name, model in models.items() if len(model)}


def means(found: list[dict[str, Figures]]) -> dict[str, Figures]:
    """Return the sums of rules, means over all of them, and the mean error."""
    pooled = {}
    for name in dict.fromkeys(name for one in found for name in one):
        lines = np.array([one[name] for one in found if name in one and one[name].n_rules])
        if len(lines):
            shares = np.average(lines[:, 1:4], axis=0, weights=lines[:, 0])
            pooled[name] = Figures(lines[:, 0].sum(), *shares, lines[:, 4].mean())
    return pooled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="300,1000")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--learners", default=";".join(MAKERS), help="names, parted by ;")
    parser.add_argument("--kinds", default="alone", help="of " + ", ".join(KINDS))
    parser.add_argument("--problems", default="", help="names, parted by ;")
    given = parser.parse_args()
    chosen, every = given.learners.split(";"), problems()
    draws = {name: every[name] for name in given.problems.split(";") if name} or every
    for kind in given.kinds.split(","):
        for n_rows in map(int, given.rows.split(",")):
            judge(chosen, kind, draws, n_rows, given.repeats)


def judge(
    chosen: list[str], kind: str, draws: dict[str, Draw], n_rows: int, n_repeats: int
) -> None:
    """Judge learners on rows of one kind, and print the figures of each problem and of all."""
    found = {}
    title = f"{n_rows:5} rows, {kind}"
    for name, draw in draws.items():
        seeds = range(n_repeats)
        found[name] = means([compared(chosen, kind, draw, n_rows, seed) for seed in seeds])
        show(f"{title}, {name}", found[name])
    every = means([*found.values()])
    show(f"{title}, all problems", every)
    for name, figures in every.items():
        worst = min(one[name].holds for one in found.values() if name in one)
        kept = "kept" if figures.holds >= LEAST_HELD else "BROKEN"
        verdict = "" if name.endswith(COUNTED) else f"; the promise is {kept}"
        print(f"  {name}, worst problem: intervals hold {worst:.3f}{verdict}", flush=True)


def show(title: str, found: dict[str, Figures]) -> None:
    print(title, *(f"{name}: {figures}" for name, figures in found.items()), sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
