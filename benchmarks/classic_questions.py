"""Questions of run.py about the classic learners: their speed, and how it grows with the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from bench import Row, compare, seconds

if TYPE_CHECKING:
    from bench import Bench, Result

N_TEST = 20_000
ORANGE_ROWS = 1000
"""Orange's CN2 takes minutes beyond."""
SIZES = (10_000, 100_000, 1_000_000)


def ours(bench: Bench, learner: str, problem: str, **options: Any) -> Any:
    settings = {"learner": learner, **options.pop("settings", {})}
    return bench.job("rulewright-learner", problem, settings=settings, **options)


def without_start(result: Result) -> Result:
    """Return WEKA's seconds without those that Java takes to start."""
    return {**result, "seconds": seconds(result) - result.get("start_seconds", 0.0)}


def ripper_speed(bench: Bench) -> list[Row]:
    """Fit seconds of RIPPER and PART against wittgenstein's and WEKA's, 5,000 x 20, one thread."""
    problem, test = "rules-5000x20-0", f"rules-{N_TEST}x20-0@1"
    jobs = {
        "ripper": ours(bench, "ripper", problem, test=test),
        "part": ours(bench, "part", problem, test=test),
        "wittgenstein": bench.job("wittgenstein-ripper", problem, test=test),
        "weka-jrip": bench.job("weka-jrip", problem, test=test),
        "weka-part": bench.job("weka-part", problem, test=test),
    }
    got = bench.best(jobs)
    jrip, part = without_start(got["weka-jrip"]), without_start(got["weka-part"])
    rival, at_least = got["wittgenstein"], (">= 1", lambda r: r >= 1)
    return [
        *(Row(label, result) for label, result in got.items()),
        compare("wittgenstein / ripper", rival, got["ripper"], ">= 30", lambda r: r >= 30),
        compare("weka-jrip without its start / ripper", jrip, got["ripper"], *at_least),
        compare("weka-part without its start / part", part, got["part"], *at_least),
    ]


def cn2_speed(bench: Bench) -> list[Row]:
    """Fit seconds of CN2 against Orange's, 1,000 x 10, one thread."""
    problem, test = f"rules-{ORANGE_ROWS}x10-0", f"rules-{N_TEST}x10-0@1"
    jobs = {
        "cn2, ordered": ours(bench, "cn2", problem, test=test, settings={"ordered": True}),
        "cn2, unordered": ours(bench, "cn2", problem, test=test, settings={"ordered": False}),
        "orange, ordered": bench.job("orange-cn2", problem, test=test),
        "orange, unordered": bench.job("orange-cn2-unordered", problem, test=test),
    }
    got = bench.best(jobs)
    table = [Row(label, result) for label, result in got.items()]
    for kind in ("ordered", "unordered"):
        theirs, mine = got[f"orange, {kind}"], got[f"cn2, {kind}"]
        table.append(compare(f"orange / ours, {kind}", theirs, mine, ">= 50", lambda r: r >= 50))
    return table


def classic_growth(bench: Bench) -> list[Row]:
    """Fit seconds over n log^2 n, relative to 10,000 rows: RIPPER, and RISE on parts of 100."""
    table = []
    kinds = {
        "ripper": ("ripper", {}, SIZES),
        "rise on parts of 100": ("averaging", {"part_size": 100}, SIZES[:2]),
    }
    for label, (learner, settings, sizes) in kinds.items():
        got = bench.best(
            {
                f"{label}, {n} rows": ours(bench, learner, f"rules-{n}x20-0", settings=settings)
                for n in sizes
            }
        )
        rows = [Row(name, result) for name, result in got.items()]
        if any("error" in row.result for row in rows):
            table += rows
            continue
        costs = [
            seconds(r.result) / (n * np.log2(n) ** 2) for r, n in zip(rows, sizes, strict=True)
        ]
        for row, cost in zip(rows, costs, strict=True):
            row.ratio = float(cost / costs[0])
            row.target, row.met = "<= 1.1", row.ratio <= 1.1
        table += rows
    return table
