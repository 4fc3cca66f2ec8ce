"""Files are replaced whole, with their permissions, and nothing is left behind."""

import signal
import stat
import subprocess
import sys

import pytest

from rulewright.data.writing import replace_file, replacing

KILLED = """
import os, signal, sys
from rulewright.data.writing import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_permissions_stay(tmp_path, mode):
    """A replaced file has the permissions it had, whatever the mask of the process."""
    path = tmp_path / "a"
    path.write_bytes(b"older")
    path.chmod(mode)
    replace_file(path, b"newer")
    assert path.read_bytes() == b"newer"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path):
    """A writer that is killed leaves the old file and a temporary one, which the next removes."""
    path = tmp_path / "a"
    path.write_bytes(b"older")
    result = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert result.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"older"
    assert len(list(tmp_path.iterdir())) == 2
    replace_file(path, b"newer")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a": b"newer"}


def test_writers_leave_each_other_and_other_files_alone(tmp_path):
    """Only remains of the same file are removed: not those in use, nor files of similar names."""
    path = tmp_path / "a"
    others = [tmp_path / name for name in ("a.tmp", "ab.0123456789abcdef.tmp", "a.0123.tmp")]
    for other in others:
        other.write_bytes(b"mine")
    with replacing(path) as outer:
        outer.write(b"outer")
        replace_file(path, b"inner")
        assert path.read_bytes() == b"inner"
    assert path.read_bytes() == b"outer"
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


def test_an_error_leaves_the_old_file(tmp_path):
    """Where writing fails the old file stays, and nothing else."""
    path = tmp_path / "a"
    path.write_bytes(b"older")
    with pytest.raises(TypeError), replacing(path) as file:
        file.write("text")  # type: ignore[arg-type]
    assert path.read_bytes() == b"older"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    """The error names the file that was asked for and the folder, not the temporary file."""
    path = tmp_path / "nowhere" / "model.json"
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist") as error:
        replace_file(path, b"data")
    assert error.value.filename == str(path)
