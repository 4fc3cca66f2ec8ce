"""Which queries pass, and in which order: each with what it looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

import numpy as np

from rulewright.relational import BY_CLASS, least_count, worths
from rulewright.search import check_whole
from rulewright_lab.framework.levels import Needs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.encoding import SignedCovers
    from rulewright.kernels import FloatArray
    from rulewright_lab.framework.levels import Context
    from rulewright_lab.framework.query import Query

OrderName = Literal["size", "balance", "correlation", "chi2"]
ORDERS: tuple[OrderName, ...] = ("size", "balance", "correlation", "chi2")


class Filter(Protocol):
    """Takes a batch of queries and returns those that pass, in their order.

    With ``one_by_one = True`` it says that the size of batches changes nothing.
    """

    @property
    def needs(self) -> Needs:
        """What it looks at."""

    def __call__(self, queries: Sequence[Query], ctx: Context) -> list[Query]:
        """Return the queries that pass."""


@dataclass(frozen=True)
class Duplicate:
    """A query with the same answers as an accepted one, or an earlier one, is out.

    Parameters
    ----------
    complement : bool
        So is one with the opposite answers.
    """

    complement: bool = False

    needs: ClassVar[Needs] = Needs.QUERIES | Needs.INSTANCES
    name: ClassVar[str] = "duplicate"
    one_by_one: ClassVar[bool] = True

    def __call__(self, queries: Sequence[Query], ctx: Context) -> list[Query]:
        """Return the queries with new answers."""
        seen = set(self._keys(ctx.inst.covers(ctx.queries)))
        kept = []
        for query, key in zip(queries, self._keys(ctx.inst.covers(queries)), strict=True):
            if key not in seen:
                seen.add(key)
                kept.append(query)
        return kept

    def _keys(self, covers: SignedCovers) -> list[bytes]:
        if self.complement:
            return covers.keys()
        pairs = zip(covers.holds.words, covers.fails.words, strict=True)
        return [holds.tobytes() + fails.tobytes() for holds, fails in pairs]


@dataclass(frozen=True)
class Constant:
    """A query that is never true, or never false, is out."""

    needs: ClassVar[Needs] = Needs.INSTANCES
    name: ClassVar[str] = "constant"
    one_by_one: ClassVar[bool] = True

    def __call__(self, queries: Sequence[Query], ctx: Context) -> list[Query]:
        """Return the queries that tell instances apart."""
        covers = ctx.inst.covers(queries)
        differ = (covers.holds.count() > 0) & (covers.fails.count() > 0)
        return [query for query, keep in zip(queries, differ.tolist(), strict=True) if keep]


@dataclass(frozen=True)
class MinSupport:
    """A query that holds for few instances is out.

    Parameters
    ----------
    least : float or int
        The share of the instances that it must hold for, or, whole, their number.
    """

    least: float = 0.06

    needs: ClassVar[Needs] = Needs.INSTANCES
    name: ClassVar[str] = "min_support"
    one_by_one: ClassVar[bool] = True

    def __call__(self, queries: Sequence[Query], ctx: Context) -> list[Query]:
        """Return the queries with enough instances."""
        counts = ctx.inst.covers(queries).holds.count()
        enough = counts >= least_count(self.least, len(ctx.inst))
        return [query for query, keep in zip(queries, enough.tolist(), strict=True) if keep]


@dataclass(frozen=True)
class Order:
    """Queries of a batch sorted by their size, or by what they say of the instances.

    Parameters
    ----------
    by : {"size", "balance", "correlation", "chi2"}
        Smallest first; nearest to half of the instances first; largest correlation with the second
        of two classes first, with its sign; largest chi-squared statistic first. Of equal ones the
        order stays.
    """

    by: OrderName = "size"

    def __post_init__(self) -> None:
        if self.by not in ORDERS:
            raise ValueError(f"order {self.by!r} must be one of {', '.join(ORDERS)}")

    @property
    def name(self) -> str:
        """The name of the order."""
        return self.by

    @property
    def needs(self) -> Needs:
        """What it looks at."""
        if self.by == "size":
            return Needs.NOTHING
        return Needs.INSTANCES | (Needs.LABELS if self.by in BY_CLASS else Needs.NOTHING)

    def __call__(self, queries: Sequence[Query], ctx: Context) -> list[Query]:
        """Return the queries in their new order."""
        worth = self.worth(queries, ctx)
        return [queries[place] for place in np.argsort(-worth, kind="stable").tolist()]

    def worth(self, queries: Sequence[Query], ctx: Context) -> FloatArray:
        """Return what comes first as large numbers."""
        if self.by == "size":
            return -np.array([query.size for query in queries], dtype=np.float64)
        labels = ctx.labels if self.by in BY_CLASS else None
        if self.by == "correlation" and labels is not None and labels.max() > 1:
            raise ValueError("order 'correlation' needs two classes; take 'chi2'")
        return worths(self.by, ctx.inst.covers(queries).holds, labels)


@dataclass(frozen=True)
class Best:
    """The best queries of a batch by an order pass.

    Parameters
    ----------
    k : int
        How many.
    by : {"chi2", "correlation", "balance", "size"}
        What is best; see `Order`.
    """

    k: int = 1
    by: OrderName = "chi2"

    name: ClassVar[str] = "best"

    def __post_init__(self) -> None:
        check_whole("k", self.k, 1)

    @property
    def needs(self) -> Needs:
        """What it looks at."""
        return Order(self.by).needs

    def __call__(self, queries: Sequence[Query], ctx: Context) -> list[Query]:
        """Return the best queries, in the order of the batch."""
        if not queries:
            return []
        best = np.argsort(-Order(self.by).worth(queries, ctx), kind="stable")[: self.k]
        return [queries[place] for place in sorted(best.tolist())]
