"""Where a disk is full nothing is left half-written, and the error names the file."""

import contextlib
import resource
import signal
import sys

import pytest

from rulewright import load_model


@contextlib.contextmanager
def full_disk(n_bytes=600):
    """Let files grow to so many bytes only, as on a disk that is full then."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    compiles, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # it would keep torn files
    try:
        yield
    finally:
        sys.dont_write_bytecode = compiles
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["predict", "MODEL", "FILE", "-o", "OUT"], "out.csv"),
        (["predict", "MODEL", "FILE", "-o", "OUT", "--chunk-rows", 100], "out.csv.gz"),
        (["export", "MODEL", "--to", "sql", "-o", "OUT"], "out.sql"),
        (["report", "MODEL", "-o", "OUT"], "out.html"),
        (["compress", "MODEL", "FILE", "--target", "repaid", "--rules", 5, "-o", "OUT"], "o.json"),
    ],
)
@pytest.mark.parametrize("older", [None, "older"])
def test_commands(cli_failure, model, loans, tmp_path, command, name, older):
    """An older file stays, no part of a new one is left, and the error names the file."""
    out = tmp_path / name
    if older:
        out.write_text(older)
    places = {"MODEL": model, "FILE": loans, "OUT": out}
    args = [places.get(word, word) for word in command]
    with full_disk():
        message = cli_failure(*args)
    assert message == f"{out}: File too large"
    assert [file.name for file in tmp_path.iterdir()] == ([name] if older else [])
    assert not older or out.read_text() == older


def test_models(model, tmp_path):
    """A model is saved whole or not at all."""
    path = tmp_path / "m.json"
    with full_disk(), pytest.raises(OSError, match="File too large") as caught:
        load_model(model).save(path)
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []
    load_model(model).save(path)
    assert load_model(path) == load_model(model)
