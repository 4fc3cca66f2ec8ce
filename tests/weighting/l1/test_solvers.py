"""Invariants of the solvers that solve Q(lam)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, enet_path, lasso_path

from budget import examples
from builders import SEEDS
from l1_problems import draw, pack, problem_of
from rulewright.weighting import (
    FPC,
    SPGL1,
    CoordinateDescent,
    Huber,
    L1Problem,
    Logistic,
    PathBuild,
    Ramp,
    Squared,
)
from rulewright.weighting.l1.coordinate import CrossProducts, Newton

pytestmark = pytest.mark.native

EXACT = {
    "covariance": CoordinateDescent(tolerance=1e-13, mode="covariance"),
    "naive": CoordinateDescent(tolerance=1e-13, mode="naive"),
    "fpc": FPC(),
    "spgl1": SPGL1(tolerance=1e-10),
}
SHARES = np.array([0.9, 0.5, 0.2, 0.05, 0.01])
LOSSES = {"squared": Squared(), "logistic": Logistic(), "huber": Huber(1.0)}


def grid_of(problem, shares=SHARES):
    return problem.largest_penalty * shares


def assert_optimal(problem, solution, x, dense, y):
    """Check the conditions of optimality of squared error by their formulas."""
    columns, n = np.hstack([x, dense]), len(y)
    w = problem.design.weights
    r = y - solution.intercept - columns @ solution.coef
    slopes = (w * r) @ (columns - w @ columns / n) * problem.design.scales / n
    signs, lam = np.sign(solution.coef), solution.penalty
    active = signs != 0
    assert np.abs(slopes - lam * signs)[active].max(initial=0) <= 1e-6 * problem.largest_penalty
    assert np.all(np.abs(slopes[~active]) <= lam * (1 + 1e-6))
    assert abs(w @ r) / n <= 1e-9


@pytest.mark.parametrize("solver", [CoordinateDescent(), FPC(), SPGL1()], ids=repr)
def test_default_tolerances_meet_the_conditions_of_optimality(solver):
    """T1 holds along the whole path without any setting, also with more columns than rows."""
    for options in ({}, {"n_dense": 4}, {"n_rows": 150, "n_rules": 300}):
        problem = problem_of(1, **options)
        violations = [solution.kkt for solution in solver.path(problem).solutions]
        assert max(violations) <= 1e-6 * problem.largest_penalty


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("n_dense", [0, 2])
@pytest.mark.parametrize("rule_scale", ["none", "support"])
def test_solutions_meet_the_conditions_of_optimality(name, n_dense, rule_scale):
    """T1: gradients equal the penalty on the support and stay below it elsewhere."""
    for seed in range(3):
        x, dense, y, rng = draw(seed, n_dense=n_dense)
        weights = rng.choice([0.5, 1.0, 3.0], len(y))
        problem = L1Problem.of(
            pack(x), y, dense=dense, sample_weight=weights, rule_scale=rule_scale
        )
        for solution in EXACT[name].path(problem, grid_of(problem)).solutions:
            assert_optimal(problem, solution, x, dense, y)
            assert solution.kkt <= 1e-6 * problem.largest_penalty


@pytest.mark.parametrize("name", EXACT)
def test_solvers_agree_at_matched_penalties(name):
    """T2: objectives are equal to 1e-8 and scores to 1e-5; the L1 norm grows along the path."""
    for seed in range(4):
        problem = problem_of(seed, n_rows=[120, 30, 300, 64][seed], n_dense=seed % 2)
        paths = [solver.path(problem, grid_of(problem)) for solver in (EXACT["naive"], EXACT[name])]
        for expected, found in zip(*(path.solutions for path in paths), strict=True):
            assert found.objective == pytest.approx(expected.objective, rel=1e-8)
            scores = [problem.design.scores(s.coef, s.intercept) for s in (expected, found)]
            np.testing.assert_allclose(*scores, atol=1e-5)
        norms = np.abs(paths[1].coefs).sum(axis=1)
        assert np.all(np.diff(norms) >= -1e-8)


@pytest.mark.parametrize("name", EXACT)
def test_the_largest_penalty_is_where_the_first_column_comes_in(name):
    """T3: zeros are exact from the largest penalty on; just below it one column is active."""
    problem = problem_of(3, n_dense=1)
    largest = problem.largest_penalty
    path = EXACT[name].path(problem, [2 * largest, largest, 0.9999 * largest])
    assert [int((solution.coef != 0).sum()) for solution in path.solutions] == [0, 0, 1]


@examples(25)
@given(SEEDS, st.sampled_from([20, 60, 150]), st.sampled_from(sorted(LOSSES)), st.booleans())
def test_gaps_are_certificates(seed, n_rows, loss, is_net):
    """T4: the duality gap of any point is at least 0, and is below the tolerance at a solution."""
    problem = problem_of(seed, n_rows, datafit=LOSSES[loss], l1_ratio=0.6 if is_net else 1.0)
    loose, exact = CoordinateDescent(tolerance=1e-2), CoordinateDescent(tolerance=1e-9)
    grid = grid_of(problem, np.array([0.6, 0.2, 0.05]))
    for rough, fine in zip(
        loose.path(problem, grid).solutions, exact.path(problem, grid).solutions, strict=True
    ):
        scale = problem.null_loss
        assert -1e-12 * scale <= fine.gap <= 1e-9 * scale
        assert -1e-12 * scale <= rough.gap <= 1e-2 * scale
        assert rough.objective - rough.gap <= fine.objective + 1e-12 * scale
        assert fine.objective <= rough.objective + 1e-9 * scale
        assert fine.kkt <= 1e-3 * problem.largest_penalty


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("mode", ["naive", "covariance"])
def test_weight_two_is_a_row_twice(loss, mode):
    """T12: whole weights equal repeated rows, and weight 0 a row less."""
    x, dense, y, rng = draw(1, n_dense=1)
    if loss == "logistic":
        y = np.where(y > np.median(y), 1.0, -1.0)
    times = rng.choice([0, 1, 2, 3], len(y))
    rows = np.repeat(np.arange(len(y)), times)
    solver = CoordinateDescent(tolerance=1e-12, mode=mode)
    weighted = L1Problem.of(pack(x), y, dense=dense, sample_weight=times, datafit=LOSSES[loss])
    repeated = L1Problem.of(pack(x[rows]), y[rows], dense=dense[rows], datafit=LOSSES[loss])
    assert weighted.largest_penalty == pytest.approx(repeated.largest_penalty, rel=1e-9)
    a, b = (
        solver.solve(problem, 0.1 * weighted.largest_penalty) for problem in (weighted, repeated)
    )
    assert a.objective == pytest.approx(b.objective, rel=1e-9)
    np.testing.assert_allclose(a.coef, b.coef, atol=1e-5)
    assert a.intercept == pytest.approx(b.intercept, abs=1e-5)


@pytest.mark.parametrize("solver", [*EXACT.values(), PathBuild()])
def test_the_intercept_is_not_penalised(solver):
    """A constant added to the target goes to the intercept alone."""
    x, _, y, _ = draw(2)
    problem, shifted = (L1Problem.of(pack(x), target) for target in (y, y + 100.0))
    penalty = 0.2 * problem.largest_penalty
    a, b = (solver.solve(p, penalty) for p in (problem, shifted))
    np.testing.assert_allclose(a.coef, b.coef, atol=1e-6)
    assert b.intercept == pytest.approx(a.intercept + 100.0, abs=1e-5)


def test_paths_equal_those_of_scikit_learn():
    """`lasso_path` and `enet_path` of the centred dense matrix have the same coefficients."""
    x, dense, y, _ = draw(5, n_dense=2)
    columns = np.hstack([x, dense])
    problem = L1Problem.of(pack(x), y, dense=dense)
    grid = grid_of(problem)
    path = EXACT["naive"].path(problem, grid)
    centred = columns - columns.mean(axis=0), y - y.mean()
    _, expected, _ = lasso_path(*centred, alphas=grid, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(path.coefs, expected.T, atol=1e-6)
    np.testing.assert_allclose(path.intercepts, y.mean() - columns.mean(axis=0) @ expected)
    net = L1Problem.of(pack(x), y, dense=dense, l1_ratio=0.5)
    path = EXACT["covariance"].path(net, grid)
    _, expected, _ = enet_path(*centred, l1_ratio=0.5, alphas=grid, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(path.coefs, expected.T, atol=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.03])
def test_logistic_fits_equal_those_of_scikit_learn(share):
    """`LogisticRegression` with saga reaches no lower objective, and the same coefficients."""
    x, dense, y, _ = draw(4, n_dense=1)
    y = np.where(y > np.median(y), 1.0, -1.0)
    dense = dense - dense.mean()
    problem = L1Problem.of(pack(x), y, dense=dense, datafit=Logistic())
    penalty = share * problem.largest_penalty
    solution = CoordinateDescent(tolerance=1e-12).solve(problem, penalty)
    saga = LogisticRegression(
        l1_ratio=1, C=1 / (penalty * len(y)), solver="saga", tol=1e-10, max_iter=100_000
    ).fit(np.hstack([x, dense]), y)
    np.testing.assert_allclose(solution.coef, saga.coef_[0], atol=1e-4)
    assert solution.intercept == pytest.approx(saga.intercept_[0], abs=1e-4)


def test_cross_products_are_kept_while_the_curvature_is_alike(monkeypatch):
    """A logistic path counts pairs of columns for few of its quadratics, with the same optima."""
    made, steps = [], []
    begin, step = CrossProducts.__init__, Newton._step
    monkeypatch.setattr(CrossProducts, "__init__", lambda *a: made.append(1) or begin(*a))
    monkeypatch.setattr(Newton, "_step", lambda *a: steps.append(1) or step(*a))
    problem = problem_of(4, n_rows=300, datafit=Logistic())
    path = CoordinateDescent(tolerance=1e-6).path(problem)
    assert 3 * len(made) < len(steps)
    assert max(solution.gap for solution in path.solutions) <= 1e-6 * problem.null_loss


def test_a_gap_that_rounding_forbids_takes_bounded_work(monkeypatch):
    """Rules that tell classes apart, and a tolerance below rounding: few quadratics are solved."""
    steps, step = [], Newton._step
    monkeypatch.setattr(Newton, "_step", lambda *a: steps.append(1) or step(*a))
    x, dense, y, _ = draw(2, n_rows=150, n_rules=60, n_dense=3)
    y = np.where(x[:, 0] & ~x[:, 1], 1.0, -1.0)
    problem = L1Problem.of(pack(x), y, dense=dense, datafit=Logistic())
    grid = problem.grid(30, n_rows=1e6)
    path = CoordinateDescent(tolerance=1e-30).path(problem, grid)
    assert path[-1].loss < 1e-3 * problem.null_loss
    assert path[-1].gap <= 1e-9 * problem.null_loss
    assert len(steps) < 50 * len(grid)


def test_huber_fits_ignore_outliers():
    """A target far off moves the coefficients of Huber's loss little, those of squares much."""
    x, _, y, _ = draw(6, n_rows=300)
    far = np.where(np.arange(len(y)) == 7, 1e4, y)
    moved = {}
    for datafit in (Squared(), Huber(1.0)):
        problems = [L1Problem.of(pack(x), target, datafit=datafit) for target in (y, far)]
        penalty = 0.05 * problems[0].largest_penalty
        a, b = (CoordinateDescent().solve(problem, penalty) for problem in problems)
        moved[datafit.name] = np.abs(a.coef - b.coef).max()
    assert moved["huber"] < 0.2 < 1 < moved["squared"]


