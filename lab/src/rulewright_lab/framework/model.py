"""Rules over columns derived from molecules or proven by Prolog, and over table columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rulewright.model import (
    ClassModel,
    ModelFileError,
    json_list,
    model_of_content,
    read_document,
    write_document,
)
from rulewright.relational import Pattern, schema_recipe
from rulewright.search import BiasError
from rulewright_lab.framework.data import DataSpec
from rulewright_lab.framework.instances import RelatedInstances
from rulewright_lab.framework.query import Goal, Occurrence, Query, Related

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.kernels import FloatArray
    from rulewright.model import Explanation
    from rulewright_lab.framework.query import Made

FORM = "queries"
_FIELDS = {"form", "data", "patterns", "goals", "rules"}


@dataclass(frozen=True, eq=False)
class QueryRules:
    """Rules whose columns are made of the data: patterns in a column of graphs, goals of Prolog.

    Parameters
    ----------
    rules : ClassModel
        The rules over these and other columns.
    made : tuple of Occurrence or Goal
        How columns are made.
    data : DataSpec
        How data are read, as in training.
    """

    rules: ClassModel
    made: tuple[Made, ...] = ()
    data: DataSpec = field(default_factory=DataSpec)

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels."""
        return self.rules.classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each instance."""
        return self.rules.predict(self.columns(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes."""
        return self.rules.predict_proba(self.columns(X))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores: second minus first class for two classes, one per class otherwise."""
        return self.rules.decision_function(self.columns(X))

    def scores(self, X: Any, n_threads: int | None = None) -> FloatArray:
        """Return the score of each class."""
        return self.rules.scores(self.columns(X), n_threads=n_threads)

    def explain(self, X: Any) -> Explanation:
        """Return which rules fired on each instance and what each added."""
        return self.rules.explain(self.columns(X))

    def columns(self, X: Any) -> Table:
        """Return the columns that the rules need."""
        read = self.data.read(X, with_target=False).instances
        derived: list[Made] = []
        recipe = schema_recipe(self.rules.schema)
        if isinstance(read, RelatedInstances) and recipe is not None:
            derived = [Related(column) for column in recipe.grouped]
        bodies = [rule.body for rule in self.rules.rules]
        return read.table([Query.over(body, [*self.made, *derived]) for body in bodies])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as versioned JSON; the file is replaced in one step or not at all."""
        patterns = [m.pattern.to_json() for m in self.made if isinstance(m, Occurrence)]
        content = {
            "form": FORM,
            "data": self.data.to_json(),
            "patterns": patterns,
            "goals": [m.text for m in self.made if isinstance(m, Goal)],
            "rules": self.rules.content(),
        }
        write_document(path, content)

    def __str__(self) -> str:
        return str(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __bool__(self) -> bool:
        return True


def load_query_rules(path: str | os.PathLike[str], *, allow_code: bool = False) -> QueryRules:
    """Read a model that was saved with ``QueryRules.save``.

    Parameters
    ----------
    path : path
        The file.
    allow_code : bool
        Whether the goals and clauses of Prolog that it holds may be run.

    Raises
    ------
    ModelFileError
        When the file is not a sound model; the message says what is wrong.
    """
    try:
        found = _model(read_document(path))
    except RecursionError:
        raise ModelFileError(f"cannot load {str(path)!r}: nested too deeply") from None
    except ValueError as error:
        raise ModelFileError(f"cannot load {str(path)!r}: {error}") from error
    return replace(found, data=replace(found.data, allow_code=allow_code))


def _model(content: dict[str, Any]) -> QueryRules:
    if content.get("form") != FORM:
        raise ModelFileError(f"its form is {content.get('form')!r}: use load_model")
    if content.keys() != _FIELDS or not isinstance(content["rules"], dict):
        raise ModelFileError(f"the fields must be {sorted(_FIELDS)}")
    rules = model_of_content(content["rules"])
    if not isinstance(rules, ClassModel):
        raise ModelFileError("rules must be a model of classes")
    patterns = (Pattern.from_json(one) for one in json_list(content["patterns"], "patterns"))
    goals = json_list(content["goals"], "goals")
    if not all(isinstance(goal, str) for goal in goals):
        raise ModelFileError("goals must be texts")
    made: list[Made] = [*map(Occurrence.of, patterns), *map(Goal, goals)]
    try:
        data = DataSpec.of(content["data"], "data")
    except BiasError as error:
        raise ModelFileError(str(error)) from None
    return QueryRules(rules, tuple(made), data)
