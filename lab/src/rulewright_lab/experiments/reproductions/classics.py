"""The classic learners that the papers compare with, beside their printed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rulewright.comparison import FoldProtocol, Learner, Report, Trial, all_trials, select_failed
from rulewright_lab.experiments.bagging import BaggedLearner
from rulewright_lab.experiments.charts import printed_versus_ours_chart
from rulewright_lab.experiments.data import PaperData
from rulewright_lab.experiments.printed import printed_table
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction
from rulewright_lab.experiments.reproductions.slipper import table1_plan, table1_sets
from rulewright_lab.experiments.reproductions.tables import (
    at_least,
    at_most,
    beside_printed,
    error_to_accuracy,
    error_to_percent,
    learner_means,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Expectation, Record
    from rulewright_lab.experiments.encodings import Encoding
    from rulewright_lab.experiments.reproductions.tables import BesidePrinted

WEKA = {"prune_by": "laplace"}
"""JRip is WEKA's RIPPER, which prunes by (p + 1) / (p + n + 2)."""
POINTS, SHARE = 1.5, 0.3
"""How far the mean accuracy may fall below the printed one, and the mean size be from it."""


class ClassicTable(NamedTuple):
    """A printed table: its learners by their printed names, and how its data are prepared.

    `in_errors` means that errors are printed, as shares; `sizes` and `lengths` are the tables of
    rules and of their literals. Printed literals of the learners in `heads` count the class of each
    rule.
    """

    name: str
    learners: tuple[Learner, ...]
    encoding: Encoding = "raw"
    in_errors: bool = False
    sizes: str | None = None
    lengths: str | None = None
    heads: tuple[str, ...] = ()

    def trials(self, extent: Extent) -> list[Trial]:
        """List every learner on ten folds of every set."""
        table = printed_table(self.name)
        sets = dict(zip(table.sets, table.data, strict=True))
        chosen = [
            PaperData(name, (sets[name],), encoding=self.encoding)
            for name in extent.choose_sets(table.sets)
        ]
        folds = FoldProtocol(10, extent.runs, used=2 if extent.quick else None)
        return all_trials(self.learners, chosen, folds, extent.seed)

    def beside(self, records: Sequence[Record], sets: Sequence[str]) -> BesidePrinted:
        """Compare our figures with the printed ones."""
        printed = printed_table(self.name).rows(sets)
        columns = {who.label: printed.column(who.label) for who in self.learners}
        title = "Error" if self.in_errors else "Accuracy in %"
        digits, of = (3, float) if self.in_errors else (1, error_to_accuracy)
        return beside_printed(title, records, "error", sets, columns, digits=digits, of=of)

    def sizes_beside(
        self, records: Sequence[Record], sets: Sequence[str]
    ) -> dict[str, BesidePrinted]:
        """Compare our numbers of rules and literals with the printed ones, if there are any."""
        found, records = {}, [self._with_literals(record) for record in records]
        for what, name in (("rules", self.sizes), ("literals", self.lengths)):
            if name is None:
                continue
            printed = printed_table(name).rows(sets)
            known = [who.label for who in self.learners if who.label in printed.learners]
            columns = {label: printed.column(label) for label in known}
            title = what.capitalize()
            found[what] = beside_printed(title, records, what, sets, columns, digits=1)
        return found

    def _with_literals(self, record: Record) -> Record:
        """Count literals as printed: a condition on a Boolean column is one."""
        if "conditions" not in record:
            return record
        classes = record["rules"] if record["learner"] in self.heads else 0
        return {**record, "literals": record["conditions"] + classes}

    def targets(
        self, found: BesidePrinted, sizes: dict[str, BesidePrinted], extent: Extent
    ) -> list[Expectation]:
        """Judge each learner: mean accuracy at most 1.5 points lower, mean sizes within 30 %."""
        judged = []
        for label, gap in found.gaps.items():
            if self.in_errors:
                text = f"{label}: mean error at most {POINTS / 100:.3f} above the printed"
                judged.append(at_most(text, gap, POINTS / 100, extent, 4))
            else:
                text = f"{label}: mean accuracy at most {POINTS} points below the printed"
                judged.append(at_least(text, gap, -POINTS, extent, 2))
        for what, size in sizes.items():
            for label, gap in size.gaps.items():
                off = abs(gap) / (size.means[label] - gap)
                text = f"{label}: mean number of {what} within {SHARE:.0%} of the printed"
                judged.append(at_most(text, off, SHARE, extent, 2))
        return judged


def table_report(
    table: ClassicTable,
    text: str,
    reproduction: Reproduction,
    records: Sequence[Record],
    extent: Extent,
) -> Report:
    """Write the report of a printed table."""
    sets = extent.choose_sets(printed_table(table.name).sets)
    found, sizes = table.beside(records, sets), table.sizes_beside(records, sets)
    unit = "error" if table.in_errors else "accuracy in %"
    return Report(
        reproduction.name,
        reproduction.title,
        [text, *reproduction.about(extent)],
        [
            found.grid,
            *(size.grid for size in sizes.values()),
            learner_means(records, [who.label for who in table.learners]),
        ],
        table.targets(found, sizes, extent),
        {"accuracy": printed_versus_ours_chart(found.points, unit)},
        failures=select_failed(records),
    )


