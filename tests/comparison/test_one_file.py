"""What reading costs, from records that are made up."""

import numpy as np
import pytest

from rulewright.comparison.one_file import file_report, fold_errors, price_of_reading
from rulewright.comparison.statistics import corrected_resampled_t, holm


def record(learner, fold, error, rules=None, status="ok"):
    sizes = {} if rules is None else {"rules": float(rules), "conditions": 2.0 * rules}
    about = {"learner": learner, "set": "mine", "repeat": 0, "fold": fold, "status": status}
    if status != "ok":
        return about | {"problem": "broke"}
    return about | {"error": error, "n_train": 90, "n_test": 10, **sizes}


def records(**errors):
    sizes = {"compact": 8, "ripper": 3, "mlrules": 150}
    return [
        record(learner, fold, error, sizes.get(learner))
        for learner, of_folds in errors.items()
        for fold, error in enumerate(of_folds)
    ]


FEW = [0.21, 0.25, 0.20, 0.18]
BEST = [0.19, 0.24, 0.21, 0.176]


def test_the_price_in_one_sentence():
    """The best readable model is set against the best of the others, by a test of the folds."""
    made = records(compact=FEW, ripper=[0.3] * 4, mlrules=[0.22] * 4, lightgbm=BEST)
    names = ["compact", "ripper", "mlrules", "lightgbm"]
    price = price_of_reading(made, "mine", names)
    assert (price.readable, price.rival, price.rules) == ("compact", "lightgbm", 8)
    others = ([0.3] * 4, [0.22] * 4, BEST)
    raw = [corrected_resampled_t(np.subtract(FEW, b), 90, 10).p_value for b in others]
    assert price.p_value == pytest.approx(holm(raw)[2])
    assert price.text == (
        "8 rules (compact) err on 21.0 % of the held-out rows, LightGBM on 20.4 %: readability "
        f"costs 0.6 points, not significant (p = {price.p_value:.3f}, Holm-corrected)."
    )


def test_p_values_stand_beside_their_correction():
    """Each line has the p-value of its test and the one corrected by Holm's method."""
    made = records(compact=FEW, ripper=[0.3, 0.31, 0.3, 0.28], mlrules=[0.22] * 4, hgb=BEST)
    names = ["compact", "ripper", "mlrules", "hgb"]
    rows = file_report("n", "t", [], made, ["mine"], names).grids[1].rows
    raw, corrected = ([row[place] for row in rows] for place in (-2, -1))
    others = ([0.3, 0.31, 0.3, 0.28], [0.22] * 4, BEST)
    expected = [corrected_resampled_t(np.subtract(FEW, b), 90, 10).p_value for b in others]
    assert raw == pytest.approx(expected)
    assert corrected == pytest.approx(holm(raw))
    assert len(set(corrected)) < len(set(raw))


@pytest.mark.parametrize(
    ("shift", "text"),
    [
        (0.1, "readability costs 10.0 points, significant (p < 0.001, Holm-corrected)."),
        (0.0, "readability costs nothing, not significant (p = 1.000, Holm-corrected)."),
        (-0.05, "(5.0 points fewer errors), significant (p < 0.001, Holm-corrected)."),
    ],
)
def test_large_and_small_prices(shift, text):
    """A price may be large, nothing, or a gain."""
    uneven = np.array([0, 1e-5 * bool(shift), 0, 0])
    made = records(compact=np.add(BEST, shift) + uneven, hgb=BEST)
    assert price_of_reading(made, "mine", ["compact", "hgb"]).text.endswith(text)


def test_without_few_rules_the_fewest_are_read():
    """Where no model is small, the one with the fewest rules is taken; one without has no price."""
    made = records(mlrules=FEW, hgb=BEST)
    assert price_of_reading(made, "mine", ["mlrules", "hgb"]).readable == "mlrules"
    assert price_of_reading(records(forest=FEW, hgb=BEST), "mine", ["forest", "hgb"]) is None
    assert price_of_reading(records(compact=FEW), "mine", ["compact"]) is None


def test_a_learner_that_failed_has_no_rank():
    """The others are ranked and tested; the failure is listed."""
    made = records(compact=FEW, hgb=BEST, forest=FEW[:3])
    made.append(record("forest", 3, None, status="error"))
    names = ["compact", "hgb", "forest"]
    assert np.isnan(fold_errors(made, names)[3, 2])
    report = file_report("n", "t", [], made, ["mine"], names)
    ranks = {row[0]: row[2] for row in report.grids[0].rows}
    assert ranks == {"hgb": 1.25, "compact": 1.75, "forest": None}
    assert [row[0] for row in report.grids[1].rows] == ["hgb"]
    assert report.grids[1].head[-2:] == ["p", "p (Holm)"]
    assert report.failure_lines() == ["forest on mine: broke (1 trials)"]
