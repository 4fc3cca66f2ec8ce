"""Options of `learn` about the learner, and the command `rulewright learners`."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulewright.cli.display import make_console, print_grid
from rulewright.data import Source, Table, Target, Task, detect_task, offer_names
from rulewright.estimators import (
    BY_TASK,
    LEARNERS,
    REGRESSORS,
    Catalogue,
    Entry,
    parse_settings,
)
from rulewright.search import Constraints

if TYPE_CHECKING:
    from rulewright.estimators import RuleClassifier, RuleRegressor

FORMS = {
    "additive": "additive rules",
    "average": "average of models",
    "card": "card of points",
    "dnf": "rule set",
    "hazards": "hazard rules",
    "list": "decision list",
    "nearest": "nearest rule",
    "rates": "rate rules",
    "regression": "additive rules",
    "unordered": "unordered rules",
    "votes": "voting rule sets",
}
"""Forms of models in words."""

_WIDTH = 90

app = typer.Typer(add_completion=False)
_LARGEST_SEED = 2**32 - 1
NO_CONSTRAINTS = Constraints()

MANY_CLASSES, FOR_MANY_CLASSES = 30, "part"
"""With more classes than this the default learner takes minutes, because it fits all classes
together. The other learner covers one class after another."""

NOTE_ON_MANY_CLASSES = (
    f"note: {FOR_MANY_CLASSES} is used, because {next(iter(LEARNERS))} takes minutes "
    f"with more than {MANY_CLASSES} classes; --learner overrides this"
)


def learner_names(incomplete: str) -> list[tuple[str, str]]:
    """Return the learners whose names start with the typed text, each with its use."""
    known = {**REGRESSORS.entries, **LEARNERS.entries}
    return [(name, known[name].use) for name in LEARNERS if name.startswith(incomplete)]


def setting_names(ctx: object, incomplete: str) -> list[str]:
    """Return the parameters of the chosen learner whose names start with the typed text."""
    chosen = getattr(ctx, "params", {}).get("learner") or next(iter(LEARNERS))
    if chosen not in LEARNERS:
        return []
    return [f"{name}=" for name in LEARNERS[chosen].settable() if name.startswith(incomplete)]


_EVENTS = ("counts", "survival")
COUNT_LOSSES = ("poisson", "negative-binomial", "tweedie")
"""Losses that make numbers in the target counts."""


class TaskName(StrEnum):
    """Kinds of prediction."""

    classification = "classification"
    regression = "regression"
    counts = "counts"


@dataclass(frozen=True)
class LearnerOptions:
    """The learner, its parameters and limits, and the task."""

    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Learner; 'rulewright learners' lists them ({next(iter(LEARNERS))}).",
            autocompletion=learner_names,
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Set a parameter; 'rulewright learners NAME' lists them.",
            autocompletion=setting_names,
        ),
    ] = None
    max_rules: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum number of rules.")
    ] = None
    loss: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Loss, such as poisson for counts."),
    ] = None
    time_limit: Annotated[
        float | None, typer.Option(min=0, metavar="SECONDS", help="Time limit per fit.")
    ] = None
    task: Annotated[
        TaskName | None,
        typer.Option(
            metavar="KIND",
            help="classification, regression or counts (default: by the values and options).",
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Random seed.")] = 0
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Threads; the model does not depend on it.")
    ] = 1

    def check(self) -> None:
        """Raise an error if the learner is unknown."""
        known = dict.fromkeys([*LEARNERS, *REGRESSORS])
        if self.learner is not None and self.learner not in known:
            raise ValueError(
                f"--learner {self.learner}: unknown. {offer_names(self.learner, [*known])}"
            )

    def task_of(self, source: Source, target: str, implied: Task | None = None) -> Task:
        """Return the requested task, or the task that options or values of the target suggest."""
        task: Task = implied or (self.task.value if self.task else "classification")
        if self.task is not None and task != self.task:
            raise ValueError(f"--task {self.task}: the options are about {task}. Leave it out.")
        if implied is None and self.task is None:
            task = "counts" if self.loss in COUNT_LOSSES else detect_task(source, target)
        if self.learner is None or self.learner in learners_of(task):
            return task
        if task in _EVENTS:
            names = " or ".join(learners_of(task))
            raise ValueError(f"--learner {self.learner} does not learn {task}. Use {names}.")
        numbers = task == "regression"
        other, what = ("classification", "numbers") if numbers else ("regression", "classes")
        raise ValueError(
            f"--learner {self.learner} does not predict {what}, but --target {target} holds them. "
            f"Use {' or '.join(learners_of(task))}, or --task {other}."
        )

    def name(self, task: Task) -> str:
        """Return the name of the requested learner, or of the default one."""
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
        given = {"max_rules": self.max_rules, "time_limit": self.time_limit, "loss": self.loss}
        parsed |= _options(catalogue, name, parsed, given)
        estimator: RuleClassifier[Any] | RuleRegressor = learner(
            **parsed, random_state=self.seed, n_jobs=self.jobs
        )
        if "constraints" in learner.DOMAINS:
            estimator.set_params(constraints=constraints)
        elif constraints != NO_CONSTRAINTS:
            able = ", ".join(catalogue.with_parameter("constraints"))
            raise ValueError(f"--learner {name} takes no constraints. Learners with them: {able}.")
        return estimator


def has_many_classes(table: Table) -> bool:
    """Return whether there are too many classes to fit the default learner in seconds."""
    return isinstance(table.target, Target) and len(table.target.classes) > MANY_CLASSES


def learners_of(task: Task) -> "Catalogue[Any]":
    """Return the learners of a task."""
    return BY_TASK[task]


def _options(
    catalogue: "Catalogue[Any]", name: str, parsed: dict[str, Any], asked: dict[str, Any]
) -> dict[str, Any]:
    """Return the parameters that have options of their own."""
    found = {limit: value for limit, value in asked.items() if value is not None}
    for limit in found:
        option = f"--{limit.replace('_', '-')}"
        if limit not in catalogue[name].DOMAINS:
            able = ", ".join(catalogue.with_parameter(limit)) or "none for this target"
            raise ValueError(f"--learner {name} has no {option}. Learners with it: {able}.")
        if limit in parsed:
            raise ValueError(f"{option} and --set {limit} set the same limit. Give only one.")
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


@app.command()
def learners(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Learner to describe.", show_default=False, autocompletion=learner_names
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the learners and when to use each, or the parameters of one, basics first."""
    if name is not None and name not in LEARNERS:
        raise ValueError(f"{name}: no such learner. {offer_names(name, [*LEARNERS])}")
    if as_json:
        told: Any = [about(each) for each in LEARNERS] if name is None else describe_learner(name)
        typer.echo(json.dumps(told, indent=2))
    elif name is None:
        _print_all()
    else:
        _print_one(name)


