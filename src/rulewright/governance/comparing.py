"""Figures of a model by named groups, such as sex or region, and how far the groups are apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rulewright.explain import EvaluatedRows, answers_on, model_of, rows_with_target
from rulewright.governance.groups import GroupTable, group_columns, group_tables
from rulewright.html import escape_line
from rulewright.model import ClassModel, align_cells, read_class

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class GroupComparison:
    """The figures of groups, a table for each column."""

    tables: tuple[GroupTable, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain data, by column."""
        return {
            table.column: {
                "groups": [
                    {
                        "group": line.name,
                        "rows": line.n_rows,
                        "few_rows": line.is_small,
                        "figures": {
                            name: [cell.value, cell.low, cell.high]
                            for name, cell in line.figures.items()
                        },
                    }
                    for line in table.groups
                ],
                "gaps": [gap.to_json() for gap in table.gaps],
            }
            for table in self.tables
        }

    def __str__(self) -> str:
        return "\n\n".join("\n".join(_text_lines(table)) for table in self.tables)


def _text_lines(table: GroupTable) -> list[str]:
    """Write the figures below each other, a column for each group."""
    head = [
        [escape_line(table.column), *(escape_line(line.name) for line in table.groups)],
        ["rows", *(f"{line.n_rows:,}{' (few)' * line.is_small}" for line in table.groups)],
    ]
    cells = [[title, *(line.write(title) for line in table.groups)] for title in table.titles]
    return [*align_cells([*head, *cells], {0}), *map(str, table.gaps)]


def compare_groups(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    by: str | Sequence[str] | Mapping[str, Any],
    favourable: Any = None,
    sample_weight: Any = None,
) -> GroupComparison:
    """Compare how a model treats named groups of rows: selection, errors and calibration.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        The model. It need not use the columns of the groups.
    X : table
        Rows, better others than the training rows.
    y : array-like or str, optional
        Their target, or the name of its column in X.
    by : str, sequence of str or mapping of str to array-like
        Columns of X with the groups, or values of the rows by name. Numbers with many values are
        divided at their quartiles.
    favourable : class label, optional
        The class that rates are about, such as the one who gets a loan; of two classes by default
        the rarer one.
    sample_weight : array-like or str, optional
        Weights of the rows, or the name of their column in X.

    Returns
    -------
    GroupComparison
        For each column the groups with their figures and intervals, and for each rate the two
        groups that are furthest apart.
    """
    fitted = model_of(model, "compare_groups")
    table = rows_with_target(fitted, X, y, sample_weight)
    place = None
    if favourable is not None:
        if not isinstance(fitted, ClassModel):
            raise ValueError("favourable names a class, but the model is for regression.")
        place = read_class(favourable, fitted.class_names, "favourable")
    answers = answers_on(EvaluatedRows(fitted, table), "the given rows")
    columns = group_columns(X, fitted, by)
    return GroupComparison(tuple(group_tables(answers, columns, "value", place)))
