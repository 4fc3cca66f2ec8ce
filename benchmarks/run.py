"""Speed, memory and small models against rivals: `python benchmarks/run.py speed --repeat 3`."""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from bench import TEST, Bench, Row, compare, seconds
from classic_questions import classic_growth, cn2_speed, ripper_speed
from console import aligned, setting
from rule_questions import compact, rulefit_speed, slipper_growth, slipper_speed
from start_questions import start_up


def speed(bench: Bench) -> list[Row]:
    """Fit seconds, 100,000 x 30, two classes, 500 rules or trees, one thread."""
    bins = {"feature_binning": "equal-frequency{max_bins=255}"}
    jobs = {
        "rulewright": bench.job("rulewright", test=TEST),
        "lightgbm": bench.job("lightgbm", test=TEST),
        "boomer": bench.job("boomer", test=TEST),
        "boomer, 255 bins": bench.job("boomer", test=TEST, settings=bins),
    }
    got = bench.best(jobs)
    ours = got["rulewright"]
    return [
        *(Row(label, result) for label, result in got.items()),
        compare("rulewright / lightgbm", ours, got["lightgbm"], "<= 0.5", lambda r: r <= 0.5),
        compare("boomer / rulewright", got["boomer"], ours, ">= 10", lambda r: r >= 10),
        compare(
            "boomer, 255 bins / rulewright",
            got["boomer, 255 bins"],
            ours,
            ">= 10 (stricter than asked)",
            lambda r: r >= 10,
        ),
    ]


def threads(bench: Bench) -> list[Row]:
    """Fit seconds with one and with two threads, 100,000 and 1,000,000 x 30."""
    rows = []
    for size in (100_000, 1_000_000):
        jobs = {
            f"{learner}, {size} rows, n_jobs={n}": bench.job(learner, f"wide-{size}x30-2", n_jobs=n)
            for learner in ("rulewright", "lightgbm")
            for n in (1, 2)
        }
        got = bench.best(jobs)
        rows += [Row(label, result) for label, result in got.items()]
        ours, ours_on_two, theirs, theirs_on_two = got.values()
        speed_up = f"1 thread / 2 threads, {size} rows"
        rows += [
            compare(f"rulewright: {speed_up}", ours, ours_on_two, ">= 1.8", lambda r: r >= 1.8),
            replace(compare(f"lightgbm: {speed_up}", theirs, theirs_on_two, "", bool), met=None),
        ]
    return rows


def rows(bench: Bench) -> list[Row]:
    """Fit seconds from 10,000 to 1,000,000 rows; linear means a log-log slope of about one."""
    sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000]
    got = bench.best({f"{n} rows": bench.job("rulewright", f"wide-{n}x30-2") for n in sizes})
    table = [Row(label, result) for label, result in got.items()]
    for row, n in zip(table, sizes, strict=True):
        if "error" not in row.result:
            row.result["us_per_row"] = 1e6 * seconds(row.result) / n
    spent = [seconds(result) for result in got.values()]
    broken = next((r["error"] for r in got.values() if "error" in r), None)
    # Fixed costs flatten the start of the curve, so its end is also judged alone.
    for label, start in (("log-log slope", 0), ("log-log slope from 100000 rows", 2)):
        if broken:
            table.append(Row(label, {"error": broken}, target="<= 1.1"))
            continue
        slope = float(np.polyfit(np.log(sizes[start:]), np.log(spent[start:]), 1)[0])
        table.append(Row(label, {}, slope, "<= 1.1", slope <= 1.1))
    return table


def classes(bench: Bench) -> list[Row]:
    """Fit seconds with ten classes against two, class chosen before the rule grows."""
    prefixed = {"class_choice": "prefixed"}
    jobs = {
        "2 classes, prefixed": bench.job("rulewright", settings=prefixed),
        "10 classes, prefixed": bench.job("rulewright", "wide-100000x30-10", settings=prefixed),
        "2 classes, joint": bench.job("rulewright", settings={"class_choice": "joint"}),
    }
    got = bench.best(jobs)
    two, ten = got["2 classes, prefixed"], got["10 classes, prefixed"]
    verdict = compare("10 classes / 2 classes", ten, two, "<= 6", lambda r: r <= 6)
    return [*(Row(label, result) for label, result in got.items()), verdict]


def memory(bench: Bench) -> list[Row]:
    """Peak memory of a fit beyond the input, as a multiple of the float64 input."""
    jobs = {
        f"{learner}, {n} rows": bench.job(learner, f"wide-{n}x30-2", n_rules=100)
        for n in (100_000, 1_000_000)
        for learner in ("rulewright", "lightgbm")
    }
    table = []
    for label, result in bench.best(jobs).items():
        ratio = result.get("memory_ratio")
        asked = label.startswith("rulewright")
        met = ratio <= 1.5 if asked and ratio is not None else None
        table.append(Row(label, result, ratio, "<= 1.5" if asked else "", met))
    return table


