"""Rules from trees: small trees are grown on the residuals of a loss, and every node is a rule.

Friedman and Popescu (2008), section 3: random subsamples and tree sizes make the trees differ. A
share of each tree enters the memory function F, so that later trees explain the remainder.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from rulewright.encoding import BinnedColumns, PackedCovers
from rulewright.programs import Coder
from rulewright.search.constraints import SearchLimits
from rulewright.search.options import check_share, check_whole
from rulewright.search.sampling import Subsampler
from rulewright.search.trees import Tree, TreeGrower

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.data import Table, Units
    from rulewright.kernels import BoolArray, FloatArray, IntArray, RowArray, WordArray
    from rulewright.rules import Conjunction

PATIENCE = 50
"""Consecutive trees without a new rule before generation ends."""


class GenerationLoss(Protocol):
    """Loss used by rule generation; scores F have the shape (rows, outputs)."""

    start: FloatArray
    """The constant F_0 that minimises the loss, one number per output."""

    def residuals(self, scores: FloatArray, rows: RowArray) -> FloatArray:
        """Return the negative gradient -dL/dF at some of the rows."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Settings of rule generation.

    Parameters
    ----------
    max_rules : int
        Maximum number of rules.
    mean_leaves : float
        Lbar: a tree has ``2 + floor(u)`` leaves, u exponential with mean ``Lbar - 2``. Their mean
        is ``2 + 1 / (exp(1 / (Lbar - 2)) - 1)``, which is 3.54 for 4 and 19.5 for 20.
    learning_rate : float
        nu, the share of a tree that enters the memory function; 0 is bagging.
    subsample : float, optional
        Share of the rows for each tree, by default ``min(N / 2, 100 + 6 sqrt(N))`` rows.
        Fewer than 50 rows are not subsampled.
    inter_supp : float
        Factor, at least 1, of the split scores of columns already used on the path; a large one
        suppresses interactions.
    onehot : bool
        Whether nominal columns are split into one label and all others.
    limits : SearchLimits
        Constraints on the form of rules.
    """

    max_rules: int = 2000
    mean_leaves: float = 4.0
    learning_rate: float = 0.01
    subsample: float | None = None
    inter_supp: float = 1.0
    onehot: bool = False
    limits: SearchLimits = field(default_factory=SearchLimits)

    def __post_init__(self) -> None:
        check_whole("max_rules", self.max_rules, 1)
        check_share("learning_rate", self.learning_rate)
        for name, value, least, most in (
            ("mean_leaves", self.mean_leaves, 2, 1e9),
            ("inter_supp", self.inter_supp, 1, 1e6),
        ):
            if not least <= value <= most:
                raise ValueError(f"{name}={value!r} must lie between {least:g} and {most:g}")
        if self.subsample is not None and not 0 < self.subsample <= 1:
            raise ValueError(f"subsample={self.subsample!r} must be above 0 and at most 1")

    def share(self, n_rows: int) -> float:
        """Return the share of the rows for each tree."""
        if self.subsample is not None:
            return self.subsample
        return min(1 / 2, (100 + 6 * math.sqrt(n_rows)) / n_rows)

    def draw_size(self, random: np.random.RandomState) -> int:
        """Draw the number of leaves of a tree."""
        u = random.exponential(self.mean_leaves - 2) if self.mean_leaves > 2 else 0.0
        return 2 + int(min(u, 2.0**30))


@dataclass(frozen=True, eq=False)
class TreeRules:
    """Distinct rules, such as the nodes of many trees.

    Attributes
    ----------
    rules : tuple of Conjunction
        No two have equal or complementary covers on the training rows.
    covers : PackedCovers
        The training rows of each rule.
    supports : float64 array
        Share of the training weight that each rule covers, above 0 and below 1.
    places : int32 array
        For each candidate (each node except roots, in the order of growth): the place of the rule
        kept for it, or -1 if it was dropped (support 0 or 1, or beyond `max_rules`).
    complements : bool array
        Whether a candidate covers exactly the rows that the kept rule does not.
    trees : int32 array
        The tree of each rule.
    drawn : PackedCovers or None
        The growing rows of each tree; None if all were used, or for other rules.
    """

    rules: tuple[Conjunction, ...]
    covers: PackedCovers
    supports: FloatArray
    places: IntArray
    complements: BoolArray
    trees: IntArray
    drawn: PackedCovers | None = None

    def __len__(self) -> int:
        return len(self.rules)

    def inside(self, place: int) -> BoolArray | None:
        """Return the growing rows of a rule's tree; None if there are no others."""
        return None if self.drawn is None else self.drawn[[self.trees[place]]].row_mask()


