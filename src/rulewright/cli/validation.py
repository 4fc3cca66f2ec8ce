"""Evaluation of the rules of `learn` on held-out rows."""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, TypeAlias

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from rulewright.data import (
    DataError,
    DataWarning,
    FileOptions,
    ModelWarning,
    Source,
    Table,
    Target,
    Units,
    open_table,
    optional,
)
from rulewright.estimators import affordable_folds, assign_folds, progress_bar
from rulewright.evidence import Answers
from rulewright.model import RuleModel, escape_line
from rulewright.report import ask_model, join_answers, read_report_rows, with_positive
from rulewright.search import offer_names

if TYPE_CHECKING:
    from rulewright.cli.training import ColumnRoles

_option = partial(typer.Option, rich_help_panel="Evaluation")
FOLDS = 10
Codes: TypeAlias = NDArray[np.int32]
Rows: TypeAlias = NDArray[np.intp]
Split: TypeAlias = tuple[Rows, Rows]
"""Training and test rows of a fold."""


def stratified_splits(codes: Codes, n_folds: int, seed: int) -> list[Split]:
    """Return training and test rows of each fold."""
    folds = optional("sklearn.model_selection").StratifiedKFold(
        n_folds, shuffle=True, random_state=seed
    )
    return list(folds.split(np.zeros(len(codes)), codes))


def number_splits(kept: Rows, n_folds: int, seed: int) -> list[Split]:
    """Return training and test rows of each fold, at most as many as there are rows."""
    n_folds = min(n_folds, len(kept))
    if n_folds < 2:
        return []
    folds = optional("sklearn.model_selection").KFold(n_folds, shuffle=True, random_state=seed)
    return [(kept[train], kept[test]) for train, test in folds.split(kept)]


def group_splits(table: Table, kept: Rows, n_folds: int, seed: int) -> list[Split]:
    """Return training and test rows of each fold; groups stay whole."""
    is_class = isinstance(table.target, Target)
    codes = table.target.codes if is_class else np.zeros(table.n_rows, dtype=np.int32)  # type: ignore[union-attr]
    groups = None if table.groups is None else table.groups[kept]
    random = np.random.RandomState(seed)
    folds = assign_folds(codes[kept], n_folds, random, 2 if is_class else 1, groups)
    if folds is None:
        return []
    pairs = [(folds.train_rows(fold), folds.held_out_rows(fold)) for fold in range(len(folds))]
    return [(kept[train], kept[test]) for train, test in pairs]


class HeldOutAnswers(NamedTuple):
    """Answers on rows that a model was not learned from, and the rows if they are others."""

    answers: Answers
    rows: Table | None = None

    def with_positive(self, positive: str | None) -> Self:
        """Return the answers with the class of --positive as the class of interest."""
        return self._replace(answers=with_positive(self.answers, positive, "--positive"))


class Learned(NamedTuple):
    """A model, its evaluation, and the description of its data for --json."""

    model: RuleModel
    judged: HeldOutAnswers | None
    about: dict[str, Any]


@dataclass(frozen=True)
class Judging:
    """The requested rows for the evaluation."""

    cv: Annotated[
        int | None,
        _option(
            min=0,
            metavar="FOLDS",
            help=f"Cross-validation folds, one fit each ({FOLDS}; 0 for compact).",
        ),
    ] = None
    holdout: Annotated[
        float | None,
        _option(metavar="SHARE", help="Share of the rows to hold out for evaluation."),
    ] = None
    test: Annotated[Path | None, _option(metavar="FILE", help="File with rows for evaluation.")] = (
        None
    )

    def check(self) -> None:
        """Raise an error for contradictory options, before any file is read."""
        if self.cv == 1:
            raise ValueError("--cv 1: one fold leaves no training rows. Use 2 or more, or 0.")
        if self.holdout is not None and not 0 < self.holdout < 1:
            raise ValueError(f"--holdout {self.holdout:g}: must be a share between 0 and 1.")
        if self.holdout is not None and self.test is not None:
            raise ValueError("--holdout and --test both set the evaluation rows. Give only one.")

    def count_folds(self, *, has_own: bool = False) -> int:
        """Count folds around the learner, 0 for none; by default none if it has its own folds."""
        if self.cv is not None:
            return self.cv
        return 0 if has_own or self.holdout is not None or self.test is not None else FOLDS

    def open_test(self, options: FileOptions, roles: "ColumnRoles") -> Source | None:
        """Open the file of --test and check that it has the target, weights and groups."""
        if self.test is None:
            return None
        source = open_table(self.test, options=options)
        needed = {"--target": roles.target, "--weights": roles.weights, "--group": roles.group}
        for option, name in needed.items():
            if name is not None and name not in source.names:
                raise DataError(
                    f"--test {self.test}: has no column {name!r}, which {option} names. "
                    f"{offer_names(name, source.names)}"
                )
        return source

    def split_rows(self, table: Table, seed: int) -> tuple[Table, Table | None]:
        """Return the training rows, and the held-out rows if requested."""
        if self.holdout is None:
            return table, None
        left_out = draw_held_out(table, self.holdout, seed)
        learned = np.setdiff1d(np.arange(table.n_rows), left_out)
        return table.take(learned), table.take(left_out)


