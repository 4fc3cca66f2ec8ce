"""Choose columns by the votes of rules, on a surrogate of a study of supernovae.

Draws the error on new rows against the setting of each of the four solvers, for the same rules;
then prints what the votes keep, and the accuracy with all columns and with those kept.

Usage: python feature_voting.py [FOLDER OF THE CHARTS] [SEED]
"""

import sys
from pathlib import Path

import numpy as np

import rulewright as rw
from rulewright_lab.experiments.charts import curve_chart, save_chart
from rulewright_lab.experiments.generators import SUPERNOVA_RELEVANT, supernova_surrogate
from rulewright_lab.experiments.solver_paths import SOLVERS, GrownRules, error_rates, signs_of

N_RULES = 600
N_ROWS = 5000


def draw_errors(train, test, folder, seed):
    """Draw the error on new rows against each setting, and print it."""
    grown = GrownRules.grow(train, seed, N_RULES)
    covers, truth = grown.covered(test), signs_of(test)
    for setting, solver in SOLVERS.items():
        points = []
        for x, solution in grown.solve(setting):
            error = error_rates(solution, covers, truth)["error"]
            points.append({"x": x, "y": error})
            print(f"{setting:7} of {solver:27} {x:9.4g}   error {error:.4f}", end="   ")
            print(f"rules {np.count_nonzero(solution.coef)}")
        chart = curve_chart(
            points, title=solver, x_title=setting, y_title="error", log_x=setting != "tau"
        )
        save_chart(chart, folder / f"{setting}.svg")


def accuracy(train, test, columns, seed):
    """Give the accuracy on new rows of rules over some of the columns."""
    X, new = ({name: table[name].values for name in columns} for table in (train, test))
    est = rw.RuleFitRegressor(max_candidates=N_RULES, random_state=seed).fit(X, signs_of(train))
    return float(np.mean(np.sign(est.predict(new)) == signs_of(test)))


def main(folder, seed):
    """Draw the errors, let rules vote and compare."""
    folder.mkdir(parents=True, exist_ok=True)
    train, test = supernova_surrogate(N_ROWS, 2 * seed), supernova_surrogate(N_ROWS, 2 * seed + 1)
    draw_errors(train, test, folder, seed)

    selector = rw.RuleVoteSelector(max_candidates=N_RULES, random_state=seed, n_jobs=-1).fit(train)
    print("\nvotes  term")
    print(*selector.votes_[:10], sep="\n")
    kept = selector.get_feature_names_out().tolist()
    relevant = set(SUPERNOVA_RELEVANT)
    n_noise = len(train.names) - len(relevant)
    print(f"\nkept: {', '.join(kept)}")
    print(f"relevant columns kept: {len(relevant & set(kept))} of {len(relevant)}")
    print(f"noise columns dropped: {n_noise - len(set(kept) - relevant)} of {n_noise}")
    for title, columns in (("all", train.names), ("kept", kept)):
        print(f"accuracy with {title} columns: {accuracy(train, test, columns, seed):.4f}")


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("feature_voting")
    main(where, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
