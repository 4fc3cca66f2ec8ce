"""Models of classes: scores become probabilities and a label; labels and weights of classes."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from rulewright.data import Fields, Table, define, label_of, list_of
from rulewright.model.class_explanation import ClassExplanation
from rulewright.model.explanation import (
    Reason,
    ReasonLine,
    RowReasons,
    others_text,
    rule_text,
    select_shown,
)
from rulewright.model.rule_model import RuleModel
from rulewright.model.text import escape_line
from rulewright.rules import Says, checked_number, checked_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rulewright.model.explanation import Explanation
    from rulewright.programs import ClassProgram


class ClassModel(RuleModel):
    """A model that predicts classes.

    Attributes
    ----------
    classes : ndarray
        Class labels.
    """

    amount: ClassVar[str] = "probability"
    classes: NDArray[Any]

    @property
    @abstractmethod
    def program(self) -> ClassProgram:
        """What the model computes for one row; forms cache it."""

    def decision_function(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Give scores as scikit-learn does: second minus first class if there are two classes."""
        scores = self.scores(X, n_threads=n_threads)
        if len(self.classes) == 1:
            return np.zeros(len(scores))
        return scores[:, 1] - scores[:, 0] if len(self.classes) == 2 else scores

    def predict_proba(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Give the probability of each class, as an array of shape (rows, classes)."""
        return self.probabilities(self.scores(X, n_threads=n_threads))

    def predict(self, X: object, *, n_threads: int | None = None) -> NDArray[Any]:
        """Give the label of the class that ``decide`` chooses."""
        labels: NDArray[Any] = self.classes[self.decide(self.scores(X, n_threads=n_threads))]
        return labels

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn scores into probabilities, as arrays of shape (rows, classes)."""
        return self._value(self.program.probabilities, scores)

    def expected_costs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give what predicting each class is expected to cost; without costs an error costs 1."""
        costs = self.program.costs
        return 1.0 - self.probabilities(scores) if costs is None else self._value(costs, scores)

    def decide(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Choose a class for each row of scores, as indices of classes.

        The choice is made from the scores: classes that differ in score may round to equal
        probabilities.
        """
        return self._value(self.program.chosen, scores)

    def flags(self, scores: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
        """Give what exports tell besides scores, probabilities and label: truth values by name."""
        return {name: self._value(node, scores) for name, node in self.program.flags.items()}

    def explain(self, X: object, *, n_threads: int | None = None) -> ClassExplanation:
        """Tell for each row which rules fired and what they say; see ``Explanation``."""
        rows = self._rows(X, n_threads)
        scores = rows.value(self.program.scores)
        return ClassExplanation(
            self,
            rows.table,
            rows.covers(),
            scores,
            self.probabilities(scores),
            self.decide(scores),
            **self._explain_form(scores, rows.table),
        )

    def _explain_form(self, scores: NDArray[np.float64], table: Table) -> dict[str, Any]:
        """Give what explanations of this form have beyond those of all forms."""
        return {}

    def reasons_for(self, found: Any, row: int, max_reasons: int | None) -> RowReasons:
        """Give the rules that hold; a form that can tells the scores after each of them too."""
        reasons = self._claims(found, row)
        shown = select_shown(reasons, max_reasons)
        hidden = reasons[len(shown) :]
        start = [] if reasons else [Reason("", "start: where no rule holds")]
        rest = [Reason("", others_text(hidden))] if hidden else []
        return RowReasons(ReasonLine("probability", "", "reason"), shown, start, rest)

    def _claims(self, found: Explanation, row: int) -> list[Reason]:
        """Give what the rules that hold say."""
        names = [escape_line(name) for name in self.class_names]
        return [
            Reason(f"{rule.outcome} {rule.head.text(names)}", rule_text(self.rules, i))
            for i, rule in ((i, self.rules[i]) for i in found.rule_ids(row))
        ]

    def answer_notes(self, found: Explanation, row: int) -> list[str]:
        """Write what there is to say about an answer beyond class and probabilities."""
        return []

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """Class labels as text."""
        return class_names(self.classes)

    @property
    def head_names(self) -> tuple[str, ...]:
        """Class labels as text."""
        return self.class_names

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def scope(self) -> str:
        """The classes, for the title of the model."""
        names = ", ".join(escape_line(name) for name in self.class_names)
        return (
            f"1 class ({names})" if self.n_classes == 1 else f"{self.n_classes} classes ({names})"
        )

    def head_columns(self) -> dict[str, list[Any]]:
        """Give the labels, or where some rule speaks for several classes the text of each head."""
        if any(rule.head.is_union for rule in self.rules):
            return {"head": [rule.head.text(self.class_names) for rule in self.rules]}
        labels = self.classes.tolist()
        return {"head": [labels[rule.head.first] for rule in self.rules]}

    def coverage_columns(self) -> dict[str, list[Any]]:
        """Give the covered weight of each class, and the precision with its interval."""
        rules, intervals = self.rules, [rule.precision_interval for rule in self.rules]
        weights = {
            f"weight_{name}": [rule.class_weights[k] for rule in rules]
            for k, name in enumerate(self.class_names)
        }
        return weights | {
            "precision": [rule.precision for rule in rules],
            "precision_low": [low for low, _ in intervals],
            "precision_high": [high for _, high in intervals],
        }

    def _check_common(self) -> None:
        """Check and store the fields of all models of classes: constructors call it first."""
        vars(self).update(classes=checked_classes(self.classes))
        super()._check_common()

    def _target_fields(self) -> dict[str, Any]:
        """Give the classes."""
        return {"classes": classes_to_json(self.classes)}


ClassType: TypeAlias = Literal["string", "integer", "float", "boolean"]
_TYPE_OF_KIND: dict[str, ClassType] = {
    "U": "string",
    "i": "integer",
    "u": "integer",
    "f": "float",
    "b": "boolean",
}
_PYTHON_TYPES: dict[str, type] = {"string": str, "integer": int, "float": float, "boolean": bool}
_JSON_TYPES = {name: "number" if name == "float" else name for name in _PYTHON_TYPES}


def checked_classes(classes: ArrayLike) -> NDArray[Any]:
    """Give class labels as a read-only array of one type, or raise a ValueError."""
    given = np.asarray(classes)
    if given.ndim != 1 or len(given) == 0:
        raise ValueError("classes must be a list of at least one label")
    kind, labels = class_type(given), given.tolist()
    if len(set(labels)) < len(labels):
        raise ValueError("classes must be different from each other")
    for label in labels:
        if isinstance(label, str):
            checked_text(label, "class label")
        elif not np.isfinite(label):
            raise ValueError(f"class label {label} must be finite")
    given = _array(labels, kind) if given.dtype == object and kind != "string" else given.copy()
    given.flags.writeable = False
    return given


def class_type(classes: NDArray[Any]) -> ClassType:
    """Tell which type the class labels have."""
    if classes.dtype.kind in _TYPE_OF_KIND:
        return _TYPE_OF_KIND[classes.dtype.kind]
    types = {type(label) for label in classes.tolist()}
    for name, python_type in _PYTHON_TYPES.items():
        if types == {python_type}:
            return name  # type: ignore[return-value]
    raise ValueError(
        "class labels must be all strings, all integers, all floats or all booleans, "
        f"not {sorted(t.__name__ for t in types)}; convert the target"
    )


def class_names(classes: NDArray[Any]) -> tuple[str, ...]:
    """Give the class labels as text."""
    return tuple(label_of(label) for label in classes.tolist())


def classes_to_json(classes: NDArray[Any]) -> dict[str, Any]:
    """Give class labels and their type as plain data."""
    return {"type": class_type(classes), "values": classes.tolist()}


def classes_from_json(obj: object, limit: int) -> NDArray[Any]:
    """Make class labels from the plain data of ``classes_to_json``, or raise a ValueError."""
    if not _FIELDS["string"].fit(obj):
        raise ValueError("classes must be an object with the keys 'type' and 'values'")
    name, values = obj["type"], obj["values"]
    if not isinstance(name, str) or name not in _PYTHON_TYPES:
        raise ValueError(f"classes have the unknown type {name!r}")
    if not isinstance(values, list) or not 0 < len(values) <= limit:
        raise ValueError(f"classes must be a list of 1 to {limit} labels")
    if {type(value) for value in values} != {_PYTHON_TYPES[name]}:
        raise ValueError(f"class labels must all be of the type {name}")
    return _array(values, name)


_FIELDS = {
    name: Fields(
        {"type": {"const": name}, "values": list_of({"type": kind}, minItems=1, uniqueItems=True)}
    )
    for name, kind in _JSON_TYPES.items()
}
CLASSES = define(
    "classes",
    {
        "description": "Class labels and their type; rules name classes by their place.",
        "oneOf": [fields.part for fields in _FIELDS.values()],
    },
)


def _array(values: list[Any], name: str) -> NDArray[Any]:
    # NumPy's own strings lose NUL characters at the end.
    if name == "string" and any(value.endswith("\0") for value in values):
        return np.array(values, dtype=object)
    classes = np.array(values)
    if _TYPE_OF_KIND.get(classes.dtype.kind) != name:
        raise ValueError("class labels are too large for 64 bits")
    return classes


class Weigher:
    """Sums the training weight of rows by class."""

    def __init__(self, table: Table) -> None:
        target = table.known_target
        self.classes, self._codes = target.classes, target.codes
        self._weights = np.ones(len(table)) if table.weights is None else table.weights

    @property
    def totals(self) -> tuple[float, ...]:
        """The weight of each class on all rows."""
        return self(np.ones(len(self._codes), dtype=np.bool_))

    def __call__(self, rows: NDArray[np.bool_]) -> tuple[float, ...]:
        """Give the weight of each class on some of the rows."""
        sums = np.bincount(self._codes[rows], self._weights[rows], minlength=len(self.classes))
        return tuple(sums.tolist())


def checked_weights(weights: Sequence[object], n_classes: int) -> tuple[float, ...]:
    """Give one weight per class, finite even in sum, or raise a ValueError."""
    checked = tuple(checked_number(weight, "class weight") for weight in weights)
    if len(checked) != n_classes or min(checked) < 0.0 or not math.isfinite(sum(checked)):
        raise ValueError(f"{n_classes} classes need as many finite weights, none negative")
    return checked


def checked_shares(shares: Sequence[object], n_classes: int) -> tuple[float, ...]:
    """Give one probability per class, or raise a ValueError."""
    if len(shares) != n_classes:
        raise ValueError(f"{n_classes} classes need as many probabilities: {len(shares)}")
    return Says(tuple(shares)).distribution  # type: ignore[arg-type]
