"""Column selection by votes of sparse rule ensembles, as a scikit-learn selector."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from rulewright.data import RegressionSet, Table, TrainingSet, detect_task, optional, read_like
from rulewright.estimators.contract.parameters import Choice, Named, Parameter, check_parameters
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.folds.folds import run_parallel
from rulewright.estimators.rulefit.regressor import scale_numbers
from rulewright.estimators.rulefit.settings import FEW_ROWS, CandidateSettings
from rulewright.estimators.rulefit.voting import Ballot, Method, Stability, Voting
from rulewright.weighting import FPC, Squared, SquaredLoss

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import LearningRows, Task
    from rulewright.kernels import BoolArray, FloatArray, IntArray

METHOD = Named({"voting": Voting, "stability": Stability}, Method)


@dataclass(frozen=True, eq=False)
class TermVotes:
    """Votes for one rule or linear term.

    Attributes
    ----------
    term : str
        Text of the term.
    columns : tuple of str
        Columns that it uses.
    votes : int32 array of shape (samples, penalties)
        Votes of each sample, for each penalty in descending order, summed over the classes. A
        stability selection has one vote per sample.
    """

    term: str
    columns: tuple[str, ...]
    votes: IntArray

    @property
    def total(self) -> int:
        """Total number of votes."""
        return int(self.votes.sum())

    def __str__(self) -> str:
        return f"{self.total:6d}  {self.term}"


class RuleVoteSelector(SelectorMixin, CandidateSettings):  # type: ignore[misc]
    """Select the columns that the strongest rules of sparse ensembles agree on.

    Rules are grown on several samples of the rows and weighted under decreasing L1 penalties. At
    each penalty the strongest rules vote for their columns; a column is selected if most samples
    vote for it. With two classes there is one fit per sample; with more there is one per class,
    against the rest. `method="stability"` is stability selection, which bounds the expected number
    of useless columns selected.

    `transform` returns dataframes for dataframes (same library, selected columns unchanged, unless
    `set_output` says otherwise), arrays for arrays, and a Table for all other inputs.

    Attributes
    ----------
    support_ : bool array
        Whether each column is selected.
    column_counts_ : int array
        Number of samples that voted for each column.
    n_samples_drawn_ : int
        Number of samples drawn.
    votes_ : list of TermVotes
        Votes per term with at least one vote, in descending order.
    expected_false_ : float or None
        Bound on the expected number of useless columns selected, for `method="stability"`.
    task_ : {"classification", "regression"}
        The inferred or given task.
    schema_ : Schema
        Columns of the training table.

    Examples
    --------
    >>> import numpy as np
    >>> from rulewright import RuleVoteSelector
    >>> X = np.random.RandomState(0).normal(size=(400, 6))
    >>> y = (X[:, 1] > 0) & (X[:, 4] > 0)
    >>> RuleVoteSelector(max_candidates=100, random_state=0).fit(X, y).get_support(indices=True)
    array([1, 4])
    """

    method: Any = Parameter(
        METHOD,
        'How columns are selected: "voting", "stability", or an object with its own settings, '
        "such as `Voting(n_repetitions=9, min_repetitions=5)` or `Stability(max_false=2)`.",
        default="voting",
    )
    task: Task | None = Parameter(
        Choice(("classification", "regression"), optional=True),
        "Type of the target. By default fractions, and whole numbers with more than 20 distinct "
        "values, mean regression; all else is classification.",
        default=None,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {
        "method": Voting(solver=FPC()),
        "max_candidates": 600,
        "tree_size": 20.0,
        "linear": False,
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Select columns.

        Parameters
        ----------
        X : array, dataframe, dict of columns, path of a file or Table
            The table; missing values and nominal columns are handled natively.
        y : array-like or str, optional
            Class labels or numbers, or the name of the column of X that holds them; by default the
            target that a Table was read with.
        sample_weight : array-like or str, optional
            Row weights, or the name of the column of X that holds them.
        groups : array-like or str, optional
            Group of each row, or the name of the column of X that holds it: samples keep groups
            whole.

        Returns
        -------
        self
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self.DOMAINS)
        self.task_: Task = self.task or detect_task(X, y)
        table = self._read(X, y, sample_weight, self.task_, groups)
        self.schema_ = table.schema
        kind = RegressionSet if self.task_ == "regression" else TrainingSet
        rows: Any = kind.of(replace(table, columns=_order_columns(table)))
        self._warn_of_rows(rows)
        self._count(rows, METHOD.make(self.method), check_random_state(self.random_state))
        return self

    def _count(
        self, rows: LearningRows[Any], method: Method, random: np.random.RandomState
    ) -> None:
        """Collect and count the votes of all samples."""
        names, (labels, targets) = self.schema_.names, _targets(rows)
        few = count_effective_rows(rows.weights) < FEW_ROWS
        samples = [
            rows.units.rows(sample)
            for sample in method.samples(rows.units.labels(labels), few, random)
        ]
        seeds = random.randint(2**31, size=len(samples)).tolist()
        n_threads = max(1, self._n_threads // len(samples))
        tasks = [
            partial(self._vote, rows, targets, method, sample, seed, n_threads)
            for sample, seed in zip(samples, seeds, strict=True)
        ]
        self.votes_ = _histogram(run_parallel(tasks, self._n_threads))
        voted = {name: np.zeros(len(samples), dtype=np.bool_) for name in names}
        for line in self.votes_:
            for name in line.columns:
                voted[name] |= line.votes.any(axis=1)
        self.column_counts_ = np.array([int(voted[name].sum()) for name in names])
        self.n_samples_drawn_ = len(samples)
        self.support_ = method.keeps(self.column_counts_, len(samples))
        self.expected_false_ = method.expected_false(len(names))

    def _vote(
        self,
        rows: LearningRows[Any],
        targets: Sequence[FloatArray],
        method: Method,
        sample: NDArray[np.integer],
        seed: int,
        n_threads: int,
        check: Callable[[], None],
    ) -> list[tuple[Ballot, IntArray]]:
        """Fit one sample, class by class, and return the votes for the terms of each class."""
        part, ballots = rows.take(sample), []
        for y in (target[sample] for target in targets):
            check()
            loss = SquaredLoss(y, part.weights)
            candidates = self._candidates(part, loss, seed, n_threads)
            problem = candidates.problem(y, part.weights, Squared(), self.rule_scale, n_threads)
            ballots.append(Ballot.of(candidates, problem))
        votes = method.votes(ballots, len(rows.columns))
        return list(zip(ballots, votes, strict=True))

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "support_")
        mask: BoolArray = self.support_
        return mask

    def transform(self, X: Any) -> Any:
        """Return the selected columns, in the same container type as X."""
        kept = self.get_support(indices=True)
        if isinstance(X, np.ndarray | list | tuple):
            return super().transform(X)
        nw = optional("narwhals")
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        if isinstance(frame, nw.DataFrame):
            validate_data(self, frame.to_native(), reset=False, skip_check_array=True)
            _warn_of_none(kept)
            if hasattr(X, "iloc"):  # pandas keeps its rows even without columns
                return X.iloc[:, kept]
            return frame.select([frame.columns[at] for at in kept]).to_native()
        if not isinstance(X, Table) and (hasattr(X, "__array__") or hasattr(X, "toarray")):
            return super().transform(X)
        _warn_of_none(kept)
        return read_like(X, self.schema_, {self.schema_.names[at] for at in kept})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _warn_of_none(kept: IntArray) -> None:
    if not len(kept):
        warnings.warn(
            "No features were selected: either the data is too noisy or the selection test too "
            "strict.",
            UserWarning,
            stacklevel=3,
        )


def _order_columns(table: Table) -> tuple[Any, ...]:
    """Sort the columns by their contents.

    Ties between splits go to the first column; the result must not depend on the order in which
    columns are given.
    """

    def key(column: Any) -> tuple[bytes, str]:
        digest = blake2b(repr(column.schema.labels).encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(column.values).tobytes())
        return digest.digest(), column.schema.name if table.named else ""

    return tuple(sorted(table.columns, key=key))


def _targets(rows: Any) -> tuple[IntArray, list[FloatArray]]:
    """Return strata of rows for sampling, and the numeric targets to fit.

    The targets are -1 and 1: for two classes, or for each class against the rest.
    """
    if isinstance(rows, RegressionSet):
        y, _ = scale_numbers(rows.numbers, rows.weights)
        return np.zeros(rows.n_rows, dtype=np.int32), [y]
    present = np.unique(rows.labels)
    chosen = present[1:] if len(present) <= 2 else present
    return rows.labels, [np.where(rows.labels == label, 1.0, -1.0) for label in chosen]


def _histogram(found: Sequence[Sequence[tuple[Ballot, IntArray]]]) -> list[TermVotes]:
    """Sum the votes for terms with the same text."""
    votes: dict[str, IntArray] = {}
    columns: dict[str, tuple[str, ...]] = {}
    for sample, fits in enumerate(found):
        for ballot, given in fits:
            for at in np.flatnonzero(given.any(axis=1)).tolist():
                term, own = ballot.terms[at]
                columns[term] = own
                if term not in votes:
                    votes[term] = np.zeros((len(found), given.shape[1]), dtype=np.int32)
                votes[term][sample] += given[at]
    lines = [TermVotes(term, columns[term], votes[term]) for term in votes]
    return sorted(lines, key=lambda line: (-line.total, line.term))
