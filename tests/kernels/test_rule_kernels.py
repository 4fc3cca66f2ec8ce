import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS
from rulewright import kernels
from rulewright.kernels import MISSING, UNSEEN, CompiledRules

pytestmark = pytest.mark.native


def starts(rng, n_parts, n_items):
    """Cut a list of items into consecutive parts, some of them empty."""
    inner = np.sort(rng.integers(0, n_items + 1, max(n_parts - 1, 0)))
    return np.array([0, *inner, n_items] if n_parts else [0], dtype=np.int32)


def random_rules(rng, n_columns, n_rules):
    """Make compiled rules of any shape: empty rules, conditions of many intervals or none."""
    n_conditions = int(rng.integers(0, 3 * n_rules + 1)) if n_rules else 0
    n_intervals = int(rng.integers(0, 3 * n_conditions + 1)) if n_conditions else 0
    low = rng.choice([0, 1, 2, 3, UNSEEN, MISSING], n_intervals)
    high = np.maximum(low, rng.choice([0, 2, 4, UNSEEN, MISSING], n_intervals))
    columns = rng.integers(0, n_columns, n_intervals)
    intervals = np.ascontiguousarray(np.transpose([columns, low, high]), dtype=np.int32)
    return CompiledRules(
        intervals.reshape(-1, 3),
        starts(rng, n_conditions, n_intervals),
        starts(rng, n_rules, n_conditions),
    )


def random_case(rng, n_rows, n_columns, n_rules, n_classes):
    """Make all arguments of `rule_scores`."""
    codes = rng.choice([0, 1, 2, 3, 4, UNSEEN, MISSING], (n_columns, n_rows)).astype(np.uint16)
    heads = np.sort(rng.integers(0, n_classes, (n_rules, 2)).astype(np.int32), axis=1)
    rules = random_rules(rng, n_columns, n_rules)
    return codes, rules, heads, rng.normal(size=n_rules), rng.normal(size=n_classes)


CASES = given(SEEDS, st.integers(0, 140), st.integers(1, 5), st.integers(0, 8), st.integers(1, 4))


@CASES
def test_covers_equal_the_twin(seed, n_rows, n_columns, n_rules, n_classes):
    """Any compiled rules cover what the twin says."""
    case = random_case(np.random.default_rng(seed), n_rows, n_columns, n_rules, n_classes)
    codes, rules = case[:2]
    native = kernels.rule_covers(codes, rules)
    assert native.shape == (n_rows, n_rules)
    np.testing.assert_array_equal(native, reference.rule_covers(codes, rules))


@CASES
def test_scores_equal_the_twin(seed, n_rows, n_columns, n_rules, n_classes):
    """Scores have the bits of the twin, which adds in rule order."""
    case = random_case(np.random.default_rng(seed), n_rows, n_columns, n_rules, n_classes)
    native = kernels.rule_scores(*case)
    assert native.shape == (n_rows, n_classes)
    np.testing.assert_array_equal(native, reference.rule_scores(*case))


