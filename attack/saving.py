"""Kill processes and fill disks while files are saved: the old or the new one is there, whole."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from attack import randoms
from attack.attempts import Note, Outcome, death, patience
from attack.randoms import pick
from rulewright.cli.predict import predict
from rulewright.model import AdditiveRules, RuleModel, load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from attack.randoms import Rng

_KILLS = 8
_START = 20.0
_NEW_MOUNTS, _PRIVATE = 0x20000, 0x44000
_NO_MOUNT = 77
_PROGRAM = "from rulewright.cli.main import main; main()"
_ENDED = (0, 128 + signal.SIGTERM, -signal.SIGTERM)


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Save models and predictions under kills, then on full disks."""
    models = [_long(randoms.model(rng)) for _ in range(2)]
    for turn in range(_KILLS):
        yield _killed_model(rng, models, folder / f"kill{turn}")
    for turn in range(_KILLS // 2):
        yield _killed_predictions(rng, folder / f"predict{turn}")
    yield _terminated_fit(rng, folder / "parts")
    for full in (_limited, _mounted):
        yield _full(rng, models, folder / full.__name__, full)


def _long(model: RuleModel) -> RuleModel:
    """Return a model whose file has several blocks."""
    return model.with_summary({"notes": ["long"] * 20_000})


def _killed_model(rng: Rng, models: list[RuleModel], folder: Path) -> Outcome:
    """Kill a process that saves two models in turn; then one of them is there."""
    folder.mkdir()
    path = folder / "model.json"
    models[0].save(path)

    def save() -> None:
        for turn in range(10**6):
            models[turn % 2].save(path)

    _kill(save, rng)
    if load_model(path) not in models:
        return "after a kill the file holds neither model"
    models[0].save(path)
    return _leftovers(folder, path)


def _killed_predictions(rng: Rng, folder: Path) -> Outcome:
    """Kill a process that writes predictions; then they are whole."""
    folder.mkdir()
    model, rows, output = folder / "model.json", folder / "rows.jsonl", folder / "out.csv"
    made = randoms.additive(np.random.default_rng(5))
    AdditiveRules(made.schema, made.classes, made.intercepts, ()).save(model)
    rows.write_text('{"a": 1}\n' * 3000)
    predict(model, rows, output)
    whole = output.read_bytes()

    def save() -> None:
        while True:
            predict(model, rows, output)

    _kill(save, rng)
    if output.read_bytes() != whole:
        return "after a kill the predictions are torn"
    predict(model, rows, output)
    return _leftovers(folder, model, rows, output)


def _terminated_fit(rng: Rng, folder: Path) -> Outcome:
    """Terminate a fit on parts of a file: its temporary folder is gone."""
    place, file = folder / "temporary", folder / "rows.parquet"
    place.mkdir(parents=True)
    x = np.arange(20_000.0)
    pa.parquet.write_table(pa.table({"x": x, "y": x.astype(int) * 7919 % 1009 % 2}), file)
    command = [sys.executable, "-c", _PROGRAM, "learn", str(file), "--target", "y", "--in-parts"]
    environment = {**os.environ, "TMPDIR": str(place)}
    with subprocess.Popen(
        [*command, "--set", "max_rules=100000"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        end = time.monotonic() + patience(_START)
        while not any(place.iterdir()) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(float(rng.exponential(0.3)))
        process.terminate()
        _, told = process.communicate()
    if process.returncode not in _ENDED:
        return f"{death(process.returncode)} after SIGTERM: {told[-400:]!r}"
    return _leftovers(place)


def _full(
    rng: Rng, models: list[RuleModel], folder: Path, full: Callable[[Path, int], None]
) -> Outcome:
    """Save on a full disk: an OSError, the older file stays and no other is left."""
    folder.mkdir()

    def save() -> None:
        size = int(pick(rng, (1, 4096, 50_000, 200_000)))
        full(folder, size)
        path = folder / "model.json"
        with contextlib.suppress(OSError):
            small.save(path)
        before = path.read_bytes() if path.exists() else None
        try:
            models[0].save(path)
        except OSError:
            if before is not None and path.read_bytes() != before:
                raise AssertionError("a save that failed changed the file") from None
        else:
            assert load_model(path) == models[0]
        if found := _leftovers(folder, path):
            raise AssertionError(found)

    small = models[1].with_summary({})
    code, text = _child(save)
    if code == _NO_MOUNT:
        return Note("no small disk could be mounted here")
    return None if code == 0 else f"{full.__name__}: {text}"


def _limited(folder: Path, size: int) -> None:
    """Let writes beyond a size fail."""
    sys.dont_write_bytecode = True  # what Python compiles would be cut off too
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _mounted(folder: Path, size: int) -> None:
    """Put a small disk of this process's own on the folder."""
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"size={max(size, 4096)}".encode()
    done = (
        libc.unshare(_NEW_MOUNTS) == 0
        and libc.mount(b"none", b"/", None, _PRIVATE, None) == 0
        and libc.mount(b"tmpfs", bytes(folder), b"tmpfs", 0, options) == 0
    )
    if not done:
        os._exit(_NO_MOUNT)


def _kill(action: Callable[[], None], rng: Rng) -> None:
    """Run an action in a process of its own and kill it at a random moment."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            action()
        os._exit(1)
    time.sleep(float(rng.exponential(0.02)))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _child(action: Callable[[], None]) -> tuple[int, str]:
    """Run an action in a process of its own; give its exit code and what it raised."""
    with tempfile.TemporaryFile("w+") as told:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                action()
                code = 0
            except BaseException:
                with contextlib.suppress(OSError):
                    os.write(told.fileno(), traceback.format_exc()[-800:].encode())
            os._exit(code)
        _, status = os.waitpid(child, 0)
        told.seek(0)
        return os.waitstatus_to_exitcode(status), told.read()


def _leftovers(folder: Path, *expected: Path) -> str | None:
    left = sorted({path.name for path in folder.iterdir()} - {path.name for path in expected})
    return f"temporary files are left: {left}" if left else None