def ten_million(bench: Bench) -> list[Row]:
    """Peak memory of a fit beyond the input, and beyond its codes too, 10,000,000 x 30."""
    job = bench.job("rulewright", "wide-10000000x30-2", n_jobs=2)
    (result,) = replace(bench, repeat=1).best({"rulewright": job}).values()
    if "error" in result:
        return [Row("rulewright, n_jobs=2", result, target="<= 1")]
    ratio = result["memory_ratio"]
    # Of a row the input has 30 numbers of 8 bytes, codes 30 bytes, g and h 8 bytes each.
    copies = (240 * ratio - 30) / 16
    rest = Row("beyond the codes / copy of g and h", {}, copies, "<= 1", copies <= 1)
    return [Row("rulewright, n_jobs=2", result, ratio), rest]


def predict(bench: Bench) -> list[Row]:
    """Seconds to predict 1,000,000 rows with 500 rules or trees."""
    jobs = {
        f"{learner}, n_jobs={n}": bench.job(
            learner, verb="predict", n_jobs=n, test="wide-1000000x30-2@1"
        )
        for n in (1, 2)
        for learner in ("rulewright", "lightgbm")
    }
    got = bench.best(jobs)
    table = [Row(label, result) for label, result in got.items()]
    for n in (1, 2):
        ours, theirs = got[f"rulewright, n_jobs={n}"], got[f"lightgbm, n_jobs={n}"]
        label = f"rulewright / lightgbm, n_jobs={n}"
        table.append(compare(label, ours, theirs, "<= 1", lambda r: r <= 1))
    return table


def predict_equal(bench: Bench) -> list[Row]:
    """Seconds to predict 1,000,000 rows at the log-loss of LightGBM's defaults, one thread."""
    options = {"verb": "predict", "test": "wide-1000000x30-2@1"}
    rate = {"learning_rate": 0.3}
    jobs = {
        "rulewright, 300 rules": bench.job("rulewright", n_rules=300, settings=rate, **options),
        "lightgbm": bench.job("lightgbm", n_rules=None, **options),
        "lleaves": bench.job("lleaves", n_rules=None, **options),
        # 300 trees, its default, have a lower log-loss than the others.
        "ydf, 125 trees": bench.job("ydf", n_rules=125, **options),
    }
    got = bench.best(jobs)
    ours = got["rulewright, 300 rules"]
    return [
        *(Row(label, result) for label, result in got.items()),
        compare("rulewright / lightgbm", ours, got["lightgbm"], "<= 0.05", lambda r: r <= 0.05),
        compare("rulewright / lleaves", ours, got["lleaves"], "<= 0.5", lambda r: r <= 0.5),
        replace(compare("rulewright / ydf", ours, got["ydf, 125 trees"], "", bool), met=None),
    ]


def small(bench: Bench) -> list[Row]:
    """Milliseconds to fit iris with 100 rules; a few means at most five."""
    jobs = {
        learner: bench.job(learner, "iris", n_rules=100, inner_repeats=20)
        for learner in ("rulewright", "lightgbm")
    }
    got = bench.best(jobs)
    table = [Row(label, result) for label, result in got.items()]
    ours = seconds(got["rulewright"])
    table[0].target, table[0].met = "<= 5 ms", None if np.isinf(ours) else ours <= 0.005
    return table


ASKED = (
    speed,
    threads,
    rows,
    classes,
    memory,
    ten_million,
    predict,
    predict_equal,
    small,
    start_up,
)
ASKED_OF_RULES = (compact, slipper_speed, slipper_growth, rulefit_speed)
ASKED_OF_CLASSICS = (ripper_speed, cn2_speed, classic_growth)
QUESTIONS = {f.__name__.replace("_", "-"): f for f in (*ASKED, *ASKED_OF_RULES, *ASKED_OF_CLASSICS)}
COLUMNS = (
    "seconds",
    "cpu",
    "us_per_row",
    "test_error",
    "log_loss",
    "rules",
    "conditions",
    "version",
)


def table_lines(title: str, table: list[Row]) -> list[str]:
    """Return the text of one question; errors stand under the table in full."""
    used = [c for c in COLUMNS if any(c in row.result for row in table)]
    body = []
    for row in table:
        met = {True: "yes", False: "NO", None: "error" if "error" in row.result else ""}[row.met]
        body.append([row.label, *(row.result.get(c) for c in used), row.ratio, row.target, met])
    errors = [f"! {r.label}: {r.result['error']}" for r in table if "error" in r.result]
    return ["", title, *aligned(["", *used, "ratio", "target", "met"], body), *errors]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", nargs="?", default="all", choices=[*QUESTIONS, "all"])
    parser.add_argument("--repeat", type=int, default=3, help="rounds; the best one counts")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument(
        "--set",
        type=setting,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="parameter of MLRulesClassifier, e.g. max_conditions=5; may be repeated",
    )
    return parser.parse_args()


def main() -> None:
    options = arguments()
    asked = list(QUESTIONS) if options.question == "all" else [options.question]
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, options.repeat, dict(options.set))
        for name in asked:
            table = QUESTIONS[name](bench)
            print("\n".join(table_lines(f"{name}: {QUESTIONS[name].__doc__}", table)), flush=True)
            report[name] = [vars(row) for row in table]
            if options.json:
                options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
