"""Trials of a command: run them, show progress, write reports."""

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from rulewright.cli.display import make_console, print_grid
from rulewright.comparison import (
    Job,
    Record,
    Records,
    Report,
    Trial,
    commit,
    failure,
    provenance,
    run_trials,
    select_done,
    select_failed,
)
from rulewright.estimators import progress_bar

N_CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class RunOptions:
    """Options that control how trials run."""

    runs: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Repetitions, each with other splits and seeds."),
    ] = 1
    seed: Annotated[int, typer.Option(min=0, help="Seed of splits and learners.")] = 0
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Trials to run in parallel.")] = (
        N_CORES
    )
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for records, tables and charts.")
    ] = Path("results")
    time_limit: Annotated[
        float | None,
        typer.Option(min=1, metavar="SECONDS", help="Time limit per trial; longer trials fail."),
    ] = None
    retry: Annotated[bool, typer.Option("--retry", help="Run failed trials again.")] = False
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh/--resume",
            help="Discard earlier records of these trials, or continue after them.",
        ),
    ] = False
    budget: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="MINUTES",
            help="Start no trial after this time, and report which trials are missing.",
        ),
    ] = None


def perform(
    name: str,
    title: str,
    trials: Sequence[Job],
    report_of: Callable[[Sequence[Record]], Report],
    options: RunOptions,
    *,
    part: bool = False,
    as_json: bool = False,
) -> None:
    """Run the trials without a record, print the report or its data, and write its files.

    A report on some of the data sets does not replace the report on all of them.
    """
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"{name}.records.jsonl"
    try:
        records = _records(path, title, trials, options)
    except KeyboardInterrupt:
        typer.echo(f"{path} keeps finished trials; the same command continues from there", err=True)
        raise
    report = replace(report_of(records), name=f"{name}-part" if part else name)
    origin = provenance([record for record in records if "commit" in record])
    origin["trials"] = f"{len(select_done(records))} of {len(records)} trials have figures"
    paths = report.write(options.out, origin)
    if as_json:
        typer.echo(json.dumps(report.to_json(origin), indent=1))
    else:
        print_report(report)
    typer.echo("\nwritten: " + ", ".join(map(str, [*paths, path])), err=as_json)
    if not select_done(records):
        raise typer.Exit(1)


def _records(path: Path, title: str, trials: Sequence[Job], options: RunOptions) -> list[Record]:
    """Return the records of all trials; run the trials that have none.

    A trial that the budget leaves out has a failure without a commit.
    """
    keys = [trial.key for trial in trials]
    with Records(path) as records:
        if options.fresh:
            records.drop(keys)
        else:
            records.adopt(keys)
        known = [records.known[key] for key in keys if key in records.known]
        _refuse_unknown_code(known, path)
        if options.retry and (again := select_failed(known)):
            records.drop([record["key"] for record in again])
        missing = sum(key not in records.known for key in keys)
        typer.echo(f"{title}: {len(trials)} trials, {len(trials) - missing} of them done", err=True)
        now = commit()
        if others := {record.get("commit") for record in known} - {now}:
            olds = ", ".join(sorted(map(str, others)))
            typer.echo(
                f"note: uses records of another code version ({olds}); --fresh ignores them",
                err=True,
            )
        _check_data([trial for trial in trials if trial.key not in records.known])
        running = run_trials(
            trials,
            records,
            options.jobs,
            time_limit=options.time_limit,
            budget=None if options.budget is None else 60 * options.budget,
            extra={"commit": now},
        )
        with progress_bar("trials", missing, sys.stderr.isatty()) as advance:
            for record in running:
                if record["status"] != "ok":
                    _report_failure(record)
                advance()
        # A record may come from a run of another size, so its description is replaced.
        not_run = failure("not run yet: the same command without --budget continues")
        return [{**records.known.get(trial.key, not_run), **trial.about()} for trial in trials]


def _refuse_unknown_code(known: Sequence[Record], path: Path) -> None:
    """Refuse records that do not say which code computed them."""
    if bad := [record for record in known if not record.get("commit")]:
        first = f"{bad[0]['learner']} on {bad[0]['set']}"
        raise ValueError(
            f"{path}: {len(bad)} records have no commit, the first is {first}. Nobody can repeat "
            "them: give --fresh to run these trials again."
        )


def _check_data(trials: Sequence[Job]) -> None:
    """Load every data set once, to download it and to report each failure once.

    If no data set can be loaded, raise an error.
    """
    errors = {}
    sets = dict.fromkeys(trial.data for trial in trials if isinstance(trial, Trial))
    for data in sets:
        try:
            data.load()
        except (OSError, RuntimeError, ValueError) as error:
            errors[data] = error
            typer.echo(f"{data.label} cannot be loaded: {error}", err=True)
    if sets and len(errors) == len(sets):
        raise ValueError(f"no data set can be loaded. {next(iter(errors.values()))}")


def _report_failure(record: Record) -> None:
    about = f"{record['learner']} on {record['set']}, repeat {record['repeat']}"
    typer.echo(f"failed: {about}, fold {record['fold']}: {record['problem'][:300]}", err=True)


def print_report(report: Report) -> None:
    """Print tables, targets and failures."""
    console = make_console()
    console.print(Text(f"\n{report.title}", style="bold"))
    for grid in report.grids:
        console.print(Text(f"\n{grid.title}"))
        print_grid(console, grid.head, grid.write_cells())
    for note in report.notes:
        console.print(Text(f"\n{note}"))
    if report.targets:
        console.print()
        targets = report.target_grid()
        print_grid(console, targets.head, targets.write_cells())
    if lines := report.failure_lines():
        console.print(Text("\nfailed:\n" + "\n".join(lines)))


_COMMA = re.compile(r",(?![^(]*\))")
"""A comma outside brackets."""


def split_names(texts: Sequence[str] | None) -> list[str]:
    """Split names at commas, over all uses of the option; drop duplicates."""
    names = [name.strip() for text in texts or () for name in _COMMA.split(text)]
    return list(dict.fromkeys(name for name in names if name))
