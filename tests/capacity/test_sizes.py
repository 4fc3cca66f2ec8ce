import math
from itertools import pairwise

import numpy as np
import pytest

from rulewright.capacity.sizes import sizes_up_to, smallest_good


@pytest.mark.parametrize("most", [0, 1, 7, 15, 200])
def test_sizes_ascend_to_the_most(most):
    """Sizes start at 0, end at the most, leave out no small one and never jump far."""
    sizes = sizes_up_to(most)
    assert (sizes[0], sizes[-1]) == (0, most)
    assert sizes[:11] == list(range(min(most, 10) + 1))
    assert all(a < b <= max(a + 1, 1.2 * a) for a, b in pairwise(sizes))


def test_equal_losses_choose_the_smallest_size():
    """Rules that gain nothing are not kept."""
    assert smallest_good([0, 1, 2, 5], np.full((3, 4), 0.5), [1, 1, 1], 100) == 0


def test_every_rule_must_earn_its_charge():
    """Without noise a rule is kept when it gains more than log(n) / 2n, and not below."""
    charge = math.log(1000) / 2000
    for gain, size in ((1.1 * charge, 3), (0.9 * charge, 0)):
        losses = np.tile(0.6 - gain * np.arange(4), (5, 1))
        assert smallest_good([0, 1, 2, 3], losses, np.ones(5), 1000) == size


def test_a_gain_within_the_noise_is_not_taken():
    """A better size whose gain varies too much from fold to fold loses to a smaller one."""
    steady, wild = np.full(4, 0.1), np.array([0.6, -0.4, 0.5, -0.3])
    for gain, size in ((steady, 1), (wild, 0)):
        losses = 0.7 - np.outer(gain, [0, 1])
        assert smallest_good([0, 1], losses, np.ones(4), 10**6) == size
