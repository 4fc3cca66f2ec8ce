"""Why do figures differ from printed ones? `paper_questions.py labor|margin|intervals [--runs N]`.

Accuracies in percent and rules of ten folds, where one choice that a thesis leaves open is changed:
labor has other biases of RUMBLE; margin balances classes by weights or by drawing rows; intervals
cuts numbers on the training rows or on the whole table, for ensembles of rule sets.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np
from console import aligned

from rulewright.comparison import FoldProtocol, Learner, all_trials
from rulewright.search import Base, Bias, Combine, Missing
from rulewright_lab.experiments.data import PaperData

if TYPE_CHECKING:
    from collections.abc import Iterator


def rumble(label: str, *generators: object, **settings: object) -> Learner:
    given = {"bias": Bias(list(generators))} if generators else {}
    return Learner(label, "rumble", {**given, **settings}, paper=True)


def least(limit: int) -> Combine:
    return Combine(choose="lowest_mutual_information", limit=limit)


ENSEMBLE = Learner("ensemble", "ruleset-ensemble", paper=True)
QUESTIONS: dict[str, tuple[list[Learner], list[PaperData]]] = {
    "labor": (
        [
            rumble("labels, intervals and all pairs"),
            rumble("and gaps, no pairs", Base(), Missing()),
            rumble("and gaps, 50 pairs", Base(), Missing(), least(50)),
            rumble("and gaps, 200 pairs", Base(), Missing(), least(200)),
            rumble("and gaps, all pairs", Base(), Missing(), Combine()),
        ],
        [PaperData("labor")],
    ),
    "margin": (
        [
            rumble("rows have weights", criterion="margin"),
            rumble("rows are drawn", criterion="margin_subsample"),
        ],
        [PaperData(name) for name in ("hepatitis", "labor", "breast-c", "heart-h", "vote")],
    ),
    "intervals": (
        [ENSEMBLE],
        [
            PaperData(f"{name}, cut on {where}", (name,), encoding=encoding)
            for name in ("hepatitis", "sonar")
            for where, encoding in (("training rows", "raw"), ("all rows", "bins"))
        ],
    ),
}


def answers(question: str, runs: int) -> Iterator[list[str | float]]:
    learners, sets = QUESTIONS[question]
    for data in sets:
        found: dict[str, list[list[float]]] = {who.label: [] for who in learners}
        for trial in all_trials(learners, [data], FoldProtocol(10, runs), 0):
            record = trial.run()
            found[trial.learner.label].append([100 * (1 - record["error"]), record["rules"]])
        for label, figures in found.items():
            yield [data.label, label, *np.mean(figures, axis=0).tolist()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    head = ["data", "learner", "accuracy", "rules"]
    print("\n".join(aligned(head, list(answers(options.question, options.runs)))))


if __name__ == "__main__":
    main()
