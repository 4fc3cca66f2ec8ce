"""Data sets of the papers as the rows of a trial."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from rulewright_lab.experiments.datasets import join, load_dataset, two_classes
from rulewright_lab.experiments.encodings import ENCODINGS

if TYPE_CHECKING:
    from rulewright.data import Table
    from rulewright_lab.experiments.encodings import Encoding


@dataclass(frozen=True)
class PaperData:
    """A data set of the papers, called `label` in the tables.

    It is read from the registry, where the rows of several `names` are joined; `two_classes` sets
    the most frequent class against the rest, and `encoding` prepares the columns as the thesis
    does.
    """

    label: str
    names: tuple[str, ...] = ()
    two_classes: bool = False
    encoding: Encoding = "raw"

    def load(self) -> Table:
        """Read the rows."""
        whole = reduce(join, map(load_dataset, self.names or (self.label,)))
        return ENCODINGS[self.encoding](two_classes(whole) if self.two_classes else whole)

    def identity(self) -> dict[str, Any]:
        """Identify the rows; records that are older than encodings keep their keys."""
        fields = asdict(self) | {"file": None, "target": None, "nominal": ()}
        if self.encoding == "raw":
            del fields["encoding"]
        return fields
