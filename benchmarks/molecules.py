"""AUC of readable rules over molecules against fingerprints with a random forest.

`RULEWRIGHT_DATA=FOLDER python benchmarks/molecules.py [--seeds N]`: out-of-fold AUC and accuracy of
ten folds, the mean over seeds of the folds. Ours are weighted rules (RuleFit) over the smallest 400
patterns in 3 % of the training molecules, descriptors and counts of functional groups; the rival
is a forest of 500 trees on Morgan fingerprints (radius 2, 2048 bits). Patterns, rules and weights
come from the training folds; settings are the same for all sets. `--ten-rules`: accuracy of at most
ten rules on mutagenesis (188 molecules), in its original folds.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from console import aligned
from rdkit import Chem, RDLogger
from rdkit.Chem import rdFingerprintGenerator
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from rulewright import RuleFitClassifier
from rulewright.relational import GraphRulesClassifier, SubgraphFeatures
from rulewright_lab.experiments.reproductions.dispersion import read_molecule_rows

SETS = ("nctrer", "yoshida", "bloodbarr", "dsstox-epafhm", "mutagenesis")
BONDS = {"2": Chem.BondType.DOUBLE, "3": Chem.BondType.TRIPLE, "7": Chem.BondType.AROMATIC}
SHORT = 0.01
RDLogger.DisableLog("rdApp.*")


def molecules(name: str) -> tuple[list[Any], np.ndarray]:
    """Read molecules and classes of a set."""
    if name != "mutagenesis":
        rows = read_molecule_rows(name)
        texts = [Chem.MolToSmiles(Chem.MolFromSmiles(row["smiles"])) for row in rows]
        return [Chem.MolFromSmiles(text) for text in texts], np.array([r["class"] for r in rows])
    rows = [row for row in read_molecule_rows(name) if row["subset"] == "188"]
    made = {row["id"]: (Chem.RWMol(), {}) for row in rows}
    for row in read_molecule_rows("mutagenesis_atoms"):
        if row["molecule"] in made:
            molecule, atoms = made[row["molecule"]]
            atoms[row["atom"]] = molecule.AddAtom(Chem.Atom(row["element"].capitalize()))
    for row in read_molecule_rows("mutagenesis_bonds"):
        if row["molecule"] in made:
            molecule, atoms = made[row["molecule"]]
            ends = atoms[row["atom1"]], atoms[row["atom2"]]
            if molecule.GetBondBetweenAtoms(*ends) is None:
                kind = BONDS.get(row["bond_type"], Chem.BondType.SINGLE)
                molecule.AddBond(*ends, kind)
    return [_cleaned(made[row["id"]][0]) for row in rows], np.array([r["class"] for r in rows])


def _cleaned(molecule: Any) -> Any:
    """Mark aromatic atoms and charge nitro groups; what RDKit refuses stays as it is."""
    for bond in molecule.GetBonds():
        if bond.GetBondType() == Chem.BondType.AROMATIC:
            for part in (bond, bond.GetBeginAtom(), bond.GetEndAtom()):
                part.SetIsAromatic(True)
    for atom in molecule.GetAtoms():
        double = [b for b in atom.GetBonds() if b.GetBondType() == Chem.BondType.DOUBLE]
        if atom.GetSymbol() == "N" and len(double) == 2:
            double[0].SetBondType(Chem.BondType.SINGLE)
            atom.SetFormalCharge(1)
            double[0].GetOtherAtom(atom).SetFormalCharge(-1)
    try:
        Chem.SanitizeMol(molecule)
        return Chem.RemoveHs(molecule)
    except ValueError:
        molecule.UpdatePropertyCache(strict=False)
        Chem.GetSymmSSSR(molecule)
        return molecule.GetMol()


def ours(seed: int, max_terms: int | None = None) -> GraphRulesClassifier:
    """Create the readable learner."""
    features = SubgraphFeatures(n_features=400, min_support=0.03, max_edges=6)
    learner = RuleFitClassifier(
        max_candidates=500, penalty="min", max_rules=max_terms, random_state=seed
    )
    return GraphRulesClassifier(features, estimator=learner, descriptors=True, calibration=None)


def measured(name: str, seed: int) -> tuple[float, float, float, float, float]:
    """Give AUC and accuracy of both, and the mean number of our rules."""
    found, y = molecules(name)
    bits = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    prints = np.array([bits.GetFingerprintAsNumPy(one) for one in found])
    answers, n_rules = np.zeros((2, len(y))), []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(y, y):
        rules = ours(seed).fit([found[i] for i in train], y[train])
        answers[0, test] = rules.predict_proba([found[i] for i in test])[:, 1]
        forest = RandomForestClassifier(500, random_state=seed).fit(prints[train], y[train])
        answers[1, test] = forest.predict_proba(prints[test])[:, 1]
        n_rules.append(len(rules.model_))
    truth = y == np.unique(y)[1]
    aucs = [float(roc_auc_score(truth, one)) for one in answers]
    right = [float(np.mean((one > 0.5) == truth)) for one in answers]
    return aucs[0], aucs[1], right[0], right[1], float(np.mean(n_rules))


def ten_rules() -> tuple[float, float, float]:
    """Return the accuracy of few rules on mutagenesis, and how many rules and terms there are."""
    found, y = molecules("mutagenesis")
    folds = np.array(
        [row["fold"] for row in read_molecule_rows("mutagenesis") if row["subset"] == "188"]
    )
    right, sizes = np.zeros(len(y), dtype=bool), []
    for fold in np.unique(folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        est = ours(0, max_terms=10).fit([found[i] for i in train], y[train])
        right[test] = est.predict([found[i] for i in test]) == y[test]
        sizes.append((len(est.model_), len(est.model_.rules.linear)))
    return (float(right.mean()), *(float(x) for x in np.mean(sizes, axis=0)))


def main() -> None:
    """Print the figures of all sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--ten-rules", action="store_true")
    given = parser.parse_args()
    if given.ten_rules:
        print("accuracy {:.4f}, {:.1f} rules and {:.1f} lines".format(*ten_rules()))
        return
    lines: list[list[object]] = []
    for name in given.sets.split(","):
        mean = np.mean([measured(name, seed) for seed in range(given.seeds)], axis=0)
        met = "yes" if mean[0] >= mean[1] - SHORT else "no"
        lines.append([name, *(round(float(x), 4) for x in mean[:4]), round(float(mean[4]), 1), met])
        print(*map(str, lines[-1]), flush=True)
    head = ["set", "AUC", "AUC, forest", "accuracy", "accuracy, forest", "rules", "within 0.01"]
    print(*aligned(head, lines), sep="\n")


if __name__ == "__main__":
    main()
