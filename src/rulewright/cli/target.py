"""The column of a file that holds what a model predicts: named, noted in the model, or found."""

from typing import Any

from rulewright.data import DataError, Source, label_of, read_table
from rulewright.model import ClassModel, RuleModel
from rulewright.search import offer_names

NOTED = "target"
"""Where the summary of a model has the name of the column that it was learned from."""


def target_in(
    model: RuleModel, source: Source, asked: str | None, weights: str | None, file: str
) -> str:
    """Return the column with what a model predicts, or raise an error that names the remedy.

    Parameters
    ----------
    model : RuleModel
        The model.
    source : Source
        The opened file.
    asked, weights : str, optional
        The columns that --target and --weights name.
    file : str
        What the file is called in errors.
    """
    for option, name in (("--target", asked), ("--weights", weights)):
        if name is not None and name not in source.names:
            advice = offer_names(name, source.names)
            raise DataError(f"{option} {name}: {file} has no such column. {advice}")
        if name in model.columns:
            raise DataError(f"{option} {name}: rules use this column. Name another.")
    if asked is not None:
        return asked
    noted = model.summary.get(NOTED)
    if isinstance(noted, str) and noted in source.names:
        return noted
    return _find_target(model, source, {weights} if weights else set(), file)


def _find_target(model: RuleModel, source: Source, other_roles: set[str], file: str) -> str:
    """Return the only column that can be what a model predicts."""
    known = {*model.schema.names, *other_roles} if model.schema.named else other_roles
    able = [name for name in source.names if name not in known and _fits(model, source, name)]
    if len(able) == 1:
        return able[0]
    what = "no column" if not able else f"more than one column ({', '.join(able[:5])})"
    raise DataError(f"{file}: {what} can be what the model predicts. Name it with --target COL.")


def _fits(model: RuleModel, source: Source, name: str) -> bool:
    """Tell whether a column holds classes of a model, or numbers if the model predicts numbers."""
    task: Any = "classification" if isinstance(model, ClassModel) else "regression"
    others = [other for other in source.names if other != name][1:]
    try:
        table = read_table(source, target=name, drop=others, task=task)
    except DataError:
        return False
    if not isinstance(model, ClassModel):
        return True
    return any(label_of(x) in model.class_names for x in table.known_target.classes.tolist())
