import gzip
import os
from pathlib import Path

import pytest

from rulewright import load_model
from rulewright.cli.output import STDOUT, check_output, open_output


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_the_file_appears_when_all_is_written(tmp_path, name):
    """Until the end the name is free, then the file is whole."""
    path = tmp_path / name
    with open_output(path) as stream:
        stream.write("héllo\n")
        assert not path.exists()
    data = path.read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data).decode() == "héllo\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_when_writing_fails(tmp_path, error):
    """An older file stays as it was, and no other file is left."""
    path = tmp_path / "a.csv"
    path.write_text("older")

    def fail():
        with open_output(path) as stream:
            stream.write("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path):
    """The file behind a link is replaced, not the link."""
    path, link = tmp_path / "a.csv", tmp_path / "link.csv"
    path.write_text("older")
    link.symlink_to(path)
    with open_output(link) as stream:
        stream.write("newer")
    assert link.is_symlink()
    assert path.read_text() == "newer"


def test_standard_output(capsys):
    """A dash is standard output."""
    with open_output(STDOUT) as stream:
        stream.write("text")
    assert capsys.readouterr().out == "text"


def test_devices_and_folders_are_refused(tmp_path, model):
    """Only regular files are replaced: never a device, never a folder."""
    for path in (tmp_path, Path(os.devnull)):
        with pytest.raises(ValueError, match="not a regular file"):
            check_output(path, "-o")
        with pytest.raises(ValueError, match=f"{path}: this is not a regular file"):
            load_model(model).save(path)
    with pytest.raises(ValueError, match=r"-o .*: the folder .* does not exist"):
        check_output(tmp_path / "no" / "a.csv", "-o")
