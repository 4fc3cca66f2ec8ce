"""Options of `learn` about the learner: which one, with which parameters and limits.

The shell completes both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulewright.data import Source, Table, Target, Task, detect_task
from rulewright.estimators import LEARNERS, REGRESSORS, Catalogue, parse_settings
from rulewright.search import Constraints

if TYPE_CHECKING:
    from rulewright.estimators import RuleClassifier, RuleRegressor

_LARGEST_SEED = 2**32 - 1
NO_CONSTRAINTS = Constraints()

MANY_CLASSES, FOR_MANY_CLASSES = 30, "part"
"""The default learner fits all classes together, which takes minutes where there are more than
these; the other one covers them one after the other."""

NOTE_ON_MANY_CLASSES = (
    f"note: more than {MANY_CLASSES} classes take {next(iter(LEARNERS))} minutes: "
    f"{FOR_MANY_CLASSES} learns them; --learner decides otherwise"
)


class TaskName(StrEnum):
    """What a target may hold."""

    classification = "classification"
    regression = "regression"


def learner_names(incomplete: str) -> list[tuple[str, str]]:
    """Give the learners that start with what was typed, each with what it is taken for."""
    known = {**REGRESSORS.entries, **LEARNERS.entries}
    return [(name, known[name].use) for name in LEARNERS if name.startswith(incomplete)]


def setting_names(ctx: object, incomplete: str) -> list[str]:
    """Give the parameters of the chosen learner that start with what was typed."""
    chosen = getattr(ctx, "params", {}).get("learner") or next(iter(LEARNERS))
    if chosen not in LEARNERS:
        return []
    return [f"{name}=" for name in LEARNERS[chosen].settable() if name.startswith(incomplete)]


@dataclass(frozen=True)
class LearnerOptions:
    """Which learner, with which parameters and limits, and what it predicts."""

    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"'rulewright learners' lists them ({next(iter(LEARNERS))}).",
            autocompletion=learner_names,
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Its parameters: 'rulewright learners NAME'.",
            autocompletion=setting_names,
        ),
    ] = None
    max_rules: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Most rules of the model.")
    ] = None
    time_limit: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="Longest search of one fit.")
    ] = None
    task: Annotated[
        TaskName | None,
        typer.Option(metavar="KIND", help="classification or regression (by the values)."),
    ] = None
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of all random draws.")] = 0
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Threads; they do not change the model.")
    ] = 1

    def check(self) -> None:
        """Refuse the name of a learner that there is not."""
        known = dict.fromkeys([*LEARNERS, *REGRESSORS])
        if self.learner is not None and self.learner not in known:
            raise ValueError(f"--learner {self.learner}: unknown. Known are: {', '.join(known)}.")

    def task_of(self, source: Source, target: str) -> Task:
        """Return what the target holds: as asked, or as it looks."""
        task: Task = "regression" if self.task == "regression" else "classification"
        if self.task is None:
            task = detect_task(source, target)
        if self.learner is None or self.learner in learners_of(task):
            return task
        numbers = task == "regression"
        other, what = ("classification", "numbers") if numbers else ("regression", "classes")
        raise ValueError(
            f"--learner {self.learner} does not learn {what}, which --target {target} holds: take "
            f"{' or '.join(learners_of(task))}, or --task {other}."
        )

    def name(self, task: Task) -> str:
        """Return the name of the learner, the default one unless another was asked for."""
        return self.learner or next(iter(learners_of(task)))

    def estimator(
        self, task: Task = "classification", constraints: Constraints = NO_CONSTRAINTS
    ) -> "RuleClassifier[Any] | RuleRegressor":
        """Make the estimator that the options describe."""
        if self.seed > _LARGEST_SEED:
            raise ValueError(f"--seed {self.seed}: must be at most {_LARGEST_SEED}.")
        catalogue, name = learners_of(task), self.name(task)
        learner = catalogue[name]
        try:
            split = split_settings(self.settings or ())
            parsed: dict[str, Any] = parse_settings(name, split, learner.settable())
        except ValueError as error:
            raise ValueError(f"--set: {error}") from None
        parsed |= _limits(catalogue, name, parsed, self.max_rules, self.time_limit)
        estimator: RuleClassifier[Any] | RuleRegressor = learner(
            **parsed, random_state=self.seed, n_jobs=self.jobs
        )
        if "constraints" in learner.DOMAINS:
            estimator.set_params(constraints=constraints)
        elif constraints != NO_CONSTRAINTS:
            able = ", ".join(catalogue.with_parameter("constraints"))
            raise ValueError(f"--learner {name} takes no constraints; {able} do.")
        return estimator


def has_many_classes(table: Table) -> bool:
    """Tell whether there are more classes than the default learner can tell apart in seconds."""
    return isinstance(table.target, Target) and len(table.target.classes) > MANY_CLASSES


def learners_of(task: Task) -> "Catalogue[Any]":
    """Return the learners of classes or those of numbers."""
    return LEARNERS if task == "classification" else REGRESSORS


def _limits(
    catalogue: "Catalogue[Any]",
    name: str,
    parsed: dict[str, Any],
    max_rules: int | None,
    time_limit: float | None,
) -> dict[str, Any]:
    """Return the parameters that keep a model small and a fit short."""
    found: dict[str, Any] = {}
    if max_rules is not None:
        if "max_rules" not in catalogue[name].DOMAINS:
            able = ", ".join(catalogue.with_parameter("max_rules"))
            raise ValueError(f"--learner {name} takes no --max-rules; {able} do.")
        if "max_rules" in parsed:
            raise ValueError("--max-rules and --set max_rules say the same: give one.")
        found["max_rules"] = max_rules
    if time_limit is not None:
        if "time_limit" not in catalogue[name].DOMAINS:
            able = ", ".join(LEARNERS.with_parameter("time_limit"))
            raise ValueError(f"--learner {name} takes no --time-limit; {able} do.")
        if "time_limit" in parsed:
            raise ValueError("--time-limit and --set time_limit say the same: give one.")
        found["time_limit"] = time_limit
    return found


def split_settings(settings: Sequence[str]) -> dict[str, str]:
    """Split the texts ``name=value``; a name may appear once."""
    split: dict[str, str] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise ValueError(f"{setting!r} must be written as name=value, such as max_rules=50")
        if name in split:
            raise ValueError(f"{name} is given twice; give it once")
        split[name] = value
    return split
