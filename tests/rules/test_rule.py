import math

import numpy as np
import pytest

from rules.builders import a_rule
from rulewright.rules import Conjunction, Coverage, Head, Rule, parse_conjunction
from rulewright.rules.coverage import wilson_interval


def test_precision_is_the_weight_share_of_the_head():
    """Precision counts the covered weight of the head class."""
    rule = a_rule(parse_conjunction("a <= 5"), 1, 0.5, 40.0, (10.0, 30.0))
    assert rule.precision == 0.75


def test_an_index_is_a_head_of_one_class():
    """A rule made with the index of a class speaks for that class only."""
    rule = a_rule(Conjunction(), 1, 0.5, 40.0, (10.0, 30.0))
    assert rule.head == Head(1, 1)
    assert not rule.head.is_union
    assert rule.to_json()["then"]["head"] == 1


def test_precision_of_a_union_is_its_share():
    """A rule for several classes is right on the covered weight of all of them."""
    rule = a_rule(parse_conjunction("a <= 5"), Head(1, 2), 0.5, 40.0, (10.0, 20.0, 10.0, 0.0))
    assert rule.precision == 0.75
    assert rule.to_json()["then"]["head"] == [1, 2]


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (Head(2, 2), "c"),
        (Head(3, 3), "d"),
        (Head(1, 3), "at least b"),
        (Head(0, 1), "at most b"),
        (Head(1, 2), "b to c"),
    ],
)
def test_heads_read_as_words(head, text):
    """Unions read as people say them."""
    assert head.text(["a", "b", "c", "d"]) == text


def test_wilson_interval_of_the_textbook():
    """Nine of ten right gives the published interval."""
    low, high = wilson_interval(0.9, 10)
    assert (round(low, 4), round(high, 4)) == (0.5958, 0.9821)


def test_less_than_half_a_row_is_none():
    """An interval of corrected counts reaches 0 or 1 where that of the nearest whole count does."""
    assert wilson_interval(99.6 / 100, 100)[1] == 1.0
    assert wilson_interval(99.4 / 100, 100)[1] < 1.0
    assert wilson_interval(0.4 / 100, 100)[0] == 0.0
    assert wilson_interval(0.6 / 100, 100)[0] > 0.0


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_wilson_interval_stays_inside_zero_and_one(share):
    """An interval of an extreme share does not leave the range of probabilities."""
    low, high = wilson_interval(share, 3)
    assert 0.0 <= low <= share <= high <= 1.0


def test_a_rule_that_covers_nothing_has_no_precision():
    """Without covered weight, precision and its interval are NaN."""
    rule = a_rule(Conjunction(), 0, 0.5, 0.0, (0.0, 0.0))
    assert all(map(math.isnan, (rule.precision, *rule.share_interval)))


def test_numpy_numbers_become_plain_ones():
    """Rules made from arrays are plain data, so that they can be saved."""
    rule = a_rule(Conjunction(), np.int32(0), np.float64(0.5), np.int64(2), (np.float32(2.0),))
    assert [type(v) for v in (*rule.head, rule.outcome.value, rule.coverage.support)] == [
        int,
        int,
        float,
        float,
    ]
    assert type(rule.coverage.class_weights[0]) is float


def test_json_round_trip():
    """A rule made from its own plain data is the same rule."""
    for head in (1, Head(0, 1)):
        rule = a_rule(
            parse_conjunction("a <= 0.1 and b in {x, y}"), head, 0.1 + 0.2, 7.5, (2.5, 5.0)
        )
        assert Rule.from_json(rule.to_json()) == rule


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"head": -1}, "class index -1"),
        ({"head": 1.0}, "not float"),
        ({"head": True}, "not bool"),
        ({"head": (1, 0)}, "class index"),
        ({"head": (0, 1, 1)}, "not tuple"),
        ({"head": [0, "1"]}, "not str"),
        ({"response": math.nan}, "NaN"),
        ({"response": math.inf}, "finite"),
        ({"support": -1.0}, "not negative"),
        ({"class_weights": (1.0, -1.0)}, "not negative"),
        ({"class_weights": (1.0, "2")}, "must be a number"),
        ({"body": "a <= 5"}, "Conjunction"),
    ],
)
def test_wrong_fields_are_refused(fields, message):
    """Every field of a rule is checked and the message says what is wrong."""
    good = {
        "body": Conjunction(),
        "head": 0,
        "response": 1.0,
        "support": 2.0,
        "class_weights": (1.0, 1.0),
    }
    with pytest.raises(ValueError, match=message):
        a_rule(**(good | fields))


def test_outside_coverage_by_hand():
    """Rows inside count a fifth, at most a fifth of those outside, which give the certainty."""
    mixed = Coverage.outside(np.array([20.0, 80.0]), np.array([15.0, 35.0]))
    assert (mixed.support, mixed.rows) == (100.0, "outside")
    assert mixed.class_weights == mixed.counts == (20.0, 80.0)
    assert mixed.corrected == mixed.share_weights == pytest.approx((50 * 16 / 60, 50 * 44 / 60))
    uneven = Coverage.outside(np.array([10.0, 100.0]), np.array([5.0, 5.0]))
    assert uneven.corrected == pytest.approx((10 * 5.1 / 12, 10 * 6.9 / 12))
    alone = Coverage.outside(np.array([0.0, 10.0]), np.zeros(2))
    assert (alone.support, alone.share_text(Head(1, 1))) == (10.0, "")  # nothing is known


@pytest.mark.parametrize("n_classes", [2, 3, 26])
def test_coverages_of_several_rules_are_those_of_each(n_classes):
    """Counting all rules together gives the same bits, also without rows inside or outside."""
    random = np.random.default_rng(n_classes)
    sizes = np.array([(1, 1), (0, 1), (1e9, 0), (1, 2), (3, 0), (0, 0)])
    outside, inside = (random.exponential(size=(6, n_classes)) * n[:, None] for n in sizes.T)
    together = Coverage.all_outside(inside + outside, outside)
    pairs = zip(inside + outside, outside, strict=True)
    assert together == [Coverage.outside(*pair) for pair in pairs]


@pytest.mark.parametrize("n_classes", [3, 200])
def test_class_weights_are_checked(n_classes):
    """Few or many: each must be finite and not negative, and -0 is 0."""
    weights = (-0.0, *(1.0,) * (n_classes - 1))
    assert str(Coverage.of(weights).class_weights[0]) == "0.0"
    for wrong in (math.nan, math.inf, -1.0, "1"):
        with pytest.raises(ValueError, match="class weight of a rule"):
            Coverage(1.0, (*weights[1:], wrong))


def test_expected_weights_are_those_of_the_support():
    """Corrected counts are of fewer rows than the rule covers; plain ones stay as they are."""
    assert Coverage(10.0, (1.0, 3.0), "corrected").expected_weights == (2.5, 7.5)
    assert Coverage(4.0, (1.0, 3.0)).expected_weights == (1.0, 3.0)
    assert Coverage(0.0, (0.0, 0.0)).expected_weights == (0.0, 0.0)