def about(name: str) -> dict[str, Any]:
    """Return a description of a learner as plain data, without importing it."""
    entry = LEARNERS.entries[name]
    predicts = ["classes", *(["numbers"] if name in REGRESSORS else [])]
    words = {"form": FORMS[entry.form], "use": entry.use, "read": entry.read}
    return {"name": name, "predicts": predicts, **words}


def describe_learner(name: str) -> dict[str, Any]:
    """Return a description of a learner and its parameters as plain data."""
    found = {**about(name), "classes": _parameters(LEARNERS[name], LEARNERS.entries[name])}
    if name in REGRESSORS:
        found["numbers"] = _parameters(REGRESSORS[name], REGRESSORS.entries[name])
    return found


def _parameters(learner: type[Any], entry: Entry) -> dict[str, Any]:
    defaults, docs = learner().get_params(deep=False), learner.documentation()
    basics, settable = entry.basics.split(), learner.settable()
    return {
        "estimator": learner.__name__,
        "summary": str(learner.__doc__).partition("\n")[0],
        "parameters": [
            {
                "name": name,
                "values": str(settable[name]),
                "default": format_setting(defaults[name]),
                "doc": docs[name],
                "basic": name in basics,
            }
            for name in [*basics, *(other for other in settable if other not in basics)]
        ],
    }


def format_setting(value: object) -> str:
    """Write a value the way --set takes it."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _print_all() -> None:
    rows = [about(name) for name in LEARNERS]
    head = ("learner", "predicts", "use it for", "you read")
    cells = [(r["name"], ", ".join(r["predicts"]), r["use"], r["read"]) for r in rows]
    console = make_console()
    print_grid(console, head, cells, texts=True)
    console.print(
        "\n'rulewright learners NAME' lists the parameters of one; compact is the default"
    )


def _print_one(name: str) -> None:
    found, console = describe_learner(name), make_console()
    own = found["classes"]
    console.print(f"{name} ({own['estimator']}): {own['summary']}")
    console.print(f"use it for: {found['use']}")
    console.print(f"you read: {found['read']} ({found['form']})")
    for basic, title in ((True, "basic parameters"), (False, "other parameters")):
        chosen = [one for one in own["parameters"] if one["basic"] == basic]
        if chosen:
            console.print(f"\n{title} (--set NAME=VALUE)")
        for one in chosen:
            console.print(f"  {one['name']}: {one['values']}  [default: {one['default']}]")
            console.print(textwrap.indent(_fill(one["doc"]), "      "))
    if "numbers" in found:
        console.print(f"\n{_for_numbers(own, found['numbers'])}")


def _for_numbers(own: dict[str, Any], other: dict[str, Any]) -> str:
    """Describe how the regressor's parameters differ from the classifier's."""
    values = {one["name"]: one["default"] for one in own["parameters"]}
    numbers = {one["name"]: one["default"] for one in other["parameters"]}
    changed = [f"{name}={value}" for name, value in numbers.items() if values.get(name) != value]
    lacking = [name for name in values if name not in numbers]
    parts = [f"defaults {', '.join(changed)}"] if changed else []
    parts += [f"without {', '.join(lacking)}"] if lacking else []
    return f"for numbers ({other['estimator']}): {'; '.join(parts) or 'the same parameters'}"


def _fill(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False)
