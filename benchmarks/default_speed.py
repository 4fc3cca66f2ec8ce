"""How fast and how good are the defaults? Twelve problems, four learners, nothing tuned.

    python benchmarks/default_speed.py [PROBLEM ...] [--repeat 5] [--threads 1 2] [--out PAGE]

Fit time and held-out log-loss of `MLRulesClassifier`, LightGBM, XGBoost (histograms) and YDF with
their defaults. Fits alternate, each in a process of its own; ratios are medians of the rounds with
the smallest and largest. "to loss" is the time of a fit of ours that ends when it reaches the
log-loss of LightGBM, divided by LightGBM's. `--instructions` counts instructions instead, on a
tenth of the rows, with callgrind: other work on the machine does not change them.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import problems
from bench import HERE, Bench, Result
from measure import Job, save

PROBLEMS = {
    "interactions": "interactions-100000x30-1",
    "wide": "wide-100000x30-2",
    "smooth": "smooth-100000x20-1",
    "products": "products-100000x15-1",
    "boxes": "boxes-100000x25-1",
    "sphere": "sphere-100000x10-1",
    "adult": "set-adult-train",
    "letter": "set-letter",
    "three classes": "gaps-60000x21-3",
    "seven classes": "gaps-60000x21-7",
    "300 columns": "wide-20000x300-2",
    "many labels": "labels-60000x12-1",
}
OURS, RIVAL = "rulewright", "lightgbm"
LEARNERS = (OURS, RIVAL, "xgboost", "ydf")


def jobs_of(bench: Bench, problem: str, n_jobs: int) -> dict[str, Job]:
    """Create a job per learner; ours gets the log-loss of the rival as its goal."""
    options = {"n_rules": None, "n_jobs": n_jobs, "test": problems.other_rows(problem)}
    found = {name: bench.job(name, problem, **options) for name in LEARNERS}
    [first] = replaced(bench, {RIVAL: found[RIVAL]}).values()
    if "error" not in first:
        found[OURS] = replace(found[OURS], goal=first["log_loss"])
    return found


def replaced(bench: Bench, jobs: dict[str, Job]) -> dict[str, Result]:
    """Run jobs once."""
    once = replace(bench, repeat=1)
    return {label: results[0] for label, results in once.alternate(jobs).items()}


def middle(top: list[float], bottom: list[float]) -> str:
    """Write the median ratio of the rounds, with the smallest and the largest."""
    ratios = np.array(top) / np.array(bottom)
    return f"{np.median(ratios):.2f} ({ratios.min():.2f} to {ratios.max():.2f})"


def seconds(results: list[Result], name: str = "seconds") -> list[float]:
    return [result.get(name, np.inf) for result in results]


def line(name: str, n_jobs: int, rounds: dict[str, list[Result]]) -> tuple[list[str], dict]:
    """Write the row of a problem, and return its figures."""
    ours, rival = rounds[OURS], rounds[RIVAL]
    figures: dict[str, Any] = {
        "problem": name,
        "threads": n_jobs,
        "ratio": float(np.median(np.array(seconds(ours)) / seconds(rival))),
        "to_loss": float(np.median(np.array(seconds(ours, "goal_seconds")) / seconds(rival))),
        "losses": {label: results[0].get("log_loss") for label, results in rounds.items()},
        "seconds": {label: float(np.median(seconds(own))) for label, own in rounds.items()},
        "errors": {label: own[-1]["error"] for label, own in rounds.items() if "error" in own[-1]},
    }
    reached = np.isfinite(figures["to_loss"])
    losses = [f"{loss:.4f}" if loss else "-" for loss in figures["losses"].values()]
    times = [f"{value:.2f}" for value in figures["seconds"].values()]
    goal = middle(seconds(ours, "goal_seconds"), seconds(rival)) if reached else "not reached"
    rules = f"{ours[0].get('rules', 0):.0f}"
    row = [name, str(n_jobs), *losses, *times, middle(seconds(ours), seconds(rival)), goal, rules]
    return row, figures


def table(rows: list[list[str]]) -> list[str]:
    """Write rows as a table of Markdown."""
    heads = ["problem", "threads", *(f"loss {name}" for name in LEARNERS)]
    heads += [f"s {name}" for name in LEARNERS]
    heads += ["time / LightGBM's", "to its loss", "rules"]
    return ["| " + " | ".join(line) + " |" for line in (heads, ["---"] * len(heads), *rows)]


def summary(found: list[dict]) -> list[str]:
    """Write the figures over all problems, by number of threads."""
    lines = []
    for n_jobs in sorted({one["threads"] for one in found}):
        own = [one for one in found if one["threads"] == n_jobs]
        below = sum(one["losses"][OURS] <= one["losses"][RIVAL] for one in own)
        ratios = [one["ratio"] for one in own]
        fast = sum(one["to_loss"] <= 1 for one in own)
        lines.append(
            f"Threads: {n_jobs}. On {below} of {len(own)} problems the rules end at or below "
            f"the log-loss of LightGBM, on {fast} they reach it in less time. Time of a fit "
            f"relative to LightGBM: geometric mean {np.exp(np.mean(np.log(ratios))):.2f}."
        )
    return lines


def count_instructions(name: str, folder: str) -> list[str]:
    """Count the instructions of fits of ours and the rival, less those of a warm-up alone."""
    small = re.sub(r"-(\d+)0x", r"-\1x", PROBLEMS.get(name, name))
    save(folder, small, *problems.make(small))
    counts = []
    for learner in (OURS, RIVAL):
        job = Job(learner, small, folder, n_rules=None)
        fits = [instructions(replace(job, inner_repeats=n), folder) for n in (1, 2)]
        counts.append(fits[1] - fits[0])
    return [name, *(f"{count / 1e9:.2f}" for count in counts), f"{counts[0] / counts[1]:.2f}"]


def instructions(job: Job, folder: str) -> int:
    """Count the instructions of a process that measures a job."""
    out = Path(folder) / "callgrind.out"
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--smc-check=none"]
    command = [*tool, sys.executable, str(HERE / "measure.py"), job.to_json()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    if "error" in json.loads(done.stdout.splitlines()[-1]):
        raise RuntimeError(done.stdout.splitlines()[-1])
    return int(re.findall(r"Collected : (\d+)", done.stderr)[-1])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("problems", nargs="*", default=list(PROBLEMS), help=", ".join(PROBLEMS))
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--instructions", action="store_true", help="count instructions instead")
    parser.add_argument("--out", type=Path, help="also write the page and, beside it, the figures")
    return parser.parse_args()


def main() -> None:
    options, rows, found = arguments(), [], []
    with tempfile.TemporaryDirectory() as folder:
        if options.instructions:
            print("problem: 10^9 instructions of a fit of ours, of LightGBM, ratio")
            for name in options.problems:
                print(*count_instructions(name, folder), sep="\t", flush=True)
            return
        bench = Bench(folder, options.repeat)
        for name in options.problems:
            for n_jobs in options.threads:
                jobs = jobs_of(bench, PROBLEMS.get(name, name), n_jobs)
                row, figures = line(name, n_jobs, bench.alternate(jobs))
                rows.append(row)
                found.append(figures)
                print(*row, sep="\t", flush=True)
    page = [*table(rows), "", *summary(found)]
    print("\n".join(page))
    if options.out:
        options.out.write_text("\n".join(page) + "\n")
        options.out.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