def test_duplicates_share_a_coefficient():
    """A rule given twice is worth what it is worth once, with the same objective and scores."""
    x, _, y, _ = draw(7)
    once, twice = L1Problem.of(pack(x), y), L1Problem.of(pack(np.hstack([x, x])), y)
    for solver in EXACT.values():
        a, b = (solver.solve(problem, 0.1 * once.largest_penalty) for problem in (once, twice))
        assert b.objective == pytest.approx(a.objective, rel=1e-8)
        half = len(a.coef)
        np.testing.assert_allclose(b.coef[:half] + b.coef[half:], a.coef, atol=1e-4)


@pytest.mark.parametrize("name", EXACT)
def test_more_columns_than_rows(name):
    """With p > N the grid ends at a hundredth, and every point is optimal."""
    problem = problem_of(8, n_rows=25, n_rules=120)
    assert problem.grid()[-1] == pytest.approx(0.01 * problem.largest_penalty)
    path = EXACT[name].path(problem, problem.grid(6))
    assert max(solution.kkt for solution in path.solutions) <= 1e-6 * problem.largest_penalty


@pytest.mark.parametrize("datafit", LOSSES.values(), ids=LOSSES)
def test_without_anything_to_explain_a_path_has_one_point(datafit):
    """Constant targets, constant columns and no columns give one point of zeros."""
    x, _, y, _ = draw(9)
    signs = np.where(y > np.median(y), 1.0, -1.0)
    cases = [(x, np.ones(len(y))), (np.ones((len(y), 2)), signs), (np.empty((len(y), 0)), signs)]
    for columns, target in cases:
        problem = L1Problem.of(pack(columns), target, datafit=datafit)
        path = CoordinateDescent().path(problem)
        assert len(path) == 1
        assert not path[0].coef.any()
        assert np.isfinite(path[0].intercept)


