"""`rulewright edit`: change the rules of a saved model, and keep a log."""

import getpass
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from rulewright.cli.constraints import ConstraintOptions, errors_by_option
from rulewright.cli.display import make_console
from rulewright.cli.opened_model import OpenedModel, target_in
from rulewright.cli.options import FileReading, group_options
from rulewright.cli.output import check_output
from rulewright.data import DataError
from rulewright.governance import read_policies
from rulewright.report import report_html
from rulewright.workbench import Desk, Preview, Session, Workbench, describe_cost, figure_lines

EDITS = "Edits, made in this order (*: may be repeated)"
Several = list[str] | None

_PAGE = (
    "The page runs on this machine only and saves to -o, or to MODEL. It needs --data and the "
    "extra 'workbench'."
)

app = typer.Typer(add_completion=False)


def _edit(metavar: str, text: str) -> Any:
    return typer.Option(metavar=metavar, help=text, rich_help_panel=EDITS, show_default=False)


@dataclass(frozen=True)
class AskedEdits:
    """The edits that the command line names."""

    drop: Annotated[Several, _edit("RULE,...", "Remove rules, by their printed numbers (*).")] = (
        None
    )
    replace: Annotated[Several, _edit("RULE: CONDITIONS", "Give a rule other conditions (*).")] = (
        None
    )
    points: Annotated[Several, _edit("RULE: POINTS", "Give a rule fixed points (*).")] = None
    freeze: Annotated[Several, _edit("RULE,...", "Hold the points of rules fixed (*).")] = None
    thaw: Annotated[Several, _edit("RULE,...", "Let fixed points move again (*).")] = None
    split: Annotated[Several, _edit("RULE: CONDITION", "Divide a rule into two (*).")] = None
    merge: Annotated[Several, _edit("RULE,...", "Join rules into one (*).")] = None
    move: Annotated[Several, _edit("RULE: PLACE", "Move a rule of a decision list (*).")] = None
    add: Annotated[
        Several, _edit("[CLASS: ]CONDITIONS", "Add a rule, for a class if one is named (*).")
    ] = None
    round_to: Annotated[
        int | None, _edit("DIGITS", "Round thresholds to so many significant digits.")
    ] = None
    monotone: Annotated[Several, _edit("COL=+|-", "Require rules to be monotone (*).")] = None
    forbid: Annotated[Several, _edit("COL", "Require rules not to use a column (*).")] = None
    grow: Annotated[int | None, _edit("N", "Add the N best further rules.")] = None
    refit: Annotated[
        bool,
        typer.Option("--refit", help="Refit all points that are not fixed.", rich_help_panel=EDITS),
    ] = False

    @property
    def any(self) -> bool:
        """Whether an edit is named."""
        return any(value not in (None, False) for value in vars(self).values())

    def previews(self, session: Session) -> Iterator[Preview]:
        """Preview one edit after the other; numbers are those of the given model."""
        numbers = {
            str(number): rule
            for number, rule in zip(session.model.numbers, session.model.rules, strict=True)
        }
        of_rules = {
            "drop": session.drop,
            "freeze": session.freeze,
            "thaw": session.thaw,
            "merge": session.merge,
        }
        of_rule: dict[str, Callable[[Any, str], Preview]] = {
            "replace": session.replace,
            "points": lambda rule, text: session.set_points(rule, _number(text, "--points")),
            "split": session.split,
            "move": lambda rule, text: session.move(rule, int(_number(text, "--move"))),
        }
        for option in ("drop", "replace", "points", "freeze", "thaw", "split", "merge", "move"):
            for text in getattr(self, option) or ():
                if option in of_rule:
                    name, rest = _parts(text, f"--{option}")
                    yield of_rule[option](_rule(name, numbers, f"--{option}"), rest)
                else:
                    rules = [_rule(one, numbers, f"--{option}") for one in text.split(",")]
                    yield of_rules[option](rules)
        for text in self.add or ():
            votes, colon, rest = text.partition(": ")
            yield session.add(rest, votes) if colon else session.add(text)
        if self.round_to is not None:
            yield session.round_thresholds(self.round_to)
        if self.monotone or self.forbid:
            constraints = ConstraintOptions(monotone=self.monotone, forbid=self.forbid).parse()
            with errors_by_option():
                yield session.constrain(constraints)
        if self.grow is not None:
            yield session.grow(self.grow)
        if self.refit:
            yield session.refit()


