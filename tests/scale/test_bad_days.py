"""Parts that are empty, odd or unequal, and settings that partitions do not have."""

import numpy as np
import pytest

from rulewright import Growth, MLRulesClassifier
from rulewright.data import DataError
from rulewright.scale import fit_partitions
from scale.tables import content_hash, mixed_table, parted


def learner(**settings):
    return MLRulesClassifier(max_rules=5, random_state=0, **settings)


def same_model(frame, parts, folder, **settings):
    hashes = [
        content_hash(fit_partitions(learner(**settings), some, "y").model_, folder)
        for some in ([frame], parts)
    ]
    return hashes[0] == hashes[1]


def test_a_part_without_rows_changes_nothing(tmp_path):
    """Empty parts are passed over."""
    frame = mixed_table()
    assert same_model(frame, [frame[:0], *parted(frame, 2), frame[:0]], tmp_path)


def test_a_class_or_a_label_of_one_part_only_is_known_everywhere(tmp_path):
    """Classes and categories that appear late are those of a fit in one part."""
    frame = mixed_table(classes=("a", "b", "c")).sort_values(["y", "color"])
    parts = parted(frame, 3)
    assert len({tuple(sorted(set(part["y"]))) for part in parts}) == 3
    assert same_model(frame, parts, tmp_path)


def test_a_column_may_be_constant_or_missing_in_a_part(tmp_path):
    """Such a part says nothing about the kind of a column."""
    frame = mixed_table()
    frame.loc[:349, "x0"] = 1.0
    frame.loc[:349, ["x1", "color"]] = None
    parts = [frame[:350].astype({"x1": object}), frame[350:]]
    assert same_model(frame, parts, tmp_path)
    parts[0]["color"] = np.nan
    assert same_model(frame, parts, tmp_path)


def test_a_part_that_weighs_nothing_is_left_out():
    """Only rows with a weight count."""
    frame = mixed_table()
    frame["w"] = (np.arange(len(frame)) >= 350).astype(float)
    model = fit_partitions(learner(), parted(frame, 2), "y", "w").model_
    assert model.summary["n_rows"] == 350
    with pytest.raises(DataError, match="nothing to learn from"):
        fit_partitions(learner(), [frame[:350]], "y", "w")


def test_unequal_parts_are_named_with_the_column():
    """The error names the partition, the column and the remedy."""
    first, second = parted(mixed_table(), 2)
    for other, message in (
        (second.assign(x0="a"), "column 'x0' holds numeric values in partition 0 and text in"),
        (second.drop(columns="x2"), "partition 1 has no column 'x2', but others have"),
        (second.assign(extra=1), "partition 0 has no column 'extra', but others have"),
        (second.assign(y=1), "the target holds text in partition 0 and numbers in partition 1"),
        (second.assign(x0=np.inf), "partition 1: .*x0"),
        (second.assign(y=None), "partition 1: .*missing"),
    ):
        with pytest.raises(DataError, match=message):
            fit_partitions(learner(), [first, other], "y")
    with pytest.raises(DataError, match="y has 1 parts, but X has 2"):
        fit_partitions(learner(), [first, second], [first["y"]])


def test_columns_may_come_in_another_order(tmp_path):
    """Rows are the same whatever the order of their columns in a part."""
    frame = mixed_table()
    first, second = parted(frame, 2)
    assert same_model(frame, [first, second[sorted(second)]], tmp_path)


def test_one_class_and_few_rows_are_answered(tmp_path):
    """A single class gives a constant model; fewer than 50 rows are not subsampled."""
    frame = mixed_table(40)
    assert same_model(frame, parted(frame, 3), tmp_path)
    est = fit_partitions(learner(), parted(frame.assign(y="a"), 2), "y")
    assert set(est.predict(frame)) == {"a"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"calibration": "platt"}, "calibrate the fitted model on other rows"),
        ({"warm_start": True}, "warm_start"),
        ({"linear": True}, "CompactRulesClassifier"),
        ({"growth": Growth(prune=True)}, "set prune='prefix' or 'auto'"),
        ({"growth": Growth(other_classes=True)}, "other_classes='auto'"),
        ({"class_weight": {"no": 0.0}}, "above 0"),
        ({"learning_rate": 0.0}, "learning_rate"),
    ],
)
def test_settings_that_partitions_do_not_have_are_refused(settings, message):
    """The error says what to do instead."""
    with pytest.raises(ValueError, match=message):
        fit_partitions(learner(**settings), parted(mixed_table(100), 2), "y")