@CASES
def test_bits_equal_the_twin(seed, n_rows, n_columns, n_rules, n_classes):
    """Packed covers have the bits of the twin, and no other."""
    case = random_case(np.random.default_rng(seed), n_rows, n_columns, n_rules, n_classes)
    native = kernels.rule_bits(*case[:2])
    assert native.shape == (n_rules, (n_rows + 63) // 64)
    np.testing.assert_array_equal(native, reference.rule_bits(*case[:2]))


@pytest.mark.parametrize("n_rows", [511, 512, 513, 5000])
def test_threads_do_not_change_a_bit(n_rows):
    """Blocks of rows give the same scores, covers and bits for any number of threads."""
    case = random_case(np.random.default_rng(n_rows), n_rows, 4, 60, 3)
    expected = reference.rule_scores(*case)
    covers = reference.rule_covers(*case[:2])
    assert covers.any()
    for n_threads in (1, 2):
        np.testing.assert_array_equal(kernels.rule_scores(*case, n_threads=n_threads), expected)
        np.testing.assert_array_equal(kernels.rule_covers(*case[:2], n_threads=n_threads), covers)
        bits = kernels.rule_bits(*case[:2], n_threads=n_threads)
        rows = np.arange(n_rows)
        unpacked = bits[:, rows // 64] >> (rows % 64).astype(np.uint64) & np.uint64(1)
        np.testing.assert_array_equal(unpacked.T, covers)


def test_a_rule_is_an_and_of_ors():
    """One rule, two conditions, the first of two intervals, by hand."""
    codes = np.array([[0, 1, 5, 5, MISSING], [7, 7, 7, 6, 7]], dtype=np.uint16)
    rules = CompiledRules(
        np.array([[0, 0, 0], [0, 4, 5], [1, 7, 9]], np.int32),
        np.array([0, 2, 3], np.int32),
        np.array([0, 2], np.int32),
    )
    assert kernels.rule_covers(codes, rules)[:, 0].tolist() == [True, False, True, False, False]


def test_a_model_without_rules_needs_no_codes():
    """Zero columns and zero rules give the intercepts."""
    none = CompiledRules(np.empty((0, 3), np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32))
    scores = kernels.rule_scores(
        np.empty((0, 3), np.uint16), none, np.empty((0, 2), np.int32), np.empty(0), np.arange(2.0)
    )
    assert scores.tolist() == [[0.0, 1.0]] * 3


def many_rows(rng, n_rules, n_classes=3, n_columns=5, n_rows=1500):
    """Make rules of one column per condition, as models have them, and enough rows for masks."""
    lengths = rng.integers(0, 4, n_rules)
    columns = rng.integers(0, n_columns, lengths.sum())
    n_intervals = rng.choice([0, 1, 1, 1, 2], lengths.sum())
    low = rng.choice([0, 0, 1, 3, 9, MISSING], n_intervals.sum())
    high = np.maximum(low, rng.choice([2, 8, UNSEEN, MISSING], n_intervals.sum()))
    rules = CompiledRules(
        np.transpose([np.repeat(columns, n_intervals), low, high]).astype(np.int32).copy(order="C"),
        np.cumsum([0, *n_intervals]).astype(np.int32),
        np.cumsum([0, *lengths]).astype(np.int32),
    )
    codes = rng.choice([0, 1, 2, 8, 9, 10, 500, UNSEEN, MISSING], (n_columns, n_rows))
    heads = np.sort(rng.integers(0, n_classes, (n_rules, 2)).astype(np.int32), axis=1)
    responses, intercepts = rng.normal(size=n_rules), rng.normal(size=n_classes)
    return codes.astype(np.uint16), rules, heads, responses, intercepts


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_rules", [1, 64, 65, 200, 400, 513, 1100])
def test_masks_by_code_add_the_same_bits(n_rules, n_classes):
    """Scores of many rows have the bits of the twin, also with several sets of masks."""
    case = many_rows(np.random.default_rng(n_rules), n_rules, n_classes)
    expected = reference.rule_scores(*case)
    assert (expected != case[-1]).any()
    for n_threads in (1, 2):
        np.testing.assert_array_equal(kernels.rule_scores(*case, n_threads=n_threads), expected)


@pytest.mark.parametrize("high", [20_000, UNSEEN - 1])
def test_columns_of_very_many_codes_need_no_masks(high):
    """Codes beyond what masks have room for are compared one by one."""
    codes, rules, *rest = many_rows(np.random.default_rng(3), 40)
    rules.intervals[-1] = [0, 0, high]
    expected = reference.rule_scores(codes, rules, *rest)
    np.testing.assert_array_equal(kernels.rule_scores(codes, rules, *rest), expected)


@given(SEEDS)
def test_conditions_on_several_columns_need_no_masks(seed):
    """Alternatives on different columns, which no model has, are compared one by one."""
    case = random_case(np.random.default_rng(seed), 1100, 4, 30, 3)
    np.testing.assert_array_equal(kernels.rule_scores(*case), reference.rule_scores(*case))