def _rule(name: str, numbers: dict[str, Any], option: str) -> Any:
    if name.strip() not in numbers:
        raise DataError(
            f"{option} {name}: there is no rule of this number. 'rulewright show' prints them: 1 "
            f"to {len(numbers)}."
        )
    return numbers[name.strip()]


def _parts(text: str, option: str) -> tuple[str, str]:
    name, colon, rest = text.partition(":")
    if not colon:
        raise DataError(f"{option} {text!r}: write the number of the rule, a colon, and the rest.")
    return name, rest.strip()


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise DataError(f"{option}: {text!r} is not a number.") from None


@app.command(epilog=_PAGE)
@group_options(asked=AskedEdits, reading=FileReading)
def edit(
    model: Annotated[Path, typer.Argument(help="Model saved by 'learn'.", show_default=False)],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Rows to refit and evaluate on, usually the training rows."
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Target column.", show_default="the model's"),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the weights of the rows.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File for the edited model (JSON). Without it the edits are only previewed.",
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Reason, for the log.", show_default=False)
    ] = "",
    author: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name, for the log.", show_default="the user's"),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Show what changes for each label of a column (*)."),
    ] = None,
    policies: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file with policies that each edit is checked by."),
    ] = None,
    holdout: Annotated[
        float,
        typer.Option(
            min=0,
            max=0.9,
            metavar="SHARE",
            help="Keep a share of the rows aside as the final part, for --open-final or the page.",
        ),
    ] = 0.0,
    open_final: Annotated[
        bool,
        typer.Option(
            "--open-final",
            help="Compare the given and the edited model on the final part; the log counts it.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the folds and the final part.")] = 0,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page.", show_default="a free one")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    *,
    asked: AskedEdits,
    reading: FileReading,
) -> None:
    """Edit MODEL and keep a log, by these options or, without edits, on a page in the browser."""
    if output is not None:
        check_output(output, "-o")
    opened, rows = OpenedModel(model), None
    if data is not None:
        rows = opened.open(data, reading.file_options())
        target = target_in(opened.model, rows, target, weights, str(data))
    session = Session(
        opened.model,
        rows,
        target,
        sample_weight=weights,
        by=by or [],
        policies=() if policies is None else read_policies(policies),
        author=getpass.getuser() if author is None else author,
        holdout=holdout,
        random_state=seed,
    )
    console = make_console()
    for preview in asked.previews(session):
        console.print(str(preview), markup=False, highlight=False, end="\n\n")
        session.apply(preview, reason)
    if cost := describe_cost(session.state):
        console.print(cost, markup=False, highlight=False, end="\n\n")
    if open_final:
        lines = [*figure_lines(session.open_final(), "final part"), session.log.describe_opening()]
        console.print("\n".join(lines), markup=False, highlight=False, end="\n\n")
    if not asked.any and not open_final:
        if data is None:
            raise DataError(
                "no edit: name one, such as --drop 3 or --refit, or open the page with --data FILE."
            )
        _open_page(session, model if output is None else output, browser=browser, port=port)
        return
    console.print(str(session.model), markup=False, highlight=False)
    if output is None:
        console.print("\nnothing was saved: add -o FILE to keep the edited model")
        return
    session.model.save(output)
    console.print(f"\nmodel saved to {output}", markup=False)


def _open_page(session: Session, path: Path, *, browser: bool, port: int) -> None:
    """Serve the page until Ctrl-C."""

    def show(address: str) -> None:
        typer.echo(f"workbench: {address}\nSave on the page, then press Ctrl-C here.")
        if browser:
            webbrowser.open(address)

    def write_report() -> str:
        rows = None if session.state.form is None else session.state.form.rows.given
        if rows is None:
            return report_html(session.model, policies=session.proofs)
        table = replace(rows.table, target=rows.target, weights=rows.weights)
        return report_html(session.model, table, title=path.name, policies=session.proofs)

    Workbench(Desk(session, path, path.name), write_report).serve(port, show)
