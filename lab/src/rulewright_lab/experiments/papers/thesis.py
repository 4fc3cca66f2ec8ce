"""The tables and figures of Rückert's thesis."""

from rulewright_lab.experiments.papers.pages import (
    DRAWING,
    OTHER_SYSTEM,
    Balance,
    Item,
    Mean,
    Shown,
    Targets,
    Whole,
)

THESIS = "A statistical approach to rule learning (Rückert, 2008)"
ACCURACY = "Accuracy in %"
BASE = ("CN2", "RIPPER+opt", "C5.0", "RIPPER-opt", "CN2-WRAcc", "PART", "FOIL")
"""Learners of Tables 4.1 to 4.4; the stump has no rules."""
STAND_IN = {"C5.0": "C4.5rules stands in for C5.0"}
NOTES = "[notes](README.md#{})"
"""Where differences from the print are explained by experiments."""
CLASSICS, RUMBLE, MOLECULES = (
    NOTES.format(part) for part in ("the-classics", "rumble", "molecules-and-pairs-of-drugs")
)


def chapter4() -> list[Item]:
    """List the tables on SL2 and ensembles of rule sets."""
    found = [
        Item(
            THESIS,
            "Figure 4.1",
            "random 3-term DNF problems: where costs are largest",
            "thesis-figure4.1",
            Targets("hardest problems", "at half of the problems solvable"),
        ),
    ]
    found += [
        Item(
            THESIS,
            "Table 4.1",
            f"{name} against SL2: win-loss-draw",
            "thesis-table4.1",
            Balance("Table 4.1", name, "ours: win-loss-draw"),
            STAND_IN.get(name, ""),
        )
        for name in (*BASE, "stump")
    ]
    found.append(Item(THESIS, "Table 4.2", "accuracy of SL2", "sl2-tables", Mean(ACCURACY, "SL2")))
    found += [
        Item(
            THESIS,
            "Table 4.2",
            f"accuracy of {name}",
            "base-thesis-4.2",
            Mean(ACCURACY, name),
            STAND_IN.get(name, ""),
        )
        for name in (*BASE, "stump")
    ]
    for number, title in (("Table 4.3", "Rules"), ("Table 4.4", "Literals")):
        what = title.lower()
        found.append(
            Item(THESIS, number, f"{what} of SL2", "sl2-tables", Mean(title, "SL2", share=0.3))
        )
        found += [
            Item(
                THESIS,
                number,
                f"{what} of {name}",
                "base-thesis-4.2",
                Mean(title, name, share=0.3),
                STAND_IN.get(name, CLASSICS if name in ("CN2", "CN2-WRAcc", "FOIL") else ""),
            )
            for name in BASE
        ]
    found += [
        Item(THESIS, "Table 4.5", f"accuracy of {name}", source, Mean(ACCURACY, name))
        for name, source in (
            ("SVM", "thesis-table4.6"),
            ("PART", "part-jrip-thesis-4.5"),
            ("JRIP", "part-jrip-thesis-4.5"),
            ("bagged PART", "part-jrip-thesis-4.5"),
            ("bagged JRIP", "part-jrip-thesis-4.5"),
            ("rule ensemble", "rulesets-table45"),
        )
    ]
    return [
        *found,
        Item(
            THESIS,
            "Table 4.6",
            "pairs of learners with the other winner",
            "thesis-table4.6",
            Targets("other winner", "0 of 15"),
        ),
        Item(
            THESIS,
            "Table 4.7",
            "mean error of the ensemble in %",
            "rulesets-bounds",
            Mean("Error of the vote", "rule ensemble", lower_is_better=True),
        ),
        Item(
            THESIS,
            "Table 4.7",
            "bounds",
            "rulesets-bounds",
            Shown("bounds of valid priors"),
            "the printed bounds need a prior that depends on the sample",
        ),
        Item(THESIS, "Table 4.7", "set covering machines", None, None, OTHER_SYSTEM),
        Item(
            THESIS, "Figure 4.2", "bound minus error by theta", "rulesets-bounds", Shown("a chart")
        ),
    ]


def chapter5() -> list[Item]:
    """List the tables on RUMBLE."""
    found = [
        Item(THESIS, f"Figure {number}", what, None, None, DRAWING)
        for number, what in (
            ("5.1", "margins"),
            ("5.2", "hyperplanes"),
            ("5.3", "mean and variance of margins"),
        )
    ]
    found += [
        Item(THESIS, "Table 5.1", f"accuracy of {name}", "rumble-tables", Mean(ACCURACY, name))
        for name in ("MMV", "1-norm SVM", "emp. margin")
    ]
    found.append(
        Item(
            THESIS,
            "Table 5.2",
            "rules of MMV",
            "rumble-tables",
            Mean("Rules of MMV", "MMV", share=0.3),
        )
    )
    found += [
        Item(
            THESIS,
            "section 5.5",
            f"{data} with its own bias",
            "rumble-tables",
            Targets(f"{data}, MMV", printed),
            RUMBLE,
        )
        for data, printed in (("mushroom", "98.5"), ("labor", "91.2"))
    ]
    return found + [
        Item(
            THESIS,
            "section 5.5",
            f"mutagenesis, {order}: points gained",
            "rumble-mutagenesis",
            Targets(order, gain),
            "surrogate: 188 molecules for 684, which are not public",
        )
        for order, gain in (("halogens and oxygen first", "2.5"), ("by size with pairs", "4.7"))
    ]


def chapter6() -> list[Item]:
    """List the tables on related tables and molecules."""
    drawings = {
        "Figure 6.1": "a bias file",
        "Figures 6.2 and 6.3": "the framework",
        "Table 6.1": "sources of information",
        "Figure 6.4": "a reduction of 3SAT",
        "Figures 6.5 and 6.6": "a graph database and its trie",
    }
    found = [Item(THESIS, number, what, None, None, DRAWING) for number, what in drawings.items()]
    found += [
        Item(
            THESIS,
            "Table 6.2",
            f"accuracy on {name}",
            "rumble-table6.2",
            Mean("Accuracy in percent", column, name, printed="RUMBLE, printed"),
        )
        for name in ("mutagenesis", "amine", "toxic", "acetyl", "memory", "NCTRER")
        for column in ("p = 2",)
    ]
    found.append(
        Item(
            THESIS,
            "Table 6.2",
            "accuracy on NCTRER, p = 1.5",
            "rumble-table6.2",
            Targets("NCTRER, p = 1.5", "82.76"),
            MOLECULES,
        )
    )
    found += [
        Item(
            THESIS,
            "Table 6.3",
            f"accuracy on DSSTox, {column}",
            "dsstox-table6.3",
            Mean("Accuracy in percent", column, "DSSTox", printed="RUMBLE, printed"),
            "580 molecules for 576",
        )
        for column in ("by balance", "by size")
    ]
    for number in ("6.4", "6.5", "6.6", "6.7"):
        for part in ("accuracy", "training accuracy"):
            reading = Whole(f"Table {number}: {part} in")
            found.append(Item(THESIS, f"Table {number}", part, "dispersion-tables6.4-6.7", reading))
    return [
        *found,
        Item(
            THESIS,
            "Figures 6.7 and 6.8",
            "accuracy by number of queries",
            None,
            None,
            "not reproduced: queries to the database are not counted",
        ),
        Item(
            THESIS,
            "Table 6.8",
            "best accuracy of dispersion",
            "dispersion-tables6.4-6.7",
            Whole("Table 6.8"),
        ),
        Item(THESIS, "Table 6.8", "kFOIL, kernel of optimal assignment", None, None, OTHER_SYSTEM),
    ]
