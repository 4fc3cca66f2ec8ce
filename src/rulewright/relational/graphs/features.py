"""Subgraph patterns as features: found on training graphs, looked for in any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rulewright import kernels
from rulewright.encoding import unpack_words
from rulewright.estimators import (
    CheckedByFit,
    Choice,
    Integer,
    Parameter,
    Parameterised,
    Real,
    check_parameters,
)
from rulewright.relational.graphs.candidates import (
    BY_CLASS,
    ORDERS,
    PatternFilter,
    least_count,
    mine_patterns,
    order_patterns,
)
from rulewright.relational.graphs.graph import Graph, GraphError, GraphLabels
from rulewright.relational.graphs.local_search import SearchWalk, SubgraphIndex, forward_selection
from rulewright.relational.graphs.molecules import (
    ON_ERROR,
    MoleculeReading,
    read_each,
    read_graph_rows,
)
from rulewright.relational.graphs.pattern import Pattern
from rulewright.search import count_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import Code, FloatArray, IntArray

METHODS = ("frequent", "dispersion", "all")


class SubgraphFeatures(
    Parameterised,
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Whether patterns occur in graphs or molecules, as columns that every learner takes.

    ``"frequent"`` mines all connected subgraphs that enough graphs have and takes the first by
    `order`; ``"dispersion"`` searches patterns one by one, each as unlike those before as can be
    found, by stochastic local search; ``"all"`` takes subgraphs in the order of their codes.
    Patterns that occur in the same graphs as another, or in all graphs, are left out.

    Attributes
    ----------
    patterns_ : list of Pattern
        The patterns, in the order in which they were chosen.
    """

    method: str = Parameter(
        Choice(METHODS), "How patterns are found.", default="frequent", kw_only=False
    )
    n_features: int | None = Parameter(
        Integer(1, optional=True), "Most patterns; None takes all that are frequent.", default=100
    )
    min_support: float = Parameter(
        Real(0, above=True),
        'Of "frequent": share of the graphs that a pattern must occur in, or, whole, their number.',
        default=0.06,
    )
    max_edges: int = Parameter(Integer(0), "Most edges of a pattern.", default=15)
    allow_cycles: bool = Parameter(
        CheckedByFit("bool"),
        "Whether patterns may have cycles; without, they are trees.",
        default=True,
    )
    order: str = Parameter(
        Choice(ORDERS),
        'Which "frequent" patterns come first: the smallest ("size"), those in the order of '
        'their codes ("code"), those in about half of the graphs ("balance"), those most '
        'correlated with the second of two classes ("correlation"), or with any class ("chi2").',
        default="size",
    )
    class_correlated: bool = Parameter(
        CheckedByFit("bool"),
        'Whether "dispersion" also seeks patterns that tell two classes apart.',
        default=False,
    )
    max_steps: int = Parameter(
        Integer(1), 'Steps of "dispersion" in search of one pattern.', default=2000
    )
    noise: float = Parameter(
        Real(0, 1), 'Probability that a step of "dispersion" is random.', default=0.2
    )
    max_active: int | None = Parameter(
        Integer(1, optional=True),
        'Patterns that "dispersion" looks at: of more, the one with the smallest weight by mean '
        "minus variance of the margins is passed over.",
        default=None,
    )
    constant_column: bool = Parameter(
        CheckedByFit("bool"),
        'Whether "dispersion" also seeks balanced patterns, which the paper does not.',
        default=True,
    )
    complement: bool = Parameter(
        CheckedByFit("bool"),
        "Whether a pattern that occurs exactly where another does not is left out too.",
        default=True,
    )
    reading: Any = Parameter(
        CheckedByFit("Reading or None"), "How molecules become graphs.", default=None
    )
    on_error: str = Parameter(
        Choice(ON_ERROR),
        "What happens to graphs that cannot be read: an error, missing values, or, in training, "
        "the rows are left out.",
        default="raise",
    )
    random_state: Any = Parameter(
        CheckedByFit("int, RandomState or None"), 'Seed of "dispersion".', default=None
    )
    n_jobs: int | None = Parameter(
        CheckedByFit("int or None"), "Threads; the patterns do not depend on it.", default=None
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find patterns in training graphs.

        Parameters
        ----------
        X : sequence
            NetworkX graphs, graphs, SMILES texts or molecules of RDKit.
        y : array-like, optional
            Classes, for orders and searches that look at them.
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self.DOMAINS)
        rows = self.read(X)
        classes = None if y is None else np.asarray(y)[list(rows)]
        return self.fit_graphs(list(rows.values()), classes)

    def transform(self, X: Any) -> FloatArray:
        """Return 1 where a pattern (column) occurs in a graph (row), else 0; NaN if missing."""
        graphs = read_graph_rows(X, self.reading or MoleculeReading(), self.on_error)
        known = np.array([graph is not None for graph in graphs], dtype=np.bool_)
        found = np.full((len(graphs), len(self._get_patterns())), np.nan)
        found[known] = pattern_occurrences(self.patterns_, [g for g in graphs if g is not None])
        return found

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the patterns as texts."""
        return np.array([pattern.text for pattern in self._get_patterns()], dtype=object)

    @property
    def looks_at_classes(self) -> bool:
        """Whether patterns are chosen by the classes."""
        if self.method == "dispersion":
            return self.class_correlated or self.max_active is not None
        return self.method == "frequent" and self.order in BY_CLASS

    def read(self, X: Any) -> dict[int, Graph | None]:
        """Read training graphs by their rows."""
        return read_each(X, self.reading or MoleculeReading(), self.on_error)

    def fit_graphs(
        self,
        graphs: Sequence[Graph | None],
        y: NDArray[Any] | None,
        check: Callable[[], None] = lambda: None,
    ) -> Self:
        """Find patterns in graphs that were read; missing ones have none.

        `check` is called between short steps; it may raise to end the search.
        """
        known = [row for row, graph in enumerate(graphs) if graph is not None]
        there = [graph for graph in graphs if graph is not None]
        if not there:
            raise GraphError("there is no graph to find patterns in: all are missing")
        labels = GraphLabels.of(there)
        classes = self._class_codes(None if y is None else y[known])
        codes = self._codes(labels, there, classes, check)
        if not codes:
            raise GraphError(
                f"no pattern tells the {len(there)} graphs apart: lower min_support, raise "
                "max_edges, or bring graphs that differ"
            )
        self.patterns_ = [Pattern.of(code, labels) for code in codes]
        return self

    def _codes(
        self,
        labels: GraphLabels,
        graphs: list[Graph],
        classes: IntArray | None,
        check: Callable[[], None],
    ) -> list[Code]:
        """Return the codes of the chosen patterns."""
        arrays, n = labels.arrays(graphs), len(graphs)
        filter = PatternFilter(n, self.complement)
        if self.method == "dispersion":
            index = SubgraphIndex(arrays, self.max_edges, self.allow_cycles)
            found = forward_selection(
                index,
                filter,
                SearchWalk(self.max_steps, self.noise),
                n_features=100 if self.n_features is None else self.n_features,
                signs=None if classes is None else np.where(classes == 1, 1.0, -1.0),
                class_correlated=self.class_correlated,
                constant_column=self.constant_column,
                max_active=self.max_active,
                random=check_random_state(self.random_state),
                n_threads=count_threads(self.n_jobs),
                check=check,
            )
            return [one.code for one in found]
        least = least_count(self.min_support, n) if self.method == "frequent" else 1
        limits = least, self.max_edges, self.allow_cycles
        stream = mine_patterns(kernels.GraphSet(arrays), *limits, check)
        if self.method == "all" or self.order == "code":
            return [one.code for one in filter.first(stream, self.n_features)]
        kept = order_patterns(filter.smallest(stream), self.order, n, classes)  # type: ignore[arg-type]
        return [one.code for one in kept[: self.n_features]]

    def _class_codes(self, classes: NDArray[Any] | None) -> IntArray | None:
        """Return the classes as numbers; of choices that need two, refuse others."""
        if not self.looks_at_classes:
            return None
        if classes is None:
            raise GraphError(f"{type(self).__name__} needs y: it chooses patterns by the classes")
        found, codes = np.unique(classes, return_inverse=True)
        if len(found) < 2:
            raise GraphError(f"all graphs have the class {found[0]!r}: there is nothing to tell")
        if len(found) > 2 and (self.method == "dispersion" or self.order == "correlation"):
            raise GraphError(
                f"there are {len(found)} classes, but patterns are chosen for two: use "
                "order='chi2', or a choice without classes"
            )
        return codes.astype(np.int32)

    def _get_patterns(self) -> list[Pattern]:
        check_is_fitted(self, "patterns_")
        return self.patterns_


def pattern_occurrences(patterns: Sequence[Pattern], graphs: Sequence[Graph]) -> NDArray[np.bool_]:
    """Return for each graph (row) which patterns (columns) occur in it."""
    vertex = sorted({label for pattern in patterns for label in pattern.labels})
    edge = sorted({label for pattern in patterns for *_, label in pattern.edges})
    labels = GraphLabels(tuple(vertex), tuple(edge))
    codes = [pattern.code(labels) or () for pattern in patterns]
    starts = np.cumsum([0, *map(len, codes)], dtype=np.int32)
    flat = np.array([n for code in codes for n in code], dtype=np.int32)
    words = kernels.GraphSet(labels.arrays(graphs)).match(flat, starts)
    return np.ascontiguousarray(unpack_words(words, len(graphs)).T)
