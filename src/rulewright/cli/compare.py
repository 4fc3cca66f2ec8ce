"""`rulewright compare`: learners and their rivals on the same folds."""

import re
from ast import literal_eval
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from rulewright.cli.experiment import RunOptions, perform, split_names
from rulewright.cli.learners import split_settings
from rulewright.cli.options import TableOptions, group_options, print_notes
from rulewright.cli.training import open_training_file, read_training
from rulewright.comparison import (
    ADVICE,
    RIVALS_OF_TABLES,
    Data,
    FileData,
    FoldProtocol,
    Learner,
    Suites,
    all_trials,
    file_report,
    installed_suites,
    is_installed,
    known_learners,
)
from rulewright.data import DataError, Finding, detect_task, list_left_out, offer_names
from rulewright.estimators import LEARNERS, Choice, parse_settings

_RARE = "class {} has only {} rows: some training or test folds contain none of them"
_USUAL_RIVALS = ("lightgbm", "hgb", "forest", "logistic")

_KNOWN = ", ".join(found.suites()) if (found := installed_suites()) else f"none, see '{ADVICE}'"

app = typer.Typer(add_completion=False)


@app.command()
@group_options(table=TableOptions, options=RunOptions)
def compare(
    file: Annotated[
        Path | None,
        typer.Argument(help="Table to compare on, with --target.", show_default=False),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="Column with the classes, for FILE.")
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"Collection of data sets to compare on: {_KNOWN}."),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SET,...", help="Data sets by name; with --suite, a selection from the suite."
        ),
    ] = None,
    learners: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Learners to compare; on several data sets the first is tested against all "
            "others. Use names from 'rulewright learners', names with '.paper' for the published "
            f"settings, or installed rivals: {', '.join(RIVALS_OF_TABLES)}; 'pip install "
            "rulewright-lab' adds more. Append settings after colons: mlrules:max_rules=50:l2=0.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, metavar="K", help="Folds.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    saved: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="Name of the written files; the same name collects comparisons on the same data. "
            "By default the suite or the file.",
        ),
    ] = None,
    *,
    table: TableOptions,
    options: RunOptions,
) -> None:
    """Compare learners by cross-validation, on FILE or on data sets of the papers."""
    asked = choose_learners(split_names(learners) or default_learners(file is not None))
    name, data = choose_data(file, target, table, suite, split_names(sets), folds)
    labels = [learner.label for learner in asked]
    title = f"{len(labels)} learners compared on {name}"
    protocol = FoldProtocol(folds, options.runs)
    about = [
        f"The same {protocol} for every learner, on one thread. Settings are defaults unless "
        "they follow the name. Seconds are processor time."
    ]
    write = file_report if file is not None else _suites().comparison_report
    files = f"compare-{name if saved is None else checked_name(saved)}"
    perform(
        files,
        title,
        all_trials(asked, data, protocol, options.seed),
        lambda records: write(files, title, about, records, [d.label for d in data], labels),
        options,
        part=suite is not None and sets is not None and saved is None,
        as_json=as_json,
    )


def checked_name(name: str) -> str:
    """Reject a name that cannot be part of a file name."""
    if not re.fullmatch(r"[\w.+-]+", name):
        raise ValueError(f"--name {name!r}: use only letters, digits and . + - _")
    return name


def default_learners(on_file: bool) -> list[str]:
    """Return the learners to compare when none are named."""
    if not on_file:
        return ["mlrules", "slipper", "sl2"]
    rivals = [name for name in _USUAL_RIVALS if is_installed(name)]
    return ["compact", "mlrules", "slipper", "ripper", *rivals]


def choose_learners(texts: list[str]) -> list[Learner]:
    """Parse learners, such as ``mlrules`` or ``mlrules:max_rules=50:l2=0``."""
    known, chosen = known_learners(), []
    for text in texts:
        name, *settings = text.split(":")
        if name not in known:
            raise ValueError(f"--learners {name}: unknown. {offer_names(name, [*known])}")
        learner = known[name]
        try:
            parameters = _parameters(learner, split_settings(settings))
        except ValueError as error:
            raise ValueError(f"--learners {text}: {error}") from None
        chosen.append(replace(learner, label=text, parameters=parameters))
    return chosen


_DECISIONS = Choice(("accuracy", "balanced"))


def _parameters(learner: Learner, settings: dict[str, str]) -> dict[str, object]:
    """Parse settings: by their domains for our learners, else as Python literals or text."""
    if learner.kind in LEARNERS:
        # A comparison is of classifiers. Costs and thresholds depend on the classes of a data set.
        domains = {**LEARNERS[learner.kind].settable(), "decision": _DECISIONS}
        return parse_settings(learner.kind, settings, domains)
    parsed: dict[str, object] = dict(settings)
    for name, text in settings.items():
        with suppress(ValueError, SyntaxError):
            parsed[name] = literal_eval(text)
    return parsed


def choose_data(
    file: Path | None,
    target: str | None,
    table: TableOptions,
    suite: str | None,
    sets: list[str],
    n_folds: int,
) -> tuple[str, Sequence[Data]]:
    """Return the name of the comparison and its data sets."""
    if file is not None:
        if target is None or suite is not None or sets:
            raise ValueError("FILE needs --target and excludes --suite and --sets.")
        return file.stem, [_data_of(file, target, table, n_folds)]
    if table != TableOptions():
        raise ValueError("Options for reading a table need FILE. Leave them out.")
    if suite is None and not sets:
        raise ValueError("Give FILE with --target, or --suite, or --sets.")
    return suite or "sets", _suites().suite_data(suite, sets)


def _suites() -> Suites:
    """Return the installed suites, or raise an error that says how to install them."""
    if (found := installed_suites()) is None:
        raise ValueError(f"--suite and --sets need the data sets of the papers: {ADVICE}.")
    return found


def _data_of(file: Path, target: str, table: TableOptions, n_folds: int) -> FileData:
    """Read a file once, to report its problems before the first trial."""
    roles = table.roles(target)
    source = open_training_file(file, roles, table.file_options())
    if detect_task(source, target) == "regression":
        raise DataError(
            f"--target {target}: this column of {file} is numeric, but compare needs classes. Name "
            "a column of classes, or convert the numbers to classes first."
        )
    rows, findings = read_training(source, roles)
    classes, counts = rows.known_target.classes, np.bincount(rows.known_target.codes)
    if counts.min() < n_folds:
        text = _RARE.format(classes[counts.argmin()], counts.min())
        findings = (Finding("rare class", target, text), *findings)
    print_notes(findings)
    reading = table.reading((*roles.drop, *list_left_out(findings)))
    given = tuple(sorted(reading.items()))
    path = str(file.resolve())
    return FileData(file.stem, path, target, tuple(roles.nominal), given)
