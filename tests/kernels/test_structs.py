import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from builders import ALL_OPERATORS, free_limits
from rulewright.kernels import DnfSettings, GrownCondition, Op, Score

STRUCTS = {
    "score": lambda: Score("newton", unit=1.0),
    "limits": lambda: free_limits(2),
    "settings": lambda: DnfSettings(n_terms=1, max_steps=1, seed=0),
}


@pytest.mark.parametrize("name", STRUCTS)
def test_fields_have_names_only(name):
    """No two fields can be swapped by position, neither in Python nor at the border."""
    struct = STRUCTS[name]()
    given = {field.name: getattr(struct, field.name) for field in fields(struct)}
    for made in (type(struct), type(struct.native)):
        made(**given)
        with pytest.raises(TypeError):
            made(*given.values())


@pytest.mark.parametrize("name", STRUCTS)
def test_the_bound_struct_is_made_once(name):
    """A struct keeps what kernels read, and a changed copy gets its own."""
    struct = STRUCTS[name]()
    assert struct.native is struct.native
    assert replace(struct).native is not struct.native


@pytest.mark.parametrize("name", STRUCTS)
def test_structs_travel(name):
    """A struct that was used can be sent to another process."""
    struct = STRUCTS[name]()
    assert struct.native is not None
    assert str(pickle.loads(pickle.dumps(struct))) == str(struct)


def test_columns_that_are_not_drawn_are_closed():
    """What is neither drawn nor required has no operator left, for either vote."""
    limits = free_limits(4, required=np.array([0, 0, 1, 0], np.uint8))
    drawn = limits.only(np.array([False, True, False, False]))
    expected = [0, ALL_OPERATORS, ALL_OPERATORS, 0]
    assert drawn.up_operators.tolist() == drawn.down_operators.tolist() == expected
    assert drawn.up_operators.dtype == np.uint8


def test_the_other_side_has_the_other_operators():
    """Swapping exchanges the operators of votes up and down, and nothing else."""
    limits = free_limits(1, up_operators=np.array([5], np.uint8))
    swapped = limits.swap_sides()
    assert (swapped.up_operators[0], swapped.down_operators[0]) == (ALL_OPERATORS, 5)
    assert swapped.required is limits.required


def test_a_condition_narrows_what_may_follow():
    """Votes that may not use it, other groups and its own requirement are gone."""
    limits = free_limits(
        3,
        up_operators=np.array([1 << Op.EQUAL, 1, 1], np.uint8),
        required=np.array([1, 0, 1], np.uint8),
        groups=np.array([1, 3, 2], np.uint64),
    )
    equal = limits.after(GrownCondition(0, Op.EQUAL, 0, -1, 0.0))
    assert equal.groups.tolist() == [1, 1, 0]
    assert equal.required.tolist() == [0, 0, 1]
    assert equal.up_operators.tolist() == [1 << Op.EQUAL, 1, 1]
    at_most = limits.after(GrownCondition(0, Op.LESS_EQUAL, 0, 1, 0.0))
    assert at_most.up_operators.tolist() == [0, 0, 0]
    assert at_most.down_operators.tolist() == [ALL_OPERATORS] * 3
