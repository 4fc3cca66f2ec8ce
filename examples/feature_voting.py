"""Choose columns by the votes of rules, on a surrogate of a study of supernovae.

Draws the error on new rows against the setting of each of the four solvers, for the same rules;
then prints what the votes keep, and the accuracy with all columns and with those kept.

Usage: python feature_voting.py [FOLDER OF THE CHARTS] [SEED]
"""

import sys
from pathlib import Path

import numpy as np

import rulewright as rw
from rulewright.encoding.binned import bin_table
from rulewright.encoding.covers import PackedCovers
from rulewright.programs.covers import Coder
from rulewright.search import Generation, generate_rules
from rulewright.weighting import FPC, SPGL1, CoordinateDescent, L1Problem, PathBuild, SquaredLoss
from rulewright_lab.experiments.charts import curve_chart, save_chart
from rulewright_lab.experiments.generators import SUPERNOVA_RELEVANT, supernova_surrogate

N_RULES = 600
N_ROWS = 5000
PENALTIES = np.geomspace(0.5, 0.005, 13)  # shares of the penalty that leaves no rule
TAUS = np.linspace(0, 1, 6)


def signs(table):
    """Give the classes as -1 and 1."""
    return np.where(table.target.codes == 1, 1.0, -1.0)


def weighting_problem(train, seed):
    """Grow rules and give them with the problem of weighting them."""
    y, weights = signs(train), np.ones(train.n_rows)
    found = generate_rules(
        bin_table(train, 255),
        weights,
        SquaredLoss(y, weights),
        Generation(max_rules=N_RULES),
        np.random.RandomState(seed),
    )
    return found.rules, L1Problem.of(found.covers, y)


def solutions(problem):
    """Give, for each solver, its solutions with the value of its own setting."""
    n_rows, grid = problem.design.n_rows, problem.largest_penalty * PENALTIES
    exact = CoordinateDescent().path(problem, grid).solutions
    fpc = FPC(max_iter=20).path(problem, grid).solutions
    # The paper calls the bound of SPGL1 on the sum of the weights sigma.
    bounds = [float(abs(one.coef).sum()) for one in exact]
    spgl1 = [(bound, SPGL1(tolerance=1e-4).lasso(problem, bound)) for bound in bounds]
    builders = [(tau, PathBuild(tau=tau, max_steps=5000)) for tau in TAUS.tolist()]
    return {
        "tau of PathBuild": [(tau, build.solve(problem, grid[-1])) for tau, build in builders],
        "lambda of coordinate descent": [(one.penalty, one) for one in exact],
        "sigma of SPGL1": spgl1,
        "mu of FPC": [(1 / (n_rows * one.penalty), one) for one in fpc],
    }


def draw_errors(train, test, folder, seed):
    """Draw the error on new rows against each setting, and print it."""
    rules, problem = weighting_problem(train, seed)
    coder = Coder(rules, test.schema)
    bits = coder.compile(rules).bits(coder.codes(test, 1), 1)
    covers = PackedCovers(bits, test.n_rows).unpack()
    for name, path in solutions(problem).items():
        points = []
        for x, solution in path:
            wrong = np.sign(solution.intercept + solution.coef @ covers) != signs(test)
            points.append({"x": x, "y": wrong.mean()})
            print(f"{name:29} {x:9.4g}   error {wrong.mean():.4f}", end="   ")
            print(f"rules {np.count_nonzero(solution.coef)}")
        log = not name.startswith("tau")
        chart = curve_chart(points, title=name, x_title=name, y_title="error", log_x=log)
        save_chart(chart, folder / f"{name.split()[0]}.svg")


def accuracy(train, test, columns, seed):
    """Give the accuracy on new rows of rules over some of the columns."""
    X, new = ({name: table[name].values for name in columns} for table in (train, test))
    est = rw.RuleFitRegressor(max_candidates=N_RULES, random_state=seed).fit(X, signs(train))
    return float(np.mean(np.sign(est.predict(new)) == signs(test)))


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
