"""What all statements of a bias over related tables, graphs and Prolog share."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rulewright.search import BiasError, check_generator
from rulewright.search import where as called
from rulewright_lab.framework.levels import Needs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.search import RuleBlock, Sources


class Statement:
    """What the statements of this module share."""

    id: str
    limit: int | None
    simple: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_generator(self)

    @property
    def needs(self) -> Needs:
        """What it looks at."""
        return Needs.INSTANCES

    @property
    def looks_at_rows(self) -> bool:
        """Whether its rules depend on the values of the rows."""
        return Needs.INSTANCES in self.needs

    def blocks(self, sources: Sources) -> Iterator[RuleBlock]:
        """Refuse: one table is not enough."""
        raise BiasError(
            called(self),
            "needs related tables, graphs or Prolog: learn with rulewright.relational.Pipeline",
        )


def check_min_support(share: float, at: str) -> None:
    """Refuse a share that is not above 0 and at most 1."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise BiasError(at, f"min_support={share!r} must be above 0 and at most 1")
