"""Rules from trees: many small trees are grown on the residuals of a loss, every node is a rule.

Friedman and Popescu (2008), section 3: random subsamples and tree sizes make trees differ, and a
share of each tree enters the memory function F, so that later trees explain what is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rulewright.encoding.covers import PackedCovers
from rulewright.search.limits import SearchLimits
from rulewright.search.sampling import Subsampler
from rulewright.search.trees import TreeGrower

if TYPE_CHECKING:
    from rulewright.encoding.binned import BinnedColumns
    from rulewright.kernels import BoolArray, FloatArray, IntArray, RowArray, WordArray
    from rulewright.rules import Conjunction
    from rulewright.search.trees import Tree

PATIENCE = 50
"""Generation ends after so many trees in a row without a new rule."""


class Loss(Protocol):
    """What generation asks of a loss; scores F have the shape (rows, outputs)."""

    start: FloatArray
    """The constant F_0 that minimises the loss, one number per output."""

    def residuals(self, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return the negative gradient -dL/dF at some of the rows."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """How rules are generated.

    Parameters
    ----------
    max_rules : int
        Most rules.
    mean_leaves : float
        Lbar: a tree has ``2 + floor(u)`` leaves, u exponential with mean ``Lbar - 2``. Their mean
        is ``2 + 1 / (exp(1 / (Lbar - 2)) - 1)``, which is 3.54 for 4 and 19.5 for 20.
    learning_rate : float
        nu, the share of a tree that enters the memory function; 0 is bagging.
    subsample : float, optional
        Share of the rows that a tree sees, by default those of ``min(N / 2, 100 + 6 sqrt(N))``.
    inter_supp : float
        Factor, at least 1, of the scores of splits on columns that the path already uses; a large
        one suppresses interactions.
    onehot : bool
        Whether nominal columns are split into one label and the others.
    limits : SearchLimits
        What a rule may look like.
    """

    max_rules: int = 2000
    mean_leaves: float = 4.0
    learning_rate: float = 0.01
    subsample: float | None = None
    inter_supp: float = 1.0
    onehot: bool = False
    limits: SearchLimits = field(default_factory=SearchLimits)

    def share(self, n_rows: int) -> float:
        """Return the share of the rows that a tree sees."""
        if self.subsample is not None:
            return self.subsample
        return min(1 / 2, (100 + 6 * math.sqrt(n_rows)) / n_rows)

    def draw_size(self, random: np.random.RandomState) -> int:
        """Draw the number of leaves of a tree."""
        u = random.exponential(self.mean_leaves - 2) if self.mean_leaves > 2 else 0.0
        return 2 + int(min(u, 2.0**30))


@dataclass(frozen=True, eq=False)
class TreeRules:
    """Distinct rules of many trees.

    Attributes
    ----------
    rules : tuple of Conjunction
        No two cover the same training rows, or all that the other does not.
    covers : PackedCovers
        The training rows of each rule.
    supports : float64 array
        Share of the training weight of each rule, above 0 and below 1.
    places : int32 array
        For each node but the roots, in the order of growth: the place of its rule, or -1 if it was
        dropped (of support 0 or 1, or beyond `max_rules`).
    complements : bool array
        Whether the node covers all rows but those of that rule.
    """

    rules: tuple[Conjunction, ...]
    covers: PackedCovers
    supports: FloatArray
    places: IntArray
    complements: BoolArray

    def __len__(self) -> int:
        return len(self.rules)


def generate_rules(
    binned: BinnedColumns,
    weights: FloatArray,
    loss: Loss,
    generation: Generation,
    random: np.random.RandomState,
    n_threads: int = 1,
) -> TreeRules:
    """Grow trees on the residuals of a loss until they give enough distinct rules."""
    n_rows = len(weights)
    sampler = Subsampler(n_rows, generation.share(n_rows), random)
    grower = TreeGrower(
        binned,
        weights,
        generation.limits,
        inter_supp=generation.inter_supp,
        onehot=generation.onehot,
        n_threads=n_threads,
    )
    F = np.tile(loss.start, (n_rows, 1))
    rules, n_fruitless = DistinctRules(weights), 0
    while len(rules) < generation.max_rules and n_fruitless < PATIENCE:
        S = sampler.draw().rows
        t = generation.draw_size(random)
        T = grower.grow(S, loss.residuals(F, S), t)
        nodes = T.reach(binned.codes, n_threads)
        F += generation.learning_rate * T.values[nodes]
        n_fruitless = 0 if rules.add(T, nodes) else n_fruitless + 1
    return rules.cleaned(generation.max_rules)


class _Node(NamedTuple):
    """A node as a rule: how long it is, and whether its rows are those of its key or the others."""

    tree: Tree
    node: int
    length: int
    complement: bool
    support: float


class DistinctRules:
    """Rules by their rows: of equal covers, and of complements, the shorter and earlier is kept.

    Rules of equal canonical form cover the same rows, so covers alone tell rules apart.
    """

    def __init__(self, weights: FloatArray) -> None:
        self.weights = weights
        self._kept: dict[bytes, _Node] = {}
        self._seen: list[tuple[bytes, bool]] = []

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, tree: Tree, reached: IntArray) -> int:
        """Add the rules of a tree from the nodes that the rows reach; return how many are new."""
        before = len(self)
        supports = tree.sums(reached, self.weights) / self.weights.sum()
        keys = _keys(tree.covers(reached)[1:])
        for node, (key, complement) in enumerate(keys, start=1):
            self._seen.append((key, complement))
            if not any(key):
                continue  # no row, or all rows
            kept = self._kept.get(key)
            length = tree.length(node)
            if kept is None or length < kept.length:
                support = float(supports[node])
                self._kept[key] = _Node(tree, node, length, complement, support)
        return len(self) - before

    def cleaned(self, max_rules: int) -> TreeRules:
        """Return the first rules, and where each node found its rule."""
        kept = [*self._kept.items()][:max_rules]
        place_of = {key: place for place, (key, _) in enumerate(kept)}
        places = [place_of.get(key, -1) for key, _ in self._seen]
        complements = [
            place >= 0 and complement != kept[place][1].complement
            for place, (_, complement) in zip(places, self._seen, strict=True)
        ]
        return TreeRules(
            tuple(rule.tree.conjunction(rule.node) for _, rule in kept),
            _covers([(key, rule.complement) for key, rule in kept], len(self.weights)),
            np.array([rule.support for _, rule in kept]),
            np.array(places, dtype=np.int32),
            np.array(complements, dtype=np.bool_),
        )


def _keys(held: BoolArray) -> list[tuple[bytes, bool]]:
    """Give a key that covers share with their complements: the one without the first row."""
    packed = PackedCovers.pack(held)
    words: WordArray = np.where(held[:, :1], (~packed).words, packed.words)
    return [*zip(map(bytes, words), held[:, 0].tolist(), strict=True)]


def _covers(keys: list[tuple[bytes, bool]], n_rows: int) -> PackedCovers:
    """Give the covers that keys stand for."""
    empty = PackedCovers.pack(np.empty((0, n_rows), dtype=np.bool_)).words
    words = np.vstack([empty, *(np.frombuffer(key, dtype=np.uint64) for key, _ in keys)])
    packed, complement = PackedCovers(words, n_rows), np.array([flag for _, flag in keys], bool)
    return PackedCovers(np.where(complement[:, np.newaxis], (~packed).words, words), n_rows)
