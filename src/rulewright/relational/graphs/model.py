"""The model of graphs: rules over patterns, and the patterns they use."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rulewright.model import (
    ClassModel,
    ModelFileError,
    json_list,
    model_of_content,
    read_document,
    write_document,
)
from rulewright.relational.graphs.drawing import GraphExplanation, model_html
from rulewright.relational.graphs.features import pattern_occurrences
from rulewright.relational.graphs.graph import Graph, GraphError
from rulewright.relational.graphs.molecules import (
    MoleculeReading,
    descriptor_columns,
    read_graph_rows,
)
from rulewright.relational.graphs.pattern import Pattern

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray

PRESENT, ABSENT = "present", "absent"
"""Labels of the columns of patterns."""

FORM = "graphs"
_FIELDS = {"form", "reading", "patterns", "rules"}


@dataclass(frozen=True, eq=False)
class GraphRules:
    """Rules over columns that say whether patterns occur in a graph.

    Parameters
    ----------
    rules : ClassModel
        The rules; the names of their columns are the texts of patterns.
    patterns : tuple of Pattern
        The patterns that the rules use.
    reading : MoleculeReading
        How molecules become graphs.
    descriptors : tuple of str
        The descriptors of whole molecules that the rules use.

    Notes
    -----
    Methods accept the same graphs as `GraphRulesClassifier.fit`. With ``on_error="missing"``
    unreadable graphs are missing: no rule applies to them.
    """

    rules: ClassModel
    patterns: tuple[Pattern, ...]
    reading: MoleculeReading = field(default_factory=MoleculeReading)
    descriptors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = {pattern.text for pattern in self.patterns} | {*self.descriptors}
        for column in self.rules.columns:
            if column not in known:
                raise GraphError(
                    f"the rules use the column {column!r}, which is not a pattern or a descriptor"
                )

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels."""
        return self.rules.classes

    def predict(self, X: Any, *, on_error: str = "raise") -> NDArray[Any]:
        """Return the most probable class of each graph."""
        return self.rules.predict(self.columns(X, on_error))

    def predict_proba(self, X: Any, *, on_error: str = "raise") -> FloatArray:
        """Return the probabilities of the classes."""
        return self.rules.predict_proba(self.columns(X, on_error))

    def decision_function(self, X: Any, *, on_error: str = "raise") -> FloatArray:
        """Return the scores: second minus first class for two classes, one per class otherwise."""
        return self.rules.decision_function(self.columns(X, on_error))

    def explain(self, X: Any, *, on_error: str = "raise") -> GraphExplanation:
        """Return which rules apply to each graph, and which vertices their patterns match."""
        graphs = self.graphs(X, on_error)
        columns = self._columns(graphs)
        return GraphExplanation(self.rules.explain(columns), graphs, self.patterns)

    def columns(self, X: Any, on_error: str = "raise") -> dict[str, Any]:
        """Return a column per pattern, "present" or "absent", and one per descriptor.

        None stands for a missing graph.
        """
        return self._columns(self.graphs(X, on_error))

    def _columns(self, graphs: Sequence[Graph | None]) -> dict[str, Any]:
        numbers = descriptor_columns(self.descriptors, graphs)
        return {**pattern_columns(self.patterns, graphs), **numbers}

    def graphs(self, X: Any, on_error: str = "raise") -> list[Graph | None]:
        """Read graphs in the same way as for training; None for missing ones."""
        return read_graph_rows(X, self.reading, on_error)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as versioned JSON; the file is replaced completely or not at all."""
        content = {
            "form": FORM,
            "reading": vars(self.reading),
            "patterns": [pattern.to_json() for pattern in self.patterns],
            "rules": self.rules.content(),
        }
        if self.descriptors:
            content["descriptors"] = list(self.descriptors)
        write_document(path, content)

    def __str__(self) -> str:
        return str(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __bool__(self) -> bool:
        return True

    def _repr_html_(self) -> str:
        return model_html(self)


def pattern_columns(
    patterns: Sequence[Pattern], graphs: Sequence[Graph | None]
) -> dict[str, list[str | None]]:
    """Return a column per pattern: "present" or "absent", None for a missing graph."""
    known = [row for row, graph in enumerate(graphs) if graph is not None]
    occurs = pattern_occurrences(patterns, [graph for graph in graphs if graph is not None])
    columns: dict[str, list[str | None]] = {}
    for place, pattern in enumerate(patterns):
        column: list[str | None] = [None] * len(graphs)
        for row, yes in zip(known, occurs[:, place].tolist(), strict=True):
            column[row] = PRESENT if yes else ABSENT
        columns[pattern.text] = column
    return columns


def load_graph_rules(path: str | os.PathLike[str]) -> GraphRules:
    """Load a model saved by ``model_.save(path)``.

    Parameters
    ----------
    path : path
        A file written by `GraphRules.save`.

    Raises
    ------
    ModelFileError
        If the file is not a valid model of graphs; the message says what is wrong.
    """
    try:
        return _model(read_document(path))
    except RecursionError:
        raise ModelFileError(f"cannot load {str(path)!r}: nested too deeply") from None
    except ValueError as error:
        raise ModelFileError(f"cannot load {str(path)!r}: {error}") from error


def _model(content: dict[str, Any]) -> GraphRules:
    if content.get("form") != FORM:
        raise ModelFileError(
            f"its form is {content.get('form')!r}: it is not a model of graphs; use load_model"
        )
    if content.keys() - {"descriptors"} != _FIELDS:
        raise ModelFileError(f"the fields must be {sorted(_FIELDS)}, not {sorted(content)}")
    reading = content["reading"]
    if not isinstance(reading, dict) or reading.keys() != vars(MoleculeReading()).keys():
        raise ModelFileError(f"reading must have {sorted(vars(MoleculeReading()))}")
    if not all(isinstance(value, bool) for value in reading.values()):
        raise ModelFileError("the values of reading must be true or false")
    patterns = []
    for place, obj in enumerate(json_list(content["patterns"], "patterns")):
        try:
            patterns.append(Pattern.from_json(obj))
        except ValueError as error:
            raise ModelFileError(f"pattern {place}: {error}") from error
    if not isinstance(content["rules"], dict):
        raise ModelFileError("rules must be an object")
    rules = model_of_content(content["rules"])
    if not isinstance(rules, ClassModel):
        raise ModelFileError("rules must be a classification model")
    names = json_list(content.get("descriptors", []), "descriptors")
    if not all(isinstance(name, str) for name in names):
        raise ModelFileError("descriptors must be names")
    return GraphRules(rules, tuple(patterns), MoleculeReading(**reading), tuple(map(str, names)))
