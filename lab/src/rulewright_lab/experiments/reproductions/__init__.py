"""The papers' tables and figures that can be reproduced, by name."""

from rulewright_lab.experiments.reproductions import (
    classics,
    dispersion,
    domingos,
    ensemble_figures,
    mlrules,
    molecules,
    mutagenesis,
    rulefit,
    ruleset_bounds,
    rulesets,
    rumble,
    significance,
    sl2,
    slipper,
    trading,
)
from rulewright_lab.experiments.reproductions.plan import Extent, Reproduction

REPRODUCTIONS: dict[str, Reproduction] = {
    reproduction.name: reproduction
    for reproduction in (
        mlrules.TABLE1,
        mlrules.FIGURE1,
        slipper.TABLE1,
        slipper.FIGURE4,
        sl2.TABLES,
        rulesets.TABLE45,
        ruleset_bounds.BOUNDS,
        rulefit.TABLE1,
        rulefit.TWO_CLASS,
        ensemble_figures.FIGURES,
        rumble.TABLES,
        mutagenesis.BIASES,
        classics.BASE_THESIS42,
        classics.BASE_SLIPPER,
        classics.LRI_MLRULES,
        classics.PART_JRIP,
        significance.TABLE41,
        significance.TABLE46,
        domingos.DOMINGOS,
        trading.FX,
        dispersion.TABLES,
        molecules.TABLE62,
        molecules.TABLE63,
    )
}

__all__ = ["REPRODUCTIONS", "Extent", "Reproduction"]
