"""Frozen synthetic problems: the same name gives the same numbers on every machine."""

from __future__ import annotations

import re

import numpy as np
from effects import boxes, products, smooth, sphere
from mixed import Problem, gaps, interactions, labels
from noisy_rules import noisy_rules
from sklearn.datasets import load_iris

from rulewright_lab.experiments.datasets import load_dataset
from rulewright_lab.experiments.generators import supernova_surrogate

N_PLANTED_RULES = 40


def wide(n: int, m: int, K: int, part: int = 0) -> Problem:
    """Draw n rows of m numeric columns whose K class scores are additive, rule-like and noisy.

    The concept depends on (m, K) only; `part` selects the rows, so part 1 is a test set for part 0.
    """
    concept = np.random.default_rng([20080705, m, K])
    slopes = concept.normal(scale=0.5, size=(m, K)) * (concept.random((m, 1)) < 0.5)
    rows = np.random.default_rng([n, m, K, part])
    X = rows.normal(size=(n, m))
    # Tanh bends the additive part, so that no linear model and no single split finds it.
    scores = np.tanh(X) @ slopes + rows.gumbel(size=(n, K))
    for _ in range(N_PLANTED_RULES):
        columns = concept.choice(m, size=min(m, 3), replace=False)
        thresholds = concept.normal(scale=0.5, size=len(columns))
        above = concept.random(len(columns)) < 0.5
        covered = ((X[:, columns] > thresholds) == above).all(axis=1)
        scores[covered, concept.integers(K)] += concept.uniform(0.5, 1.5)
    return X, scores.argmax(axis=1)


def iris() -> Problem:
    """Return the 150 x 4 iris table."""
    bunch = load_iris()
    return bunch.data, bunch.target


def supernova(n: int, m: int, seed: int, part: int = 0) -> Problem:
    """Return the surrogate of the supernova study; rows of part 1 are drawn by another seed."""
    table = supernova_surrogate(n, random_state=seed + 1000 * part)
    if len(table.columns) != m:
        raise ValueError(f"supernova has {len(table.columns)} columns, not {m}")
    return np.column_stack([c.values for c in table.columns]), table.known_target.codes


def data_set(name: str, part: int = 0) -> Problem:
    """Return two thirds of the rows of a data set as a data frame; part 1: the other rows."""
    table = load_dataset(name)
    y = table.known_target.codes
    drawn = np.random.default_rng(0).permutation(len(y)) < 2 * len(y) // 3
    rows = np.flatnonzero(~drawn if part else drawn)
    return table.part(slice(0, len(table))).take(rows).to_frame("pandas"), y[rows]


KINDS = {
    **{"wide": wide, "rules": noisy_rules, "supernova": supernova},
    **{"interactions": interactions, "gaps": gaps, "labels": labels},
    **{"smooth": smooth, "products": products, "boxes": boxes, "sphere": sphere},
}


def other_rows(name: str) -> str:
    """Name test rows of a problem: 20,000 of its concept, or the other third of a data set."""
    return re.sub(r"-\d+x", "-20000x", name) + "@1"


def make(name: str) -> Problem:
    """Return `iris`, `set-NAME` or `KIND-ROWSxCOLUMNS-LAST`; `@1` draws other rows of it."""
    name, _, part = name.partition("@")
    if name == "iris":
        return iris()
    kind, _, shape = name.partition("-")
    if kind == "set":
        return data_set(shape, int(part or 0))
    if kind not in KINDS:
        raise ValueError(
            f"unknown problem {name!r}: use 'iris', 'set-NAME' or 'KIND-ROWSxCOLUMNS-LAST' with "
            f"one of the kinds {', '.join(KINDS)}"
        )
    size, last = shape.split("-")
    n, m = size.split("x")
    return KINDS[kind](int(n), int(m), int(last), int(part or 0))
