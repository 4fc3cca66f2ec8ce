import math
from dataclasses import FrozenInstanceError, asdict

import numpy as np
import pytest

from rulewright import bounds as b
from rulewright.bounds.record import ERROR, Quantity, state_bound

SAMPLED = {
    "B1": lambda n, delta: b.held_out_bound(n // 5, n, delta),
    "B2a": lambda n, delta: b.hoeffding_bound(n // 5, n, delta),
    "B2b": lambda n, delta: b.chernoff_bound(n // 5, n, delta),
    "B3": lambda n, delta: b.finite_class_bound(0.2, 5.0, n, delta),
    "B3'": lambda n, delta: b.occam_bound(0.2, 5.0, n, delta),
    "B3' exact": lambda n, delta: b.exact_occam_bound(n // 5, 5.0, n, delta),
    "B4": lambda n, delta: b.vc_bound(0.2, 3, n, delta),
    "B4 Vapnik": lambda n, delta: b.vapnik_bound(0.2, 3, n, delta),
    "B8": lambda n, delta: b.pac_bayes_mcallester(0.2, 2.0, n, delta),
    "B9": lambda n, delta: b.pac_bayes_kl(0.2, 2.0, n, delta),
    "B10": lambda n, delta: b.vote_bound([0.1, 0.2], [1.0, 2.0], n, delta),
    "B11": lambda n, delta: b.abstaining_vote_bound([0.1, 0.2], [1.0, 2.0], n, 0.5, delta),
    "B16": lambda n, delta: b.rademacher_error_bound(0.2, 0.1, n, delta),
    "B18": lambda n, delta: b.rademacher_margin_bound(0.9, 0.1, n, delta),
    "B19": lambda n, delta: b.rademacher_mmv_bound(0.9, 0.1, 0.1, n, delta),
    "B20": lambda n, delta: b.pac_bayes_margin_bound(0.9, 2.0, n, delta),
    "B21": lambda n, delta: b.pac_bayes_mmv_bound(0.9, 2.0, n, delta),
    "B22": lambda n, delta: b.repository_margin_bound(0.9, 20, n, delta),
    "B23": lambda n, delta: b.repository_mmv_bound(0.9, 20, n, delta),
    "prefix": lambda n, delta: b.prefix_certificate(0.9, 20, n, delta),
}
LN20 = math.log(20)
WORKED = [
    (b.hoeffding_bound(10, 100), 0.1 + math.sqrt(LN20 / 200)),
    (b.chernoff_bound(10, 100), 0.1 + math.sqrt(0.2 * LN20 / 100) + LN20 / 50),
    (b.finite_class_bound(0.1, 7, 100), 0.1 + math.sqrt((7 + LN20) / 200)),
    (b.vc_bound(0.1, 2, 50), 0.1 + 2 * math.sqrt((2 * math.log(50 * math.e) + math.log(40)) / 50)),
    (b.vapnik_bound(0.1, 2, 50), 0.1 + math.sqrt((2 * math.log(50 * math.e) + math.log(80)) / 50)),
    (b.breiman_bound(0.6, 0.2), 0.2 * 0.64 / 0.36),
    (b.adaboost_bound([0.1, 0.2]), 0.6 * 0.8),
    (b.pac_bayes_mcallester(0.1, 3, 100), 0.1 + math.sqrt((5 + LN20 + math.log(100)) / 199)),
    (b.rademacher_error_bound(0.1, 0.2, 50), 0.5 + 5 * math.sqrt(math.log(40) / 100)),
    (b.rademacher_margin_bound(0.9, 0.2, 50), 0.5 - 6 * math.sqrt(math.log(40) / 100)),
    (b.rademacher_mmv_bound(0.9, 0.2, 0.1, 50), -0.5 - 22 * math.sqrt(math.log(60) / 100)),
    (b.pac_bayes_margin_bound(0.9, 3, 102), 0.9 - math.sqrt((3 + math.log(2040)) / 50)),
    (b.pac_bayes_mmv_bound(0.9, 3, 180), 0.9 - math.sqrt((6 + math.log(400)) / 9)),
    (b.repository_margin_bound(0.9, 8, 100), 0.9 - math.sqrt(math.log(320) / 50)),
    (b.repository_margin_bound(0.9, 8, 100, p=2), 0.9 - math.sqrt(8 * math.log(320) / 50)),
    (b.repository_mmv_bound(0.9, 8, 100), 0.9 - math.sqrt(0.18 * (2 * math.log(16) + LN20))),
]
EVERY = pytest.mark.parametrize("bound", SAMPLED.values(), ids=SAMPLED.keys())
SUMS = [name for name in SAMPLED if name != "prefix"]


@pytest.mark.parametrize(("bound", "figure"), WORKED)
def test_figures_worked_by_hand(bound, figure):
    """Each formula with numbers put in, at delta = 0.05."""
    assert bound.raw == pytest.approx(figure, rel=1e-12)


@EVERY
def test_a_smaller_delta_never_tightens(bound):
    """Halving delta never lowers an upper bound and never raises a lower one (I3)."""
    for n in (1, 5, 40, 1000, 10**6):
        raws = [bound(n, 0.8 * 0.5**i).raw for i in range(40)]
        if bound(n, 0.1).side == "lower":
            raws = [-raw for raw in raws]
        assert raws == sorted(raws)


@EVERY
def test_more_rows_never_loosen(bound):
    """With the figures as they are, ten times as many rows give a better bound."""
    raws = [bound(n, 0.05).raw for n in (50, 500, 5000, 50000, 500000)]
    assert raws == sorted(raws, reverse=bound(50, 0.05).side == "upper")


@EVERY
def test_values_stay_in_range(bound):
    """The value lies within the limits for one row and for many, and only clips (I9)."""
    for n in (1, 2, 3, 18, 19, 100, 10**9):
        record = bound(n, 1e-12)
        low, high = record.limits
        assert low <= record.value <= high
        assert record.value == min(max(record.raw, low), high)


@EVERY
def test_no_rows_prove_nothing(bound):
    """Without rows the bound is the end of the range and no certificate."""
    record = bound(0, 0.05)
    assert record.vacuous
    assert not record.certified
    assert "rows, not 0" in " ".join(record.reasons)


@EVERY
@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_delta_is_a_probability(bound, delta):
    """Anything outside (0, 1) is refused by name."""
    with pytest.raises(ValueError, match="delta"):
        bound(10, delta)


@EVERY
@pytest.mark.parametrize("n", [-5, 2.5, math.nan])
def test_rows_are_counted(bound, n):
    """Negative, fractional and unknown numbers of rows are refused by name."""
    with pytest.raises(ValueError, match=r"n must|errors must"):
        bound(n, 0.05)


@pytest.mark.parametrize("name", SUMS)
def test_terms_are_the_summands(name):
    """The terms add up to the unclipped bound."""
    record = SAMPLED[name](2000, 0.05)
    assert math.fsum(record.terms.values()) == pytest.approx(record.raw, rel=1e-12)


@EVERY
def test_the_text_says_what_is_covered(bound):
    """Quantity, side, delta, rows and assumptions are all in the text."""
    record = bound(3000, 0.01)
    text = str(record)
    assert text.startswith(f"{record.quantity} {'<=' if record.side == 'upper' else '>='} ")
    assert "probability at least 1 - 0.01, n = 3000, provided that " in text
    assert all(assumption in text for assumption in record.assumptions)
    assert ("vacuous" in text) == record.vacuous
    assert ("not a certificate" in text) == (not record.certified)


def test_a_vacuous_bound_says_so():
    """The end of the range is called vacuous, with the figure before clipping."""
    text = str(b.hoeffding_bound(3, 4, 0.05))
    assert text.startswith("error <= 1 (vacuous: it says nothing; unclipped 1.362)")
    assert "vacuous" not in str(b.hoeffding_bound(3, 400, 0.05))
    assert "(vacuous: it says nothing)" in str(b.held_out_bound(4, 4))


def test_text_rounds_to_the_safe_side():
    """Printed digits never promise more than the bound."""
    rng = np.random.default_rng(0)
    for raw in rng.random(200) * 10.0 ** -rng.integers(0, 9, 200):
        upper = str(state_bound(ERROR, raw, {})).split("<= ")[1]
        lower = str(state_bound(Quantity("success", "lower"), raw, {})).split(">= ")[1]
        assert float(lower) <= raw <= float(upper)
        assert float(upper) - float(lower) <= 1e-3 * raw


def test_doubts_take_the_certificate_away():
    """A caller's reason is added, figures stay, and no reason changes nothing."""
    record = b.held_out_bound(3, 100)
    doubted = record.doubt("bins were fitted on the same rows")
    assert (record.certified, doubted.certified) == (True, False)
    assert (doubted.value, doubted.raw) == (record.value, record.raw)
    assert "not a certificate: bins were fitted on the same rows" in str(doubted)
    assert record.doubt() == record
    assert not doubted.doubt().certified


def test_a_record_is_frozen_and_plain():
    """It cannot be changed, and numpy numbers in give plain numbers out."""
    record = b.pac_bayes_kl(np.float64(0.1), np.float32(2.0), np.int64(100), np.float64(0.05))
    with pytest.raises(FrozenInstanceError):
        record.value = 0.0
    figures = asdict(record)
    assert {type(figures[key]) for key in ("value", "raw", "delta")} == {float}
    assert type(figures["n"]) is int
