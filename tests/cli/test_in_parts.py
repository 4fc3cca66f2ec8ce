"""`learn --in-parts`: the model of `scale.fit_partitions`, judged by other rows."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl

from rulewright import MLRulesClassifier, load_model
from rulewright.scale import fit_partitions
from scale.tables import mixed_table, parted

PROGRAM = [sys.executable, "-c", "from rulewright.cli.main import main; main()"]


def test_learn_in_parts_saves_the_model_of_all_files(cli, tmp_path):
    """Dropped columns stay out, and --test judges."""
    frame = mixed_table()
    frame["id"] = [f"row {k}" for k in range(len(frame))]
    for place, part in enumerate(parted(frame, 3)):
        part.to_parquet(tmp_path / f"{place}.parquet", index=False)
    mixed_table(100, seed=5).to_parquet(tmp_path / "test.pq", index=False)
    files, saved = tmp_path / "*.parquet", tmp_path / "model.json"
    learned = ("learn", files, "--target", "y", "--learner", "mlrules", "--max-rules", 6)
    done = cli(*learned, "--in-parts", "--test", tmp_path / "test.pq", "--model", saved)
    assert done.exit_code == 0, done.output
    assert "the first 234 rows" in done.output
    est = MLRulesClassifier(6, random_state=0)
    assert load_model(saved).rules == fit_partitions(est, [frame], "y", drop=["id"]).model_.rules


def test_what_needs_all_rows_is_refused(cli_failure, tmp_path):
    """The error names the option and what to do instead."""
    mixed_table(60).to_parquet(tmp_path / "a.parquet", index=False)
    for option in (("--cv", 5), ("--holdout", 0.2), ("--drop-unlabelled",), ("--positive", "no")):
        told = cli_failure("learn", tmp_path / "a.parquet", "--target", "y", "--in-parts", *option)
        assert f"{option[0]} needs all rows in memory" in told


def test_a_terminated_fit_leaves_no_folder(tmp_path):
    """SIGTERM ends a fit in parts by its code, and the temporary codes are removed."""
    place, file = tmp_path / "temporary", tmp_path / "a.parquet"
    place.mkdir()
    rng = np.random.default_rng(0)
    pl.DataFrame({"x": rng.normal(size=20_000), "y": rng.integers(0, 2, 20_000)}).write_parquet(
        file
    )
    options = ["--target", "y", "--in-parts", "--set", "max_rules=10000000"]
    command = [*PROGRAM, "learn", str(file), *options]
    environment = {**os.environ, "TMPDIR": str(place)}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as process:
        while not any(place.iterdir()) and process.poll() is None:
            time.sleep(0.05)
        process.terminate()
        assert process.wait(60) == 128 + signal.SIGTERM
    assert list(place.iterdir()) == []
