import math
from itertools import pairwise

import numpy as np
import pytest

from rulewright.stopping.sizes import sizes_up_to, smallest_good


@pytest.mark.parametrize("most", [0, 1, 7, 15, 200])
def test_sizes_ascend_to_the_most(most):
    """Sizes start at 0, end at the most, leave out no small one and never jump far."""
    sizes = sizes_up_to(most)
    assert (sizes[0], sizes[-1]) == (0, most)
    assert sizes[:11] == list(range(min(most, 10) + 1))
    assert all(a < b <= max(a + 1, 1.2 * a) for a, b in pairwise(sizes))


def test_equal_losses_choose_the_smallest_size():
    """Rules that gain nothing are not kept."""
    assert smallest_good([0, 1, 2, 5], np.full((4, 9), 0.5), np.ones(9)) == 0


def test_every_rule_must_earn_its_charge():
    """Without noise a rule is kept when it gains more than a third of log(n) / 2n, not below."""
    charge = math.log(1000) / 6000
    for gain, size in ((1.1 * charge, 3), (0.9 * charge, 0)):
        losses = np.repeat(0.6 - gain * np.arange(4), 1000).reshape(4, 1000)
        assert smallest_good([0, 1, 2, 3], losses, np.ones(1000)) == size


def test_a_gain_within_the_noise_is_not_taken():
    """A better size whose gain varies too much from row to row loses to a smaller one."""
    steady, wild = np.full(400, 0.1), np.tile([0.6, -0.4, 5.1, -4.9], 100)
    for gain, size in ((steady, 1), (wild, 0)):
        losses = 0.7 - np.outer([0, 1], gain)
        assert smallest_good([0, 1], losses, np.ones(400)) == size


def test_what_all_sizes_find_hard_does_not_hide_a_gain():
    """Rows are compared with themselves: losses that vary much may hide no steady gain."""
    hard = np.random.default_rng(0).exponential(5.0, 400)
    losses = hard - np.outer([0.0, 0.05, 0.1], np.ones(400))
    assert smallest_good([0, 1, 2], losses, np.ones(400)) == 2


def test_a_weight_is_a_number_of_rows():
    """Rows of weight two choose like rows that stand there twice."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        losses, counts = rng.random((5, 30)) - 0.03 * np.arange(5)[:, None], rng.integers(1, 4, 30)
        repeated = losses.repeat(counts, axis=1)
        size = smallest_good(range(5), losses, counts.astype(float))
        assert size == smallest_good(range(5), repeated, np.ones(counts.sum()))
