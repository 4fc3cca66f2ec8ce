import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS
from rulewright.search import BooleanExamples, dnf_covers, search_dnf, simplify_dnf

TRUE, FALSE = ((),), ()


def packed(X):
    """Pack the columns of a Boolean matrix, rows in their order."""
    padded = np.zeros((X.shape[1], -(-len(X) // 64) * 64), dtype=np.bool_)
    padded[:, : len(X)] = X.T
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def noisy(seed, n_rows=80, n_variables=6, noise=0.1):
    """Draw rows of which two terms tell the class, but for noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_variables)) < 0.5
    y = (X[:, 0] & X[:, 1]) | (X[:, 2] & ~X[:, 3])
    y ^= rng.random(n_rows) < noise
    y[:2] = True, False
    return X, y


def covers(X, formula):
    """Apply a formula row by row."""
    return np.array([any(all(row[v] == s for v, s in t) for t in formula) for row in X], np.bool_)


def all_terms(n_variables):
    """Give every term over the variables."""
    for signs in itertools.product([None, False, True], repeat=n_variables):
        yield tuple((v, sign) for v, sign in enumerate(signs) if sign is not None)


def fewest_errors(X, y, k):
    """Return the lowest number of errors of any formula of at most k terms."""
    distinct = {covers(X, (term,)).tobytes() for term in all_terms(X.shape[1])}
    found = np.array([np.frombuffer(cover, np.bool_) for cover in sorted(distinct)])
    formulas = itertools.combinations_with_replacement(range(len(found)), k)
    best = min(int((found[list(chosen)].any(axis=0) != y).sum()) for chosen in formulas)
    return min(best, int(y.sum()))


@examples(25)
@given(SEEDS, st.integers(1, 2))
def test_tiny_problems_are_solved_to_the_optimum(seed, k):
    """The search finds what trying all formulas finds, flipped and permuted too."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((20, 3)) < 0.5, rng.random(20) < 0.5
    best = fewest_errors(X, y, k)
    flips, order, rows = rng.random(3) < 0.5, rng.permutation(3), rng.permutation(20)
    for Z, labels in [(X, y), ((X ^ flips)[:, order][rows], y[rows])]:
        assert search_dnf(Z, labels, k, max_steps=3000, random_state=seed).errors == best


@given(
    SEEDS,
    st.integers(1, 4),
    st.sampled_from([None, 0, 1, 4]),
    st.sampled_from([None, "balanced", {0: 2, 1: 1}, {1: 0.3}]),
    st.booleans(),
)
def test_the_result_is_what_the_formula_does(seed, k, max_literals, class_weight, weighed):
    """All figures of the result follow from the formula, which keeps its limits."""
    X, y = noisy(seed)
    weights = np.random.default_rng(seed).random(80) if weighed else np.ones(80)
    result = search_dnf(
        X,
        y,
        k,
        max_steps=200,
        max_literals=max_literals,
        class_weight=class_weight,
        sample_weight=weights if weighed else None,
        random_state=seed,
        check=True,
    )
    covered = covers(X, result.formula)
    assert result.false_negatives == pytest.approx(weights[y & ~covered].sum())
    assert result.false_positives == pytest.approx(weights[~y & covered].sum())
    assert result.errors == pytest.approx(result.false_negatives + result.false_positives)
    assert len(result.formula) <= k
    assert result.n_literals == sum(map(len, result.formula))
    assert max_literals is None or result.n_literals <= max_literals
    for term, (positives, negatives) in zip(result.formula, result.term_counts, strict=True):
        cover = covers(X, (term,))
        assert positives == pytest.approx(weights[cover & y].sum())
        assert negatives == pytest.approx(weights[cover & ~y].sum())
    costs = [cost for _, cost, _ in result.trace]
    assert costs == sorted(costs, reverse=True)
    if class_weight is None:
        assert result.cost == pytest.approx(result.errors)


@given(SEEDS)
def test_no_threads_and_no_packing_change_the_result(seed):
    """The same seed gives the same result on two threads, for packed columns and for numbers."""
    X, y = noisy(seed, n_rows=70)
    options = {"k": 2, "max_steps": 100, "n_restarts": 4, "random_state": seed}
    result = search_dnf(X, y, **options)
    assert search_dnf(X, y, **options, n_jobs=2) == result
    assert search_dnf(packed(X), y.astype(int), **options) == result
    assert search_dnf(X.astype(float), y, **options) == result
    assert search_dnf(BooleanExamples.of(X, y), None, **options) == result


@given(SEEDS)
def test_weights_are_repetitions(seed):
    """Whole weights are rows repeated; no weight is no row; equal class weights are none."""
    X, y = noisy(seed, n_rows=40)
    weights = np.random.default_rng(seed).integers(0, 4, 40)
    weights[:2] = 1
    options = {"k": 2, "max_steps": 200, "random_state": seed}
    weighed = search_dnf(X, y, **options, sample_weight=weights)
    repeated = search_dnf(np.repeat(X, weights, axis=0), np.repeat(y, weights), **options)
    assert weighed == repeated
    plain = search_dnf(X, y, **options)
    assert search_dnf(X, y, **options, class_weight={0: 1, 1: 1}) == plain
    assert search_dnf(X, y, **options, sample_weight=np.full(40, 3)).formula == plain.formula
    doubled = search_dnf(X, y, **options, class_weight={1: 2})
    times = np.where(y, 2, 1)
    twice = search_dnf(np.repeat(X, times, axis=0), np.repeat(y, times), **options)
    assert doubled.formula == twice.formula
    assert doubled.cost == twice.errors


@given(SEEDS)
def test_no_search_beats_the_lower_bound(seed):
    """Equal rows of both classes cost the lighter side, and a search may stop there."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((60, 3)) < 0.5, rng.random(60) < 0.4
    examples = BooleanExamples.of(X, y)
    lower = 0
    for row in np.unique(X, axis=0):
        labels = y[(row == X).all(axis=1)]
        lower += min(labels.sum(), (~labels).sum())
    assert examples.lower_bound == lower
    result = search_dnf(examples, None, 4, max_steps=5000, random_state=seed)
    assert result.errors >= lower
    assert (result.stop_reason in ("lower_bound", "optimal")) == (result.errors == lower)


def test_planted_formulas_are_found():
    """Rows that a formula explains without error are explained, and the search says so."""
    for seed in range(5):
        X, y = noisy(seed, n_rows=120, n_variables=30, noise=0)
        y = (X[:, 0] & X[:, 1]) | (X[:, 2] & ~X[:, 3])
        result = search_dnf(X, y, 2, random_state=seed)
        assert (result.errors, result.stop_reason) == (0, "optimal")
        np.testing.assert_array_equal(dnf_covers(X, result.formula), y)
        np.testing.assert_array_equal(dnf_covers(packed(X), result.formula, 120), y)


ROWS = np.array([[0, 1], [1, 1], [1, 0]], dtype=np.bool_)
EDGES = {
    "only positives": (ROWS, [1, 1, 1], {}, TRUE),
    "only negatives": (ROWS, [0, 0, 0], {}, FALSE),
    "constant columns, more positives": (np.ones((3, 2)), [1, 1, 0], {}, TRUE),
    "constant columns, more negatives": (np.ones((3, 2)), [1, 0, 0], {}, FALSE),
    "no columns": (np.ones((3, 0)), [1, 1, 0], {}, TRUE),
    "no literals": (ROWS, [1, 0, 1], {"max_literals": 0}, TRUE),
    "one row": (ROWS[:1], [1], {}, TRUE),
    "positives without weight": (ROWS, [1, 0, 0], {"sample_weight": [0, 1, 1]}, FALSE),
    "positives of a class without weight": (ROWS, [1, 0, 0], {"class_weight": {1: 0}}, FALSE),
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.filterwarnings("error")
def test_edges_have_a_plain_answer(edge):
    """Where only TRUE or FALSE is possible, the better one is returned."""
    X, y, options, formula = EDGES[edge]
    assert search_dnf(X, y, 2, random_state=0, **options).formula == formula


def test_more_terms_than_positives_leave_no_duplicates():
    """Terms that another term contains are dropped."""
    X, y = noisy(0, n_rows=10, n_variables=4, noise=0)
    result = search_dnf(X, y, 30, random_state=0)
    for a, b in itertools.permutations(result.formula, 2):
        assert not set(a) <= set(b)


FAULTS = {
    "k=0": {"k": 0},
    "k=1.5": {"k": 1.5},
    "p_g1": {"p_g1": 1.1},
    "p_g2": {"p_g2": -0.1},
    "p_s": {"p_s": float("nan")},
    "max_steps": {"max_steps": -1},
    "max_literals": {"max_literals": -1},
    "n_restarts": {"n_restarts": 0},
    "init": {"init": "zeros"},
    "n_jobs": {"n_jobs": 0},
    "time_limit": {"time_limit": -1.0},
    r"X\[1, 0\]": {"X": np.array([[0.0], [np.nan], [1.0]])},
    r"X\[0, 0\]": {"X": np.full((3, 1), 2)},
    "dimensions": {"X": np.zeros(3)},
    "rows": {"X": np.zeros((4, 2))},
    "words": {"X": np.zeros((2, 2), np.uint64)},
    r"y\[2\]": {"y": [0, 1, 2]},
    r"sample_weight\[1\]": {"sample_weight": [1, -1, 1]},
    "shape": {"sample_weight": [1, 1]},
    "weight above 0": {"sample_weight": [0, 0, 0]},
    "class_weight": {"class_weight": {2: 1}},
    "'balanced'": {"class_weight": "even"},
    "finite": {"class_weight": {1: -1}},
    "labels": {"y": None},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_arguments_are_named(fault):
    """An error says which argument cannot be used."""
    arguments = {"X": ROWS, "y": [1, 0, 0], "k": 1, "random_state": 0}
    with pytest.raises(ValueError, match=fault):
        search_dnf(**{**arguments, **FAULTS[fault]})


def hopeless():
    """Give examples without any pattern, on which a search uses its whole budget."""
    rng = np.random.default_rng(0)
    return rng.random((400, 30)) < 0.5, rng.random(400) < 0.5


def test_a_time_limit_ends_the_search_with_the_best_so_far():
    """A search without end returns soon, says why, and has a formula."""
    X, y = hopeless()
    result = search_dnf(X, y, 2, max_steps=10**12, time_limit=0.2, random_state=0)  # or days
    assert result.stop_reason == "time"
    assert 0 < result.errors < min(y.sum(), (~y).sum())
    assert result.steps > 0


def test_progress_is_told_and_may_cancel():
    """The callback hears of steps and the best cost; a true value ends the search."""
    X, y = hopeless()
    heard = []

    def listen(steps, cost):
        heard.append((steps, cost))
        return len(heard) == 2

    result = search_dnf(X, y, 2, max_steps=10**12, random_state=0, progress=listen)
    assert result.stop_reason == "cancelled"
    assert len(heard) == 2
    assert heard[0][0] < heard[1][0] <= result.steps
    assert heard[0][1] >= heard[1][1] >= result.cost


def test_an_interrupt_ends_the_search():
    """An error raised while the search runs comes through, as Ctrl-C does."""
    X, y = hopeless()

    def interrupt(steps, cost):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_dnf(X, y, 2, max_steps=10**12, random_state=0, progress=interrupt)


@given(SEEDS, st.integers(1, 5))
def test_simplifying_costs_nothing(seed, k):
    """A simplified formula has no more errors and nothing that could go."""
    X, y = noisy(seed)
    start = search_dnf(X, y, k, max_steps=5, random_state=seed).formula
    formula = simplify_dnf(X, y, start)
    errors = int((covers(X, formula) != y).sum())
    assert errors <= (covers(X, start) != y).sum()
    assert sum(map(len, formula)) <= sum(map(len, start))
    for t in range(len(formula)):
        fewer = formula[:t] + formula[t + 1 :]
        assert (covers(X, fewer) != y).sum() > errors


@pytest.mark.parametrize("most_weight", [1, 5])
def test_changes_are_counted_right_in_sets_of_many_and_of_few_words(most_weight):
    """Long and sparse sets of rows, whose words are counted in different ways, agree with recounts.

    Eight variables are true in one row of 300, so that terms with them leave few words.
    """
    rng = np.random.default_rng(most_weight)
    X, y = noisy(0, n_rows=3000, n_variables=40)
    X[:, 32:] = rng.random((3000, 8)) < 1 / 300
    y |= X[:, 32:].any(axis=1)
    weights = rng.integers(1, most_weight + 1, 3000)
    search_dnf(X, y, 6, max_steps=300, sample_weight=weights, random_state=0, check=True)