THESIS42 = ClassicTable(
    "thesis-4.2",
    (
        Learner("CN2", "cn2", paper=True),
        Learner("RIPPER+opt", "ripper", paper=True),
        Learner("C5.0", "c45rules", paper=True),
        Learner("RIPPER-opt", "ripper", {"n_optimizations": 0}, paper=True),
        Learner("CN2-WRAcc", "cn2", {"criterion": "wracc", "ordered": True}, paper=True),
        Learner("PART", "part", paper=True),
        Learner("FOIL", "foil", paper=True),
        Learner("stump", "stump", paper=True),
    ),
    encoding="boolean",
    sizes="thesis-4.3",
    lengths="thesis-4.4",
    heads=("RIPPER+opt", "RIPPER-opt"),
)
THESIS45 = ClassicTable(
    "thesis-4.5",
    (
        Learner("PART", "part", paper=True),
        Learner("JRIP", "ripper", WEKA, paper=True),
        BaggedLearner("bagged PART", "part", paper=True),
        BaggedLearner("bagged JRIP", "ripper", WEKA, paper=True),
    ),
    encoding="bins",
)
LRI = ClassicTable("mlrules-table1", (Learner("LRI", "lri", paper=True),), in_errors=True)


def thesis42_report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare with Tables 4.2 to 4.4 of the thesis."""
    text = (
        "Rückert: *A statistical approach to rule learning*, thesis, 2008, protocol P1: 18 "
        "two-class sets as Boolean columns (labels, ten intervals of equal frequency, missing). "
        "C5.0 is printed; our C4.5rules stands in, whose rules it derives from. Published "
        "settings; the thesis ran ten times ten folds. CN2-WRAcc is a decision list. Literals of "
        "RIPPER count the class of each rule: without it, conditions per rule would be one fewer "
        "than printed on nearly every set."
    )
    return table_report(THESIS42, text, BASE_THESIS42, records, extent)


def thesis45_report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare with Table 4.5 of the thesis."""
    text = (
        "Rückert: *A statistical approach to rule learning*, thesis, 2008, protocol P2: 35 sets, "
        "numbers in ten intervals of equal frequency, missing as a value; bagging is a majority "
        "vote of 20 bootstrap samples. JRip is WEKA's RIPPER."
    )
    return table_report(THESIS45, text, PART_JRIP, records, extent)


def lri_report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare with the column LRI of Table 1 of MLRules."""
    text = (
        "Dembczyński, Kotłowski, Słowiński: *Maximum likelihood rule ensembles*, ICML 2008, column "
        "LRI: 200 rules for each class, of two terms of at most five conditions, features frozen "
        "after 50 rules."
    )
    return table_report(LRI, text, LRI_MLRULES, records, extent)


SLIPPER = {
    "RIPPER-opt": Learner("RIPPER-opt", "ripper", {"n_optimizations": 0}, paper=True),
    "RIPPER+opt": Learner("RIPPER+opt", "ripper", paper=True),
    "C4rules": Learner("C4rules", "c45rules", paper=True),
}


def slipper_trials(extent: Extent) -> list[Trial]:
    """List RIPPER and C4.5rules on the splits of SLIPPER's Table 1."""
    return table1_plan(list(SLIPPER.values()), extent)


def slipper_report(records: Sequence[Record], extent: Extent) -> Report:
    """Compare with the columns of RIPPER and C4.5rules in SLIPPER's Table 1."""
    sets = extent.choose_sets(list(table1_sets()))
    printed = printed_table("slipper-table1").rows(sets)
    columns = {label: printed.column(label) for label in SLIPPER}
    found = beside_printed(
        "Error in %", records, "error", sets, columns, digits=1, of=error_to_percent
    )
    targets = [
        at_most(f"{label}: mean error at most 1.5 points above the printed", gap, POINTS, extent, 2)
        for label, gap in found.gaps.items()
    ]
    rules = {"RIPPER+opt": 6.0, "RIPPER-opt": 8.1, "C4rules": 22.1}
    text = (
        "Cohen, Singer: *A simple, fast, and effective rule learner*, AAAI 1999, columns RIPPER "
        "without and with optimisation and C4.5rules, on the public sets. Mean rules printed over "
        f"all 32 sets: {', '.join(f'{who} {n}' for who, n in rules.items())}."
    )
    return Report(
        BASE_SLIPPER.name,
        BASE_SLIPPER.title,
        [text, *BASE_SLIPPER.about(extent)],
        [found.grid, learner_means(records, list(SLIPPER))],
        targets,
        {"errors": printed_versus_ours_chart(found.points, "error in %")},
        failures=select_failed(records),
    )


BASE_THESIS42 = Reproduction(
    "base-thesis-4.2",
    "CN2, RIPPER, C4.5rules, PART, FOIL and stump: Tables 4.2 to 4.4 of the thesis, 18 data sets",
    "two of the ten folds",
    THESIS42.trials,
    thesis42_report,
)
PART_JRIP = Reproduction(
    "part-jrip-thesis-4.5",
    "PART and RIPPER, single and bagged: Table 4.5 of the thesis, 35 data sets",
    "two of the ten folds",
    THESIS45.trials,
    thesis45_report,
)
LRI_MLRULES = Reproduction(
    "lri-mlrules",
    "LRI: Table 1 of MLRules, 35 data sets",
    "two of the ten folds",
    LRI.trials,
    lri_report,
)
BASE_SLIPPER = Reproduction(
    "base-slipper",
    "RIPPER and C4.5rules: Table 1 of SLIPPER, the public two-class data sets",
    "three of the ten folds",
    slipper_trials,
    slipper_report,
)