def generate_rules(
    binned: BinnedColumns,
    weights: FloatArray,
    loss: GenerationLoss,
    generation: Generation,
    random: np.random.RandomState,
    n_threads: int = 1,
    units: Units | None = None,
) -> TreeRules:
    """Grow trees on the residuals of a loss until there are enough distinct rules.

    Units of rows are drawn together.
    """
    n_rows = len(weights)
    sampler = Subsampler(n_rows, generation.share(n_rows), random, units=units)
    grower = TreeGrower(
        binned,
        weights,
        generation.limits,
        inter_supp=generation.inter_supp,
        onehot=generation.onehot,
        n_threads=n_threads,
    )
    F = np.tile(loss.start, (n_rows, 1))
    rules, n_fruitless, drawn = DistinctRules(weights), 0, []
    while len(rules) < generation.max_rules and n_fruitless < PATIENCE:
        sample = sampler.draw()
        S = sample.rows
        t = generation.draw_size(random)
        T = grower.grow(S, loss.residuals(F, S), t)
        nodes = T.reach(binned.codes, n_threads)
        F += generation.learning_rate * T.values[nodes]
        n_fruitless = 0 if rules.add_nodes(T, nodes) else n_fruitless + 1
        drawn.append(PackedCovers.pack(sample.drawn[np.newaxis]))
    found = rules.clean(generation.max_rules)
    return found if sampler.takes_all else replace(found, drawn=drawn[0].stack(*drawn[1:]))


def clean_rules(
    rules: Sequence[Conjunction], table: Table, weights: FloatArray, n_threads: int = 1
) -> TreeRules:
    """Keep distinct rules of any origin, such as `rules_from`, with their covers on a table."""
    coder, distinct = Coder(rules, table.schema), DistinctRules(weights)
    bits = coder.compile(rules).bits(coder.codes(table, n_threads), n_threads)
    covers = PackedCovers(bits, table.n_rows)
    # One by one, so that only one is unpacked at a time.
    sums = np.array([float(covers[[line]].dot(weights)[0]) for line in range(len(covers))])
    distinct.add(covers, sums, [*map(len, rules)], rules.__getitem__)
    return distinct.clean(len(rules))


class _KeptRule(NamedTuple):
    """A rule to be created, and whether it covers the rows of its key or their complement."""

    place: int
    make: Callable[[int], Conjunction]
    line: int
    length: int
    complement: bool
    support: float
    tree: int


class DistinctRules:
    """Rules by their rows: of equal or complementary covers, the shortest and earliest is kept.

    Rules with the same canonical form cover the same rows, so comparing covers is enough.
    """

    def __init__(self, weights: FloatArray) -> None:
        self.weights = weights
        self._kept: dict[bytes, _KeptRule] = {}
        self._seen: list[tuple[int, bool]] = []  # place among the kept rules, complement of the key
        self._n_added = 0  # trees, or lists of rules

    def __len__(self) -> int:
        return len(self._kept)

    def add_nodes(self, tree: Tree, reached: IntArray) -> int:
        """Add the rules of a tree from the nodes that rows reach; return how many are new."""
        return self.add(
            PackedCovers.pack(tree.covers(reached)[1:]),
            tree.sums(reached, self.weights)[1:],
            [tree.length(node) for node in range(1, tree.n_nodes)],
            lambda line: tree.conjunction(line + 1),
        )

    def add(
        self,
        covers: PackedCovers,
        sums: FloatArray,
        lengths: Sequence[int],
        make: Callable[[int], Conjunction],
    ) -> int:
        """Add rules by their covers and weights; return the number of new ones.

        Only the rules kept in the end are created.
        """
        before, supports = len(self), (sums / self.weights.sum()).tolist()
        for line, (key, complement) in enumerate(_keys(covers)):
            kept = self._kept.get(key)
            place = len(self) if kept is None else kept.place
            if not any(key):
                place = -1  # no row, or all rows
            elif kept is None or lengths[line] < kept.length:
                self._kept[key] = _KeptRule(
                    place, make, line, lengths[line], complement, supports[line], self._n_added
                )
            self._seen.append((place, complement))
        self._n_added += 1
        return len(self) - before

    def clean(self, max_rules: int) -> TreeRules:
        """Return the first rules, and the place of the rule that represents each added one."""
        kept = [*self._kept.items()][:max_rules]
        seen = [(place if place < max_rules else -1, flag) for place, flag in self._seen]
        flags = [place >= 0 and flag != kept[place][1].complement for place, flag in seen]
        return TreeRules(
            tuple(rule.make(rule.line) for _, rule in kept),
            _covers([(key, rule.complement) for key, rule in kept], len(self.weights)),
            np.array([rule.support for _, rule in kept]),
            np.array([place for place, _ in seen], dtype=np.int32),
            np.array(flags, dtype=np.bool_),
            np.array([rule.tree for _, rule in kept], dtype=np.int32),
        )


def _keys(covers: PackedCovers) -> list[tuple[bytes, bool]]:
    """Return a key shared by a cover and its complement: the one without the first row."""
    has_first = covers.words[:, :1] & np.uint64(1) > 0
    words: WordArray = np.where(has_first, (~covers).words, covers.words)
    return [*zip(map(bytes, words), has_first[:, 0].tolist(), strict=True)]


def _covers(keys: list[tuple[bytes, bool]], n_rows: int) -> PackedCovers:
    """Return the covers of keys."""
    empty = PackedCovers.pack(np.empty((0, n_rows), dtype=np.bool_)).words
    words = np.vstack([empty, *(np.frombuffer(key, dtype=np.uint64) for key, _ in keys)])
    packed, complement = PackedCovers(words, n_rows), np.array([flag for _, flag in keys], bool)
    return PackedCovers(np.where(complement[:, np.newaxis], (~packed).words, words), n_rows)
