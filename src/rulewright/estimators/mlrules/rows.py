"""What the boosting loop asks of its rows, wherever these are: in memory or on partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from rulewright.data import Schema
    from rulewright.estimators.mlrules.pruning import Pruning
    from rulewright.kernels import ByteArray, FloatArray, Limits, Score
    from rulewright.rules import Head
    from rulewright.search import FoundRule

Drawn = TypeVar("Drawn")
"""What tells the rows of a subsample."""

Cover = TypeVar("Cover")
"""What tells the rows that a rule covers."""

CoverIn = TypeVar("CoverIn", contravariant=True)


class VoteLikelihood(Protocol[CoverIn]):
    """The likelihood of the training rows: scores for the search, and the steps of rules."""

    @property
    def unit(self) -> float:
        """What a step of the statistics stands for."""

    def score(self, kind: str, l2: float, head: Head | None = None) -> Score:
        """Describe the score for the search: over all votes, or for one `head` only."""

    def head_of(self, score: Score, vote: int) -> Head:
        """Return what the vote of a search with this score speaks for."""

    def best_vote(self, kind: str, l2: float) -> Head:
        """Choose the vote of the next rule by all rows."""

    def newton_step(
        self,
        rows: CoverIn,
        head: Head,
        l2: float,
        backtrack: bool,
        min_evidence: float,
        largest: float,
    ) -> float:
        """Return the response of a vote over the rows; not positive when it would not help."""


class BoostedRows(Protocol[Drawn, Cover]):
    """The rows of a fit: those to learn from, and those kept aside if there are any."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    @property
    def class_shares(self) -> list[float]:
        """The share of each class in the weight of all rows."""

    @property
    def takes_all(self) -> bool:
        """Whether every rule is grown on all rows."""

    @property
    def likelihood(self) -> VoteLikelihood[Cover]:
        """The likelihood of the rows to learn from."""

    @property
    def train_loss(self) -> float:
        """The mean loss of the rows to learn from; NaN if it is not followed."""

    @property
    def validation_loss(self) -> float:
        """The mean loss of the rows kept aside; NaN if there are none."""

    def start_pruning(self, kind: str | None, required: ByteArray) -> Pruning[Drawn]:
        """Return what prunes rules in one of the ways "conditions", "prefix" or None."""

    def grow(self, score: Score, limits: Limits) -> tuple[FoundRule | None, Drawn]:
        """Grow a rule on the next subsample; tell also which rows are in it."""

    def cover(self, found: FoundRule, head: Head, drawn: Drawn) -> Cover:
        """Find the rows that a rule covers."""

    def add(self, found: FoundRule, cover: Cover, head: Head, response: float) -> None:
        """Add a rule: its response moves the scores of all rows that it covers."""

    def weigh_cover(self, cover: Cover, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
        """Return the class weights of the rows covered: all, and those outside the subsample."""
