import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS
from rulewright import bounds as b

SHARES = st.floats(0, 1)
MANY = 10**14


@given(SHARES, st.floats(0, 20))
def test_kl_inverse_is_the_last_point_within_reach(a, c):
    """kl(a||b) is c at the result, unless the result is 1."""
    upper = b.kl_inverse(a, c)
    assert a <= upper <= 1
    if upper < 1 - 1e-9 and upper - a > 1e-6:
        assert b.binary_kl(a, upper) == pytest.approx(c, rel=1e-6, abs=1e-12)


def test_kl_inverse_at_the_ends():
    """0, 1, no room and endless room have their exact answers."""
    assert b.kl_inverse(1.0, 0.3) == 1
    assert b.kl_inverse(0.0, 0.3) == pytest.approx(1 - math.exp(-0.3))
    assert b.kl_inverse(0.4, 0.0) == pytest.approx(0.4)
    assert b.kl_inverse(0.4, math.inf) == 1
    assert b.kl_inverse(0.3, 1e-16) == pytest.approx(0.3 + math.sqrt(2 * 0.21e-16), abs=3e-9)


def test_binary_kl_has_its_ends():
    """It is 0 on equal shares, infinite where b is certain and a is not, and 2(b-a)^2 at least."""
    assert b.binary_kl(0.3, 0.3) == b.binary_kl(0.0, 0.0) == b.binary_kl(1.0, 1.0) == 0
    assert b.binary_kl(0.3, 1.0) == b.binary_kl(0.3, 0.0) == math.inf
    for a, c in ((0.1, 0.6), (0.0, 0.2), (1.0, 0.7)):
        assert b.binary_kl(a, c) >= 2 * (a - c) ** 2


def test_divergence_by_hand():
    """KL(Q||P) puts the posterior first, forgives 0 ln 0 and is infinite off the support."""
    assert b.kl_divergence([0.5, 0.5, 0], [0.25, 0.25, 0.5]) == pytest.approx(math.log(2))
    assert b.kl_divergence([0.5, 0.5], [1, 0]) == math.inf
    assert b.kl_divergence([1, 0], [0.5, 0.5]) == pytest.approx(math.log(2))
    assert b.kl_divergence([0.1] * 10, [0.1] * 10) == 0
    assert b.kl_to_ln_prior([0.5, 0.5], [2000, 3000]) == pytest.approx(2500 - math.log(2))


def test_divergence_of_many_tiny_weights():
    """A million weights that are alike have the entropy ln of a million."""
    many = np.full(10**6, 1e-6)
    assert b.kl_to_ln_prior(many, np.full(10**6, 20.0)) == pytest.approx(
        20 - 6 * math.log(10), rel=1e-12
    )


@pytest.mark.parametrize(
    ("posterior", "prior", "name"),
    [([0.5, 0.4], [0.5, 0.5], "posterior"), ([1.5, -0.5], [0.5, 0.5], "posterior"),
     ([0.5, 0.5], [0.9, 0.9], "prior"), ([1.0], [0.5, 0.5], "length")],
)  # fmt: skip
def test_what_is_no_distribution_is_refused(posterior, prior, name):
    """Sums, signs and lengths are checked."""
    with pytest.raises(ValueError, match=name):
        b.kl_divergence(posterior, prior)


def test_duplicates_that_were_not_merged_are_found():
    """A divergence below zero can only come from no prior at all."""
    with pytest.raises(ValueError, match="no prior"):
        b.kl_to_ln_prior([0.25] * 4, [math.log(2)] * 4)


@given(SHARES, st.floats(0, 300), st.integers(1, 10**6), st.floats(1e-9, 0.9))
def test_the_kl_form_is_never_above_mcallesters(loss, kl, n, delta):
    """B9 <= B8 (I1), and neither is below the empirical loss."""
    tight, loose = b.pac_bayes_kl(loss, kl, n, delta), b.pac_bayes_mcallester(loss, kl, n, delta)
    assert loss - 1e-12 <= tight.raw <= loose.raw + 1e-12


def test_the_constant_of_the_kl_form_is_valid():
    """sum_k C(n,k) (k/n)^k (1-k/n)^(n-k) <= 2 sqrt(n)."""
    for n in (1, 2, 3, 10, 100, 400):
        k = np.arange(1, n)
        ln_ways = np.array([math.log(math.comb(n, i)) for i in range(1, n)])
        terms = np.exp(ln_ways + k * np.log(k / n) + (n - k) * np.log1p(-k / n))
        assert 2 + terms.sum() <= 2 * math.sqrt(n) + 1e-9


def test_pac_bayes_bounds_rise_and_fall_as_they_must():
    """Both rise with loss and divergence."""
    for bound in (b.pac_bayes_kl, b.pac_bayes_mcallester):
        for raws in (
            [bound(loss, 3.0, 200).raw for loss in (0, 0.1, 0.4, 0.7)],
            [bound(0.2, kl, 200).raw for kl in (0, 0.1, 5, 60)],
        ):
            assert all(a < c for a, c in pairwise(raws))


def test_no_loss_and_no_divergence_have_a_closed_form():
    """B9 is 1 - (2 sqrt(n) / delta)^(-1/n) then."""
    for n in (1, 7, 1000):
        expected = 1 - (2 * math.sqrt(n) / 0.05) ** (-1 / n)
        assert b.pac_bayes_kl(0, 0, n, 0.05).value == pytest.approx(expected)