def draw_held_out(table: Table, share: float, seed: int) -> np.ndarray:
    """Draw a share of the rows, of each class alike; each class keeps a row to learn from.

    Groups are drawn as a whole.
    """
    random = np.random.default_rng(seed)
    kept = np.flatnonzero(table.row_weights > 0)
    labels = table.target.codes if isinstance(table.target, Target) else np.zeros(table.n_rows, int)
    units = Units(len(kept), None if table.groups is None else table.groups[kept])
    of_units, parts = units.labels(labels[kept]), []
    for label in np.unique(of_units):
        own = random.permutation(np.flatnonzero(of_units == label))
        parts.append(own[: min(round(share * len(own)), len(own) - 1)])
    drawn = np.sort(kept[units.rows(np.concatenate(parts))])
    if not len(drawn):
        raise DataError(
            f"--holdout {share:g}: this is less than one of {len(kept)} rows. Use a larger share."
        )
    return drawn


def judge_by_file(
    model: RuleModel, file: Path, source: Source, roles: "ColumnRoles"
) -> HeldOutAnswers:
    """Ask a model about the rows of a test file."""
    rows = read_report_rows(model, source, roles.target_columns, roles.weights, roles.group)
    return HeldOutAnswers(ask_model(model, rows, f"{len(rows)} rows of {file.name}"), rows)


def cross_validate(
    console: Console,
    learn: Callable[[Any], Any],
    table: Any,
    asked: int,
    seed: int,
    ask: Callable[[Any, Any, str], Answers] = ask_model,
    *,
    has_own: bool = False,
) -> HeldOutAnswers | None:
    """Return the answers of all folds, pooled; None if rows are too few.

    The rows are a table, or something else that has rows to take and a target, if `ask` can ask
    what was learned about it. Around a learner that has its own folds, the cost is announced.
    """
    console.print()
    splits = _splits(console, table, asked, seed)
    if len(splits) < 2:
        return None
    title = f"{'outer ' if has_own else ''}{len(splits)}-fold cross-validation"
    if has_own:
        console.print(f"{title}: {len(splits)} fits in addition to the model")
    parts = []
    progress = progress_bar("cross-validation", len(splits), sys.stderr.isatty())
    with progress as advance, warnings.catch_warnings():
        for category in (DataWarning, ModelWarning):  # the fit to all rows warns
            warnings.filterwarnings("ignore", category=category)
        for train, test in splits:
            parts.append(ask(learn(table.take(train)), table.take(test), ""))
            advance()
    origin = f"out-of-fold training rows ({title}, pooled)"
    return HeldOutAnswers(join_answers(parts, np.concatenate([t for _, t in splits]), origin))


def _splits(console: Console, table: Table, asked: int, seed: int) -> list[Split]:
    """Return training and test rows of each fold, of rows that have any weight."""
    kept = np.flatnonzero(table.row_weights > 0)
    if getattr(table, "groups", None) is not None:
        return group_splits(table, kept, asked, seed)
    if not isinstance(table.target, Target):
        return number_splits(kept, asked, seed)
    codes = table.target.codes[kept]
    n_folds = affordable_folds(codes, asked)
    if n_folds < asked:
        console.print(_note(table.target, codes, n_folds))
    if n_folds < 2:
        return []
    return [(kept[train], kept[test]) for train, test in stratified_splits(codes, n_folds, seed)]


def _note(target: Target, codes: np.ndarray, n_folds: int) -> str:
    counts = np.bincount(codes, minlength=len(target.classes))
    rarest = target.classes[np.flatnonzero(counts == n_folds)[0]]
    rows = "1 row" if n_folds == 1 else f"{n_folds} rows"
    remedy = f"{n_folds} folds instead" if n_folds > 1 else "no cross-validation; merge or drop it"
    return f"note: class {escape_line(str(rarest))} has only {rows}: {remedy}"
