"""Helpers for the tests of the data room."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rulewright.data import Table


def _assert_same(left: Table, right: Table) -> None:
    assert left.schema == right.schema
    assert len(left) == len(right)
    for ours, theirs in zip(left.columns, right.columns, strict=True):
        assert ours.values.dtype == theirs.values.dtype
        np.testing.assert_array_equal(ours.values, theirs.values)
    assert (left.target is None) == (right.target is None)
    if left.target is not None and right.target is not None:
        np.testing.assert_array_equal(left.target.classes, right.target.classes)
        np.testing.assert_array_equal(left.target.codes, right.target.codes)


@pytest.fixture(scope="session")
def assert_same() -> Callable[[Table, Table], None]:
    """Give the check that two tables are equal in schema and values."""
    return _assert_same


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give one folder for the files of generated tests."""
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], str]:
    """Give a function that writes a file and returns its path."""

    def write_file(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write_file
