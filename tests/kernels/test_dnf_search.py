from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import SEEDS
from rulewright import kernels
from rulewright.kernels import DnfSettings

pytestmark = pytest.mark.native


def packed(X):
    """Pack the columns of a Boolean matrix."""
    padded = np.zeros((X.shape[1], -(-len(X) // 64) * 64), dtype=np.bool_)
    padded[:, : len(X)] = X.T
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


class Examples(NamedTuple):
    """Positives, negatives and their weights."""

    positives: np.ndarray
    negatives: np.ndarray
    weights: np.ndarray

    def search(self, settings, kernel=kernels.DnfSearch):
        bits = np.hstack([packed(self.positives), packed(self.negatives)])
        return kernel(bits, self.weights, len(self.positives), settings)

    def score(self, terms, settings):
        """Score a formula row by row."""
        units = [settings.positive_unit] * len(self.positives)
        units += [settings.negative_unit] * len(self.negatives)
        score = 0
        rows = np.vstack([self.positives, self.negatives])
        for i, (row, weight, unit) in enumerate(zip(rows, self.weights, units, strict=True)):
            covers = any(all(row[c // 2] != c % 2 for c in term) for term in terms)
            score += int(weight) * unit * (covers != (i < len(self.positives)))
        return score


def planted(rng, n_rows, n_variables, n_terms=2, noise=0.1, weights=1):
    """Draw rows labelled by a formula with three literals a term, and flip some labels."""
    X = rng.random((n_rows, n_variables)) < 0.5
    y = rng.random(n_rows) < noise
    for _ in range(n_terms):
        variables = rng.choice(n_variables, min(3, n_variables), replace=False)
        y ^= (X[:, variables] == rng.integers(0, 2, len(variables))).all(axis=1)
    y[:2] = True, False
    return Examples(X[y], X[~y], rng.integers(1, weights + 1, n_rows).astype(np.int32))


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(SEEDS))
    n_rows = draw(st.integers(2, 150))
    examples = planted(
        rng,
        n_rows,
        draw(st.sampled_from([1, 2, 3, 8, 70])),
        noise=draw(st.sampled_from([0, 0.2])),
        weights=draw(st.sampled_from([1, 6])),
    )
    settings = DnfSettings(
        n_terms=draw(st.integers(1, 4)),
        max_steps=draw(st.sampled_from([40, 10**6])),
        seed=draw(st.integers(0, 2**64 - 1)),
        max_literals=draw(st.sampled_from([-1, -1, 0, 5])),
        p_g1=draw(st.sampled_from([0.2, 1.0])),
        p_g2=draw(st.sampled_from([0.1, 0.0])),
        p_s=draw(st.sampled_from([0.1, 0.9])),
        seeded=draw(st.booleans()),
        focused=draw(st.booleans()),
        positive_unit=draw(st.sampled_from([1, 3])),
        negative_unit=draw(st.sampled_from([1, 10**9])),
        target=draw(st.sampled_from([0, 0, 4])),
        n_restarts=draw(st.integers(1, 2)),
    )
    return examples, settings


@given(cases())
def test_every_step_equals_the_twin(case):
    """Native and NumPy stand at the same formula, with as many random numbers, after each step."""
    examples, settings = case
    native = examples.search(replace(settings, check=True))
    twin = examples.search(settings, reference.DnfSearch)
    for _ in range(50):
        for restart in range(settings.n_restarts):
            assert native.state(restart) == twin.state(restart)
        assert native.best() == twin.best()
        assert native.advance(1) == twin.advance(1)
    assert native.n_steps == twin.n_steps


@given(cases())
def test_the_best_formula_has_the_score_it_claims(case):
    """The best formula keeps the limits, and its trace only gets better."""
    examples, settings = case
    search = examples.search(settings)
    search.advance(300)
    best = search.best()
    if best is None:
        assert settings.max_literals >= 0
        return
    assert best.score == examples.score(best.terms, settings)
    assert best.n_literals == sum(map(len, best.terms))
    assert len(best.terms) == settings.n_terms
    assert settings.max_literals < 0 or best.n_literals <= settings.max_literals
    keys = [key for _, *key in best.trace]
    assert keys == sorted(keys, reverse=True)
    assert keys[-1] == [best.score, best.n_literals]
    for term in best.terms:
        variables = [literal // 2 for literal in term]
        assert variables == sorted(set(variables))


@examples(20)
@given(SEEDS, st.integers(7, 9))
def test_slices_and_threads_change_nothing(seed, slice_size):
    """Many short calls on two threads find what one long call on one thread finds."""
    examples = planted(np.random.default_rng(seed), 90, 9)
    settings = DnfSettings(n_terms=2, max_steps=60, seed=seed, n_restarts=5)
    whole, sliced = examples.search(settings), examples.search(settings)
    whole.advance(1000)
    while sliced.advance(slice_size, n_threads=2):
        pass
    assert whole.best() == sliced.best()
    assert [whole.state(i) for i in range(5)] == [sliced.state(i) for i in range(5)]


@given(SEEDS, st.booleans(), st.sampled_from([(1, 1), (2, 5)]))
def test_a_weight_is_a_repetition(seed, seeded, units):
    """A row of weight w, in a class of unit u, is the same as the row w * u times."""
    examples = planted(np.random.default_rng(seed), 40, 8, weights=4)
    p, n = len(examples.positives), len(examples.negatives)
    times = examples.weights * np.repeat(units, [p, n])
    repeated = Examples(
        np.repeat(examples.positives, times[:p], axis=0),
        np.repeat(examples.negatives, times[p:], axis=0),
        np.ones(times.sum(), np.int32),
    )
    settings = DnfSettings(n_terms=3, max_steps=200, seed=seed, seeded=seeded)
    weighed = examples.search(replace(settings, positive_unit=units[0], negative_unit=units[1]))
    plain = repeated.search(settings)
    weighed.advance(200)
    plain.advance(200)
    assert weighed.state(0) == plain.state(0)
    assert weighed.best() == plain.best()


def test_full_terms_are_left_behind():
    """Where every misclassified row sits in a full term, the search goes on with a new term."""
    rows = np.array([[1], [0]], dtype=np.bool_)
    examples = Examples(rows[[0]], rows[[0, 0, 1]], np.ones(4, np.int32))
    search = examples.search(DnfSettings(n_terms=1, max_steps=200, seed=0, check=True))
    left, before = 0, search.state(0)
    while search.advance(1):
        state = search.state(0)
        if state.n_stuck > before.n_stuck:
            assert len(before.terms[0]) == 1
            left += state.terms != before.terms
        before = state
    assert left > 0


def test_restarts_differ_and_the_best_of_them_wins():
    """Restarts draw their own numbers; the lowest score, length and index is returned."""
    examples = planted(np.random.default_rng(3), 120, 12, noise=0.3)
    settings = DnfSettings(n_terms=2, max_steps=30, seed=5)
    together = examples.search(replace(settings, n_restarts=6))
    together.advance(30)
    assert len({str(together.state(i).terms) for i in range(6)}) > 1
    best = together.best()
    fewer = examples.search(replace(settings, n_restarts=best.restart + 1))
    fewer.advance(30)
    assert fewer.best() == best
    if best.restart:
        before = examples.search(replace(settings, n_restarts=best.restart))
        before.advance(30)
        assert before.best()[:2] > best[:2]


def good(**changed):
    """Call the kernel with arguments that fit, but for those that are changed."""
    arguments = {
        "bits": np.array([[1, 2], [3, 1]], dtype=np.uint64),
        "weights": np.ones(4, np.int32),
        "n_positives": 2,
    }
    settings = DnfSettings(n_terms=2, max_steps=10, seed=0)
    fields = {name: changed.pop(name) for name in list(changed) if name in vars(settings)}
    return kernels.DnfSearch(**{**arguments, **changed}, settings=replace(settings, **fields))


FAULTS = {
    "no variable": {"bits": np.zeros((0, 2), np.uint64)},
    "too many words": {"bits": np.zeros((2, 3), np.uint64)},
    "too few words": {"bits": np.zeros((2, 1), np.uint64)},
    "bits beyond the positives": {"bits": np.array([[4, 0]], np.uint64)},
    "bits beyond the negatives": {"bits": np.array([[0, 4]], np.uint64)},
    "bits of another type": {"bits": np.zeros((2, 2), np.int64)},
    "bits with a stride": {"bits": np.zeros((2, 4), np.uint64)[:, ::2]},
    "no positives": {"n_positives": 0},
    "no negatives": {"n_positives": 4},
    "more positives than rows": {"n_positives": 5},
    "no weight": {"weights": np.array([1, 1, 0, 1], np.int32)},
    "negative weight": {"weights": np.array([1, 1, -1, 1], np.int32)},
    "wide weights": {"weights": np.ones(4, np.int64)},
    "no terms": {"n_terms": 0},
    "too many terms": {"n_terms": 2**40},
    "no restarts": {"n_restarts": 0},
    "negative steps": {"max_steps": -1},
    "negative seed": {"seed": -1},
    "negative limit": {"max_literals": -2},
    "negative target": {"target": -1},
    "no unit": {"positive_unit": 0},
    "score that overflows": {"negative_unit": 2**62},
    "probability above 1": {"p_g1": 1.5},
    "probability below 0": {"p_g2": -0.1},
    "probability that is none": {"p_s": float("nan")},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_searches_are_refused(fault):
    """Arrays and settings that do not fit are an error, never a crash."""
    assert good().advance(10) == 0
    with pytest.raises((ValueError, TypeError)):
        good(**FAULTS[fault])


def test_a_restart_that_does_not_exist_is_refused():
    """The state of a restart beyond the last is an error."""
    with pytest.raises(ValueError, match="no such restart"):
        good().state(1)
