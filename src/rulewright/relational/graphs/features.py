"""Subgraph patterns as features: found on training graphs, searched in any graph."""

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
    """Transform graphs or molecules into Boolean columns that say which patterns occur.

    ``"frequent"`` mines all connected subgraphs with enough graphs and keeps the first by `order`;
    ``"dispersion"`` searches patterns one by one by stochastic local search, each as different from
    the earlier ones as possible; ``"all"`` enumerates subgraphs in the order of their codes.
    Patterns that occur in the same graphs as another one, or in all graphs, are dropped.

    Attributes
    ----------
    patterns_ : list of Pattern
        The patterns, in the order of selection.
    """

    method: str = Parameter(
        Choice(METHODS), "How patterns are found.", default="frequent", kw_only=False
    )
    n_features: int | None = Parameter(
        Integer(1, optional=True),
        "Maximum number of patterns; None: all frequent ones.",
        default=100,
    )
    min_support: float = Parameter(
        Real(0, above=True),
        'Minimum support of "frequent" patterns: a share of the graphs, or a number of graphs.',
        default=0.06,
    )
    max_edges: int = Parameter(Integer(0), "Maximum number of edges per pattern.", default=15)
    allow_cycles: bool = Parameter(
        CheckedByFit("bool"),
        "Whether patterns may have cycles; otherwise they are trees.",
        default=True,
    )
    order: str = Parameter(
        Choice(ORDERS),
        'Order of "frequent" patterns: smallest first ("size"), by code ("code"), nearest to half '
        'of the graphs ("balance"), by correlation with the second of two classes '
        '("correlation"), or by association with the classes ("chi2").',
        default="size",
    )
    class_correlated: bool = Parameter(
        CheckedByFit("bool"),
        'Whether "dispersion" prefers patterns that separate two classes.',
        default=False,
    )
    max_steps: int = Parameter(
        Integer(1), 'Maximum number of steps per pattern for "dispersion".', default=2000
    )
    noise: float = Parameter(
        Real(0, 1), 'Probability of random steps for "dispersion".', default=0.2
    )
    max_active: int | None = Parameter(
        Integer(1, optional=True),
        'Number of earlier patterns that "dispersion" compares with; beyond it, the pattern with '
        "the smallest weight (by mean minus variance of the margins) is ignored.",
        default=None,
    )
    constant_column: bool = Parameter(
        CheckedByFit("bool"),
        'Whether "dispersion" also prefers balanced patterns, unlike the paper.',
        default=True,
    )
    complement: bool = Parameter(
        CheckedByFit("bool"),
        "Whether to drop a pattern that occurs exactly where another one does not.",
        default=True,
    )
    reading: Any = Parameter(
        CheckedByFit("Reading or None"), "How molecules become graphs.", default=None
    )
    on_error: str = Parameter(
        Choice(ON_ERROR),
        'What to do with unreadable graphs: "raise" an error, treat them as "missing", or, in '
        'training, "drop" the rows.',
        default="raise",
    )
    random_state: Any = Parameter(
        CheckedByFit("int, RandomState or None"), 'Seed of "dispersion".', default=None
    )
    n_jobs: int | None = Parameter(
        CheckedByFit("int or None"),
        "Number of threads; does not change the patterns.",
        default=None,
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find patterns in training graphs.

        Parameters
        ----------
        X : sequence
            NetworkX graphs, graphs, SMILES texts or molecules of RDKit.
        y : array-like, optional
            Classes, for orders and searches that use them.
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
        """Whether the choice of patterns uses the classes."""
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
        """Find patterns in graphs; missing graphs have none.

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
                f"no pattern distinguishes the {len(there)} graphs: lower min_support, raise "
                "max_edges, or add different graphs"
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
        """Return the classes as numbers; raise an error if the choice needs two classes."""
        if not self.looks_at_classes:
            return None
        if classes is None:
            raise GraphError(
                f"{type(self).__name__} needs y: the choice of patterns uses the classes"
            )
        found, codes = np.unique(classes, return_inverse=True)
        if len(found) < 2:
            raise GraphError(f"all graphs have class {found[0]!r}: there is nothing to separate")
        if len(found) > 2 and (self.method == "dispersion" or self.order == "correlation"):
            raise GraphError(
                f"there are {len(found)} classes, but this choice of patterns needs two: use "
                "order='chi2', or a choice that does not use classes"
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
    codes = [pattern.traversal(labels) or () for pattern in patterns]
    starts = np.cumsum([0, *map(len, codes)], dtype=np.int32)
    flat = np.array([n for code in codes for n in code], dtype=np.int32)
    try:
        words = kernels.GraphSet(labels.arrays(graphs)).match(flat, starts)
    except ValueError as error:
        largest = max(patterns, key=lambda pattern: pattern.n_edges)
        raise GraphError(f"{error}, such as {largest.text!r:.200}: leave its rule out") from None
    return np.ascontiguousarray(unpack_words(words, len(graphs)).T)
