"""`rulewright learners`: which learners there are, and the parameters of one."""

import json
import textwrap
from typing import Annotated, Any

import typer

from rulewright.cli.display import make_console, print_texts
from rulewright.cli.learner import learner_names
from rulewright.estimators import LEARNERS, REGRESSORS, Entry

FORMS = {
    "additive": "additive rules",
    "average": "average of models",
    "dnf": "rule set",
    "list": "decision list",
    "nearest": "nearest rule",
    "regression": "additive rules",
    "unordered": "unordered rules",
    "votes": "voting rule sets",
}
"""Forms of models in words."""

_WIDTH = 90

app = typer.Typer(add_completion=False)


@app.command()
def learners(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Learner to tell about.", show_default=False, autocompletion=learner_names
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print plain data.")] = False,
) -> None:
    """List the learners and when to take which, or the parameters of one, basics first."""
    if name is not None and name not in LEARNERS:
        raise ValueError(f"{name}: no such learner. There are: {', '.join(LEARNERS)}.")
    if as_json:
        told: Any = [about(each) for each in LEARNERS] if name is None else describe_learner(name)
        typer.echo(json.dumps(told, indent=2))
    elif name is None:
        _print_all()
    else:
        _print_one(name)


def about(name: str) -> dict[str, Any]:
    """Give what is known of a learner before it is imported, as plain data."""
    entry = LEARNERS.entries[name]
    predicts = ["classes", *(["numbers"] if name in REGRESSORS else [])]
    words = {"form": FORMS[entry.form], "use": entry.use, "read": entry.read}
    return {"name": name, "predicts": predicts, **words}


def describe_learner(name: str) -> dict[str, Any]:
    """Give what is known of a learner and its parameters, as plain data."""
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
    head = ("learner", "predicts", "take it for", "you read")
    cells = [(r["name"], ", ".join(r["predicts"]), r["use"], r["read"]) for r in rows]
    console = make_console()
    print_texts(console, head, cells)
    console.print(
        "\n'rulewright learners NAME' lists the parameters of one; compact is the default"
    )


def _print_one(name: str) -> None:
    found, console = describe_learner(name), make_console()
    own = found["classes"]
    console.print(f"{name} ({own['estimator']}): {own['summary']}")
    console.print(f"take it for: {found['use']}")
    console.print(f"you read: {found['read']} ({found['form']})")
    for basic, title in ((True, "basic parameters"), (False, "other parameters")):
        chosen = [one for one in own["parameters"] if one["basic"] == basic]
        if chosen:
            console.print(f"\n{title} (--set NAME=VALUE)")
        for one in chosen:
            console.print(f"  {one['name']}: {one['values']}  [default: {one['default']}]")
            console.print(textwrap.indent(textwrap.fill(one["doc"], _WIDTH), "      "))
    if "numbers" in found:
        console.print(f"\n{_for_numbers(own, found['numbers'])}")


def _for_numbers(own: dict[str, Any], other: dict[str, Any]) -> str:
    """Say how the parameters for numbers differ from those for classes."""
    values = {one["name"]: one["default"] for one in own["parameters"]}
    numbers = {one["name"]: one["default"] for one in other["parameters"]}
    changed = [f"{name}={value}" for name, value in numbers.items() if values.get(name) != value]
    lacking = [name for name in values if name not in numbers]
    parts = [f"defaults {', '.join(changed)}"] if changed else []
    parts += [f"without {', '.join(lacking)}"] if lacking else []
    return f"for numbers ({other['estimator']}): {'; '.join(parts) or 'the same parameters'}"
