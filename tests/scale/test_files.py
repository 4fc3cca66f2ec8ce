"""Fits on Parquet files in parts: the model of the same rows in memory, and nothing left behind."""

import errno

import numpy as np
import pytest

from rulewright import MLRulesClassifier
from rulewright.data import DataError
from rulewright.scale import fit_partitions
from scale.tables import content_hash, mixed_table, parted


def learner(**settings):
    return MLRulesClassifier(max_rules=6, random_state=0, **settings)


def stored(frame, folder, n_parts, seed=None):
    folder.mkdir()
    for place, part in enumerate(parted(frame, n_parts, seed)):
        part.to_parquet(folder / f"{place}.parquet", index=False)
    return str(folder / "*.parquet")


def test_files_give_the_model_of_parts_in_memory(tmp_path):
    """Neither the number of files nor the rows read at once matter; the codes are removed."""
    frame, kept = mixed_table(), tmp_path / "kept"
    kept.mkdir()
    expected = content_hash(fit_partitions(learner(), [frame], "y").model_, tmp_path)
    for n_files, n_rows in ((1, 100), (3, 500)):
        files = stored(frame, tmp_path / f"{n_files}", n_files, seed=n_files)
        est = fit_partitions(learner(n_jobs=2), files, "y", rows_per_part=n_rows, folder=kept)
        assert content_hash(est.model_, tmp_path) == expected
        assert not list(kept.iterdir())
    assert list(est.feature_names_in_) == [name for name in frame if name != "y"]
    assert set(est.predict(frame)) <= {"no", "yes"}


def test_a_full_disk_is_an_error_that_leaves_nothing(tmp_path, monkeypatch):
    """Codes are written before they are mapped, so that the process is not ended."""
    files = stored(mixed_table(), tmp_path / "data", 2)
    kept = tmp_path / "kept"
    kept.mkdir()

    def full(codes, file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("rulewright.scale.parts.write_codes", full)
    with pytest.raises(DataError, match=r"the disk is full: .* Choose another folder"):
        fit_partitions(learner(), files, "y", folder=kept)
    assert not list(kept.iterdir())


def test_an_interrupt_leaves_nothing(tmp_path, monkeypatch):
    """Ctrl-C in the middle of a fit removes the codes."""
    files = stored(mixed_table(), tmp_path / "data", 2)
    kept = tmp_path / "kept"
    kept.mkdir()

    def interrupted(*args):
        assert list(kept.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr("rulewright.scale.questions.sum_covered", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit_partitions(learner(), files, "y", folder=kept)
    assert not list(kept.iterdir())


def test_files_that_differ_are_named_with_the_column(tmp_path):
    """The error names the column and the two places."""
    frame = mixed_table()
    files = stored(frame, tmp_path / "data", 2)
    other = frame.assign(x0=frame["x0"].astype(str))
    other.to_parquet(tmp_path / "data" / "2.parquet", index=False)
    with pytest.raises(DataError, match=r"column 'x0' holds numeric .*0\.parquet.*2\.parquet"):
        fit_partitions(learner(), files, "y")
    frame.drop(columns="x2").to_parquet(tmp_path / "data" / "2.parquet", index=False)
    with pytest.raises(DataError, match=r"2\.parquet.* has no column 'x2'"):
        fit_partitions(learner(), files, "y")


def test_what_cannot_be_read_in_parts_is_refused(tmp_path):
    """Other formats, missing files, targets beside files and wrong numbers have errors."""
    (tmp_path / "rows.csv").write_text("x,y\n1,a\n2,b\n")
    with pytest.raises(DataError, match="only Parquet files"):
        fit_partitions(learner(), tmp_path / "rows.csv", "y")
    with pytest.raises(DataError, match="no file matches"):
        fit_partitions(learner(), tmp_path / "*.parquet", "y")
    files = stored(mixed_table(60), tmp_path / "data", 1)
    with pytest.raises(DataError, match="y: name a column if X is files"):
        fit_partitions(learner(), files, np.zeros(60))
    with pytest.raises(ValueError, match="rows_per_part=0 must be a whole number >= 1"):
        fit_partitions(learner(), files, "y", rows_per_part=0)
