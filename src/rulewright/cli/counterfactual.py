"""Options of `explain` that ask what would change the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer

from rulewright.data import Table
from rulewright.explain import counterfactual
from rulewright.model import ClassModel, RuleModel

Texts: TypeAlias = list[str] | None

Wanted = Annotated[
    bool,
    typer.Option(
        "--counterfactual", help="Print the fewest and smallest changes that change the answer."
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS|LOW..HIGH",
        help="Answer to reach: a class, or numbers such as 10..20 or 10.. (with --counterfactual).",
    ),
]
Immutable = Annotated[
    Texts, typer.Option(metavar="COL", help="Column that must not change; may be repeated.")
]
Only = Annotated[
    Texts, typer.Option(metavar="COL", help="Column that may change, no other; may be repeated.")
]
Direction = Annotated[
    Texts,
    typer.Option(
        metavar="COL=DIRECTION",
        help="Values may only be increasing, or decreasing; may be repeated.",
    ),
]


@dataclass(frozen=True)
class ChangeRequest:
    """What may change, and what to reach, as the options say it."""

    to: str | None = None
    immutable: Texts = None
    only: Texts = None
    monotone: Texts = None

    def check_alone(self) -> None:
        """Refuse options that mean nothing without --counterfactual."""
        for item in fields(self):
            if getattr(self, item.name):
                raise ValueError(f"--{item.name} needs --counterfactual.")

    def text(self, model: RuleModel, table: Table, rows: Sequence[int]) -> str:
        """Tell what would change the answers for some rows of a table."""
        options: dict[str, Any] = {
            "X": table,
            "immutable": self.immutable or (),
            "only": self.only or None,
            "monotone": self._directions(),
            **self._goal(model),
        }
        found = [
            counterfactual(model, table.take(np.array([row], dtype=np.intp)), **options).text(row)
            for row in rows
        ]
        return "\n".join(found)

    def _directions(self) -> dict[str, str]:
        directions = {}
        for text in self.monotone or ():
            name, equals, direction = text.rpartition("=")
            if not (name and equals and direction):
                raise ValueError(f"--monotone {text}: write COL=DIRECTION, as income=increasing.")
            directions[name.strip()] = direction.strip()
        return directions

    def _goal(self, model: RuleModel) -> dict[str, Any]:
        if isinstance(model, ClassModel):
            return {"target_class": self.to}
        if self.to is None:
            raise ValueError("--to LOW..HIGH is needed: the numbers to reach, such as 10..20.")
        low, dots, high = self.to.partition("..")
        try:
            ends = tuple(float(end) if end.strip() else None for end in (low, high))
        except ValueError:
            ends = (None, None)
        if not dots or ends == (None, None):
            raise ValueError(f"--to {self.to}: give numbers such as 10..20, 10.. or ..20.")
        return {"target_range": ends}