def test_divergence_has_its_edges():
    """Rounding below zero is forgiven, more is refused, infinity leaves nothing."""
    for bound in (b.pac_bayes_kl, b.pac_bayes_mcallester):
        assert bound(0.1, -1e-13, 50).raw == bound(0.1, 0, 50).raw
        with pytest.raises(ValueError, match="kl"):
            bound(0.1, -1e-9, 50)
        endless = bound(0.1, math.inf, 50)
        assert (endless.value, endless.certified) == (1, False)
        assert bound(1.0, 1.0, 50).value == 1
        with pytest.raises(ValueError, match="loss"):
            bound(1.2, 1.0, 50)


@pytest.mark.parametrize("form", ["kl", "mcallester"])
def test_the_vote_sums_classes_at_their_part_of_delta(form):
    """Two classes at delta are the sum of both at delta / 2, in any order (B10, I4)."""
    gibbs = b.pac_bayes_kl if form == "kl" else b.pac_bayes_mcallester
    bound = b.vote_bound([0.05, 0.1], [3, 4], 2000, 0.04, form=form)
    parts = gibbs(0.05, 3, 2000, 0.02).value, gibbs(0.1, 4, 2000, 0.02).value
    assert bound.raw == pytest.approx(sum(parts))
    assert b.vote_bound([0.1, 0.05], [4, 3], 2000, 0.04, form=form).raw == bound.raw
    assert b.abstaining_vote_bound([0.05, 0.1], [3, 4], 2000, 0, 0.04, form=form).raw == bound.raw


def test_abstaining_divides_by_the_lead():
    """The bound times 1 + theta/2 is constant up to 2; beyond, nothing is ever predicted (B11)."""
    raws = {t: b.abstaining_vote_bound([0.1] * 3, [5] * 3, 900, t).raw for t in (0, 0.5, 1, 2)}
    assert [raw * (1 + t / 2) for t, raw in raws.items()] == pytest.approx([raws[0]] * 4)
    assert b.abstaining_vote_bound([0.1] * 3, [5] * 3, 900, 2.1).value == 0
    for theta in (-0.1, math.nan):
        with pytest.raises(ValueError, match="theta"):
            b.abstaining_vote_bound([0.1], [5], 900, theta)


@given(SEEDS, st.integers(1, 4), st.floats(0, 2))
def test_votes_keep_the_bound_of_their_true_losses(seed, n_classes, theta):
    """For random laws of votes no more than the bound is predicted with that lead and wrong."""
    rng = np.random.default_rng(seed)
    law, labels = rng.dirichlet(np.ones(12)), rng.integers(0, n_classes, 12)
    votes = rng.uniform(-1, 1, (12, n_classes)).round(1)
    signs = np.where(labels[:, None] == np.arange(n_classes), 1, -1)
    losses = law @ (1 - signs * votes) / 2
    others = np.where(signs < 0, votes, -np.inf).max(axis=1)
    wrong = others - votes[np.arange(12), labels] >= theta
    bound = b.abstaining_vote_bound(losses, [0] * n_classes, MANY, theta)
    assert law[wrong].sum() <= bound.value


@pytest.mark.parametrize("theta", [0.0, 0.5, 2.0])
def test_the_markov_step_is_tight(theta):
    """Wrong by just theta on a share q and unanimous elsewhere, the bound is q."""
    q, wrong, right = 0.2, (1 + theta / 2) / 2, 0.0
    loss = q * wrong + (1 - q) * right
    bound = b.abstaining_vote_bound([loss, loss], [0, 0], MANY, theta)
    assert bound.value == pytest.approx(q, abs=1e-5)


def test_a_class_off_its_prior_takes_the_certificate():
    """One infinite divergence leaves no certificate, and wrong lengths are refused."""
    bound = b.vote_bound([0.1, 0.1], [1, math.inf], 1000)
    assert (bound.value, bound.certified) == (1, False)
    for losses, kls in (([], []), ([0.1], [1, 2])):
        with pytest.raises(ValueError, match="one per class"):
            b.vote_bound(losses, kls, 100)
    with pytest.raises(ValueError, match="form"):
        b.vote_bound([0.1], [1], 100, form="best")


def test_one_ensemble_for_two_classes_pays_twice():
    """2 Bnd for the vote, 2 Bnd / (1 + t) when small votes abstain; doubts are handed on."""
    gibbs = b.pac_bayes_kl(0.05, 3, 2000)
    assert b.single_vote_bound(gibbs).raw == 2 * gibbs.value
    assert b.single_vote_bound(gibbs, 0.5).raw == pytest.approx(2 * gibbs.value / 1.5)
    assert b.single_vote_bound(gibbs, 1.5).value == 0
    assert not b.single_vote_bound(gibbs.doubt("bins")).certified
    with pytest.raises(ValueError, match="threshold"):
        b.single_vote_bound(gibbs, -1)


def test_error_given_a_prediction_divides_by_the_coverage():
    """Both deltas are spent, and without coverage nothing is known."""
    joint = b.abstaining_vote_bound([0.02, 0.02], [1, 1], 10**5, 1.0, 0.03)
    bound = b.error_given_prediction(joint, 100, 400, 0.02)
    coverage = 1 - b.held_out_bound(100, 400, 0.02).value
    assert bound.value == pytest.approx(joint.value / coverage)
    assert bound.delta == pytest.approx(0.05)
    assert joint.value < bound.value
    assert b.error_given_prediction(joint, 400, 400).value == 1
    assert not b.error_given_prediction(joint, 0, 0).certified
    with pytest.raises(ValueError, match="delta"):
        b.error_given_prediction(joint, 1, 4, 0.99)
