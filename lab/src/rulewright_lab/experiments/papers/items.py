"""The tables and figures of the five papers, in the order of the papers."""

from __future__ import annotations

from rulewright_lab.experiments.papers import thesis
from rulewright_lab.experiments.papers.pages import (
    CODE,
    OTHER_SYSTEM,
    Balance,
    Item,
    Mean,
    Shown,
    Targets,
)

MLRULES = "MLRules (Dembczyński, Kotłowski, Słowiński, 2008)"
SLIPPER = "SLIPPER (Cohen, Singer, 1999)"
ENSEMBLES = "Feature selection and classification with a rule ensemble"
DOMINGOS = "Bayesian model averaging in rule induction (Domingos, 1997)"

SURROGATE = "surrogate: the supernova data are not public"
ERROR, PERCENT = "Error", "Error in %"


def _error(column: str, within: float = 0.005) -> Mean:
    return Mean(ERROR, column, within=within, lower_is_better=True, digits=3)


def _percent(column: str) -> Mean:
    return Mean(PERCENT, column, lower_is_better=True)


def _mlrules() -> list[Item]:
    return [
        Item(
            MLRULES,
            "Figure 1",
            "error by number of rules",
            "mlrules-figure1",
            Shown("two charts"),
            "the paper has charts only",
        ),
        *(
            Item(
                MLRULES,
                "Table 1",
                f"mean error of {name}",
                "mlrules-table1",
                _error(name),
                thesis.NOTES.format("mlrules"),
            )
            for name in ("ML.G", "ML.N")
        ),
        Item(MLRULES, "Table 1", "mean error of LRI", "lri-mlrules", _error("LRI", 0.015)),
        *(
            Item(
                MLRULES, "Table 1", f"mean error of {name}", "rulefit-two-class", _error(name, 0.01)
            )
            for name in ("RuleFit", "SLIPPER")
        ),
        Item(
            MLRULES,
            "Figure 2",
            "average ranks",
            "mlrules-table1",
            Targets("N: average rank on", "2.05 on 20 sets, 1.84 on 35"),
            "critical difference 1.364",
        ),
    ]


def _slipper() -> list[Item]:
    return [
        Item(SLIPPER, "Figure 1", "AdaBoost with real predictions", None, None, CODE),
        Item(SLIPPER, "Figure 2", "SLIPPER", None, None, CODE),
        Item(
            SLIPPER,
            "Table 1",
            "mean error of SLIPPER in %",
            "slipper-table1",
            _percent("SLIPPER"),
            "19 of 32 sets are public",
        ),
        *(
            Item(
                SLIPPER,
                "Table 1",
                f"mean error of {name} in %",
                "base-slipper",
                _percent(name),
                "19 of 32 sets are public",
            )
            for name in ("RIPPER-opt", "RIPPER+opt", "C4rules")
        ),
        Item(SLIPPER, "Table 1", "C5rules and C4.5 trees", None, None, OTHER_SYSTEM),
        *(
            Item(
                SLIPPER,
                "Figure 3 and Table 2",
                f"SLIPPER against {name}: won-lost-tied",
                "slipper-table1",
                Balance("Wins against", name, "ours: win-loss-tie", "printed, same sets"),
                "against the printed errors",
            )
            for name in ("RIPPER-opt", "RIPPER+opt", "C4rules", "C5rules")
        ),
        Item(
            SLIPPER,
            "Figure 4",
            "seconds / (n log n), largest against smallest sample",
            "slipper-figure4",
            Targets("seconds / (n log n)", "n log n"),
            "surrogate: shuttle for two sets that are not public",
        ),
    ]


def _ensembles() -> list[Item]:
    said = {
        "Figure 1": ("error by tau of PATHBUILD", "no loss up to 0.4, then more"),
        "Figure 5": ("zero weights of FPC", "78 % at mu = 0.19"),
        "Figure 7": ("error of kept columns minus that of all", "below 0, 21 of 39 columns kept"),
    }
    found = [
        Item(
            ENSEMBLES,
            "Table 1",
            "sizes of the data sets",
            None,
            None,
            "nothing to measure: sizes are checked when data are read",
        ),
        *(
            Item(ENSEMBLES, number, what, "rulefit-figures", Targets(number, printed), SURROGATE)
            for number, (what, printed) in said.items()
        ),
        Item(
            ENSEMBLES,
            "Figures 2 to 4",
            "error by the setting of GLMNET, SPGL1 and FPC",
            "rulefit-figures",
            Targets("Figures 2 to 4", "similar errors"),
            SURROGATE,
        ),
        Item(
            ENSEMBLES,
            "Figure 6",
            "rules by number of votes",
            "rulefit-figures",
            Shown("a table"),
            SURROGATE,
        ),
        Item(
            ENSEMBLES,
            "Figure 8",
            "classes of vehicle where rules beat bagging",
            "rulefit-figures",
            Targets("Figure 8", "most of 4"),
        ),
        Item(
            ENSEMBLES,
            "Figure 9",
            "rule ensemble against tree ensembles",
            "rulefit-table1",
            Targets("of RuleFit minus that of", "mixed"),
            "the paper has charts only",
        ),
        Item(
            ENSEMBLES,
            "Figure 10",
            "error by solver",
            "rulefit-table1",
            Targets("Figure 10", "no solver is best everywhere"),
        ),
        Item(
            ENSEMBLES,
            "Figure 11 and Table 2",
            "largest weights by solver",
            "rulefit-figures",
            Shown("a table"),
            SURROGATE,
        ),
    ]
    return sorted(found, key=lambda item: (item.number.startswith("Figure"), _first(item.number)))


def _first(number: str) -> int:
    return int("".join(c if c.isdigit() else " " for c in number).split()[0])


def _domingos() -> list[Item]:
    title = "Wins, ties and losses"
    return [
        *(
            Item(
                DOMINGOS,
                "section 3",
                f"{row}: won-tied-lost",
                "bma-domingos",
                Balance(title, row, losses=2),
                "other splits and sets",
            )
            for row in (
                "RISE on parts of 100",
                "RISE on parts of 500",
                *(f"{who} bma{k}" for who in ("C4.5rules", "CN2") for k in (1, 2, 3)),
            )
        ),
        Item(
            DOMINGOS,
            "section 4",
            "agreement of the average with the likeliest rule",
            "bma-fx",
            Targets("mark, pound and franc", "the average does what the best rule does"),
            "surrogate: noon rates for prices of futures",
        ),
        Item(
            DOMINGOS,
            "section 4",
            "independently computed figures",
            "bma-fx",
            Targets("expected figures", "differences of 0"),
        ),
        *(
            Item(
                DOMINGOS,
                "section 5",
                f"{what}, {a} features",
                "bma-domingos",
                Mean("Conjunctions on noise", what, a, share=0.3, digits=3),
            )
            for a in ("7", "13")
            for what in ("rest / largest", "agreement with the best")
        ),
    ]


ITEMS = (
    *_mlrules(),
    *_slipper(),
    *thesis.chapter4(),
    *thesis.chapter5(),
    *thesis.chapter6(),
    *_ensembles(),
    *_domingos(),
)
"""All rows, by paper and number."""