def test_default_paths_end_where_nothing_is_gained():
    """A path without noise ends when almost all is explained; a given grid is solved to its end."""
    x, _, _, _ = draw(10, n_rows=200)
    y = x[:, :3] @ np.array([1.0, 2.0, -1.0])
    problem = L1Problem.of(pack(x), y)
    path = CoordinateDescent().path(problem)
    assert len(path) < 100
    assert 1 - path[-1].loss / problem.null_loss > 0.999
    assert len(CoordinateDescent().path(problem, problem.grid())) == 100


def test_folds_are_problems_of_their_rows():
    """A problem of some rows equals one made of them."""
    x, dense, y, _ = draw(11, n_dense=1)
    rows = np.arange(len(y)) % 3 != 0
    part = L1Problem.of(pack(x), y, dense=dense).take(rows)
    made = L1Problem.of(pack(x[rows]), y[rows], dense=dense[rows])
    penalty = 0.1 * made.largest_penalty
    a, b = (EXACT["naive"].solve(problem, penalty) for problem in (part, made))
    np.testing.assert_allclose(a.coef, b.coef, atol=1e-7)
    assert a.intercept == pytest.approx(b.intercept, abs=1e-6)


def test_solvers_say_what_they_cannot_solve():
    """Losses, ridge penalties and grids that a solver is not made for are errors."""
    problem = problem_of(0)
    with pytest.raises(ValueError, match="supports the loss squared, not logistic"):
        FPC().path(problem_of(0, datafit=Logistic()))
    with pytest.raises(ValueError, match="not ramp"):
        CoordinateDescent().path(problem_of(0, datafit=Ramp()))
    for solver in (FPC(), SPGL1(tolerance=1e-10)):
        with pytest.raises(ValueError, match="l1_ratio=1"):
            solver.path(problem_of(0, l1_ratio=0.5))
    for bad in ([-1.0], [np.nan], [0.0]):
        with pytest.raises(ValueError, match="above 0"):
            CoordinateDescent().path(problem, bad)
    with pytest.raises(ValueError, match="must decrease"):
        CoordinateDescent().path(problem, [0.1, 0.2])
    with pytest.raises(ValueError, match="row 0 has"):
        L1Problem.of(pack([[1], [0]]), [0.0, 1.0], datafit=Logistic())
