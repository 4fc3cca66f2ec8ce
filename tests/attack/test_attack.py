"""A fixed small part of the attack, and defects planted in the library that it must find."""

import gzip
import os
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from attack import (
    data_files,
    databases,
    dates,
    derived_models,
    exports,
    fits,
    limits,
    model_files,
    pages,
    postgres,
    randoms,
    readers,
    sizes,
    soak,
    tables,
    weights,
)
from attack.attacks import ATTACKS
from attack.attempts import Note, attempted
from attack.harness import hammer, seeds_from
from budget import is_full
from rulewright.data import read_table
from rulewright.estimators.contract import base
from rulewright.model import load_model
from rulewright.programs.parity import adversarial_rows
from rulewright.programs.target import CannotRunError
from rulewright.programs.targets import TARGETS


@pytest.fixture
def no_postgres(monkeypatch):
    """Leave out the server: it takes seconds to start."""

    def refuse(write, program, rows):
        raise CannotRunError("not here")

    monkeypatch.setattr(postgres, "run", refuse)


@pytest.mark.usefixtures("no_postgres")
@pytest.mark.parametrize(
    ("module", "seeds"),
    [
        *((model_files, 3), (derived_models, 2), (data_files, 4), (databases, 4), (readers, 1)),
        *((exports, 2), (dates, 1), (pages, 4), (weights, 2)),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_nothing_is_found(module, seeds, tmp_path):
    """A few seeds of the attacks that need no process of their own."""
    for seed in range(seeds if is_full else 1):
        folder = tmp_path / str(seed)
        folder.mkdir()
        report = attempted(module.attempt, seed, folder)
        assert report.tries > 0
        assert report.findings == []


@pytest.mark.parametrize("name", ["saving", "kernels"])
def test_nothing_is_found_in_workers(name):
    """A seed of the attacks that need a process of their own."""
    result = hammer(ATTACKS[name], seeds_from(0, 1))
    assert result.tries > 10
    assert result.findings == []


def test_weights_that_nobody_scales_are_found(monkeypatch):
    """Sums of huge weights overflow in a learner that promises nothing about them."""
    monkeypatch.setattr(base, "scale_weights", lambda rows, told: rows)
    rng = np.random.default_rng(0)
    with pytest.raises(ArithmeticError, match="overflow"):
        weights._scaled(rng, "compact-regressor", *fits.rows(rng, 60), np.full(60, 1e300))


def test_a_table_that_is_too_large_is_refused():
    """A refusal is no finding, but the end of memory is."""
    task = {"shape": "columns", "size": 4000, "learner": "sl2", "seed": 1}
    assert sizes.run(task) is None
    assert "MemoryError" in sizes.run({**task, "size": 500, "memory": 2**28})


TASK = {
    "seed": 1,
    "action": "predict",
    "learner": "mlrules",
    "n_rows": 5000,
    "threads": 64,
    "memory": None,
    "user": 45_678,
    "processes": None,
}


@pytest.fixture(scope="module")
def native_stack(tmp_path_factory):
    """Build the library that tells native calls."""
    return {"library": str(limits.native_stack(tmp_path_factory.mktemp("stack")))}


@pytest.mark.full("takes seconds by nature; `make attack` does it for minutes")
@pytest.mark.parametrize(
    "task",
    [{"memory": 1 << 20}, {"threads": 100_000}],
    ids=["memory", "threads"],
)
def test_limits_end_with_a_result_or_an_error(task, native_stack):
    """Little memory and too many threads do not kill the process."""
    assert limits.run(TASK | task | native_stack, {}) is None


@pytest.mark.full("takes seconds by nature; `make attack` does it for minutes")
def test_nothing_piles_up(tmp_path, monkeypatch):
    """A short soak."""
    monkeypatch.setattr(soak, "_WARM_UP", 4)
    monkeypatch.setattr(soak, "_ROUNDS", 9)
    report = attempted(soak.attempt, 1, tmp_path)
    assert report.tries == 10
    assert report.findings == []


def findings(module, folder, seeds=6):
    """Give what an attack finds in a few seeds."""
    found = []
    for seed in range(seeds):
        place = folder / str(seed)
        place.mkdir()
        found += attempted(module.attempt, seed, place).findings
    return found


def test_a_model_file_that_raises_another_error_is_found(tmp_path, monkeypatch):
    """Only a ModelFileError is a refusal."""

    def load(path):
        raise KeyError("planted")

    monkeypatch.setattr(model_files, "load_model", load)
    assert "KeyError: 'planted'" in findings(model_files, tmp_path, 1)[0]


def test_a_model_that_changes_when_it_is_saved_is_found(tmp_path, monkeypatch):
    """What is loaded, saved and loaded again must be the same."""

    def load(path):
        model = load_model(path)
        return model.with_summary({"planted": 1}) if path.name == "again.json" else model

    monkeypatch.setattr(model_files, "load_model", load)
    assert any("differs" in text for text in findings(model_files, tmp_path))


def test_a_reader_that_drops_a_row_is_found(tmp_path, monkeypatch):
    """Tables of all readers are compared in full."""

    def read(X, **options):
        table = read_table(X, **options)
        if str(X).endswith(".tsv"):
            table = table.take(np.arange(table.n_rows - 1))
        return table

    monkeypatch.setattr(readers, "read_table", read)
    assert any("tsv: the shape differs" in text for text in findings(readers, tmp_path, 1))


def test_a_reader_that_raises_another_error_is_found(tmp_path, monkeypatch):
    """Only a DataError is a refusal of a data file."""

    def read(X, **options):
        raise EOFError("planted")

    path = tables.write(tmp_path, {"a": [1.0]}, "csv")
    monkeypatch.setattr(data_files, "read_table", read)
    assert "EOFError: planted" in data_files.read_well(path)


def test_a_slow_reader_is_found(tmp_path, monkeypatch):
    """A small file that takes seconds of the processor is a finding."""

    def read(X, **options):
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
        return read_table(X, **options)

    path = tables.write(tmp_path, {"a": [1.0]}, "jsonl")
    monkeypatch.setattr(data_files, "_SECONDS", 0.04)
    monkeypatch.setattr(data_files, "read_table", read)
    assert "processor time" in data_files.read_well(path)


def test_a_changed_table_from_a_checksummed_file_is_found(tmp_path):
    """A damaged gzip file must not be read as another table."""
    path = tables.write(tmp_path, {"a": [1.0, 2.0]}, "csv.gz")
    whole = read_table(path)
    assert data_files.read_well(path, whole) is None
    path.write_bytes(gzip.compress(b"a\n1.0\n3.0\n"))
    assert "the table differs" in data_files.read_well(path, whole)


@pytest.mark.parametrize(
    ("field", "text"), [("label", "label"), ("scores", "scores"), ("probabilities", "probab")]
)
def test_an_export_that_answers_wrongly_is_found(field, text):
    """One wrong label, score or probability of one row is found."""
    model, target = randoms.additive(np.random.default_rng(1)), TARGETS["python"]
    assert len(model.classes) > 1
    rows = adversarial_rows(model.program)

    def run(write, program, rows):
        answers, notes = target.runners["python"](write, program, rows)
        values = model.classes[0].item(), answers[7].scores[::-1], [0.5, *[0.0] * 9]
        wrong = dict(zip(("label", "scores", "probabilities"), values, strict=True))[field]
        if field == "label" and answers[7].label == wrong:
            wrong = model.classes[1].item()
        if field == "probabilities":
            wrong = [chance + 1e-9 for chance in answers[7].probabilities]
        answers[7] = answers[7]._replace(**{field: wrong})
        return answers, notes

    assert exports.compared(model, rows, "planted", run, target.write).startswith(
        f"planted gives {text}"
    )


def test_a_database_that_is_read_wrongly_is_found(tmp_path, monkeypatch):
    """Another table, another file and another error are findings."""
    path = tmp_path / "x.duckdb"
    databases._write(np.random.default_rng(0), path, {"n": [1.0, 2.0]}, tmp_path / "secret.txt")
    assert databases.read_well(path, {"n": [1.0, 2.0]}) is None
    assert "a table of a database differs" in databases.read_well(path, {"n": [1.0, 3.0]})
    path.write_bytes(path.read_bytes()[:9000])
    assert databases.read_well(path) is None
    assert "a whole database is refused" in databases.read_well(path, {"n": [1.0]})

    def read(path):
        raise EOFError("planted")

    monkeypatch.setattr(databases, "database_tables", read)
    assert "EOFError: planted" in databases.read_well(path)


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<p>&lt;harmful&gt;</p><script>x < 3</script>", None),
        ("<p><harmful></p>", "made the tag '<harmful>'"),
        ('<p a="" harmful="">', "made the tag"),
        ("<script>a = '</script><harmful>'</script>", "made the tag"),
        ("<script>a = '<!--<script>'</script>", "a script has a comment"),
    ],
)
def test_tags_of_the_data_are_found(page, found):
    """A tag, an attribute, and what hides the end of a script."""
    told = pages.find_injected(page)
    assert told is found is None or found in told


def test_a_page_that_does_not_escape_is_found(tmp_path, monkeypatch):
    """Every page of a random model is read."""
    monkeypatch.setattr(pages, "report_html", lambda *given, title: "<p><harmful></p>")
    assert "report: the data made the tag" in findings(pages, tmp_path, 1)[0]


def test_a_model_that_asks_for_much_is_found(tmp_path, monkeypatch):
    """Time is limited, and only clear errors are refusals."""
    path, rows = tmp_path / "m.json", derived_models._calls()
    derived_models._learned(True).save(path)
    assert derived_models.asks_little(path, load_model, rows) is None
    monkeypatch.setattr(derived_models, "_SECONDS", 0.0)
    assert "processor time" in derived_models.asks_little(path, load_model, rows)

    def load(path):
        raise KeyError("planted")

    assert "KeyError: 'planted'" in derived_models.asks_little(path, load, rows)


def test_an_export_that_cannot_run_is_a_note(no_postgres):
    """Without a server the summary says so, and nothing fails."""
    model = randoms.additive(np.random.default_rng(1))
    found = exports.compared(model, {}, "postgres", postgres.run, None)
    assert found == Note("not here")


def test_a_step_that_fails_on_weights_is_found(tmp_path, monkeypatch):
    """Only a ValueError is a refusal of weights."""

    def fail(*arguments, **options):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(weights, "calibrate", fail)
    assert any("ZeroDivisionError: planted" in text for text in findings(weights, tmp_path, 1))


@pytest.mark.full("takes seconds by nature; `make attack` does it for minutes")
def test_a_torn_file_is_found():
    """A writer in place is killed before it is done."""
    attack = replace(ATTACKS["saving"], target="planted_library:torn_saves")
    # Whether a kill hits a write depends on the load of the machine: a few seeds may miss.
    found = (hammer(attack, seeds_from(first, 2)).findings for first in range(0, 20, 2))
    assert any("ModelFileError" in what for findings in found for _, what in findings)


def test_a_wrong_kernel_is_found():
    """A kernel that differs from its twin fails its property test."""
    attack = replace(ATTACKS["kernels"], target="planted_library:wrong_kernel")
    [(_, found)] = hammer(attack, seeds_from(0, 1)).findings
    assert "test_draws_equal_the_twin" in found


def test_a_process_that_ends_under_limits_is_found():
    """Any exit code but 0 is a finding."""
    assert "ended with code 1" in limits.run(TASK | {"action": "no such action"}, {})


def test_a_crash_tells_its_native_calls(native_stack):
    """A crash names the libraries it went through, and is not blamed on NumPy."""
    code = f"""
import ctypes, faulthandler, numpy
faulthandler.enable()
ctypes.CDLL({native_stack["library"]!r}).install()
ctypes.string_at(1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert done.returncode < 0
    assert b"_ctypes" in done.stderr.partition(b"native calls, innermost first:")[2]
    assert b"most recent call first" in done.stderr
    assert not limits.in_numpy(done.stderr)


@pytest.mark.parametrize(("caller", "others"), [("numpy/_core/_m.so", True), ("_core.so", False)])
def test_only_crashes_in_numpy_are_numpys(caller, others):
    """The innermost library but Python's own decides."""
    calls = ["/libnative_stack.so(+1)", "/libc.so.6(+2)", "/libpython3.11.so(+3)"]
    calls += [f"/site-packages/{caller}(+4)", "/site-packages/numpy/x.so(+5)"]
    text = "\n".join(["native calls, innermost first:", *calls])
    assert limits.in_numpy(text.encode()) == others


@pytest.mark.full("takes seconds by nature; `make attack` does it for minutes")
def test_a_leak_is_found(tmp_path, monkeypatch):
    """A descriptor for each round is a trend."""
    opened = []
    monkeypatch.setattr(soak, "_WARM_UP", 1)
    monkeypatch.setattr(soak, "_ROUNDS", 6)
    monkeypatch.setattr(soak, "_round", lambda *arguments: opened.append(os.dup(0)))
    found = findings(soak, tmp_path, 1)
    for descriptor in opened:
        os.close(descriptor)
    assert "descriptors grew" in found[0]


def test_growth_is_told_from_noise():
    """Memory that comes and goes is no trend; memory that only comes is one."""
    noise = [soak.Held(10**8 + i % 2 * 10**8, 5, 3) for i in range(30)]
    trend = [soak.Held(10**8 + i * 10**6, 5, 3) for i in range(30)]
    assert soak.growth(noise) is None
    assert "memory grew" in soak.growth(trend)


@pytest.mark.parametrize("make", [randoms.additive, randoms.dnf, randoms.votes])
def test_random_models_use_every_kind_of_column(make):
    """Random models have rules on numbers, text, numeric labels and Booleans."""
    models = [make(np.random.default_rng(seed)) for seed in range(40)]
    used = [
        (model.schema[name].kind, model.schema[name].label_type)
        for model in models
        for name in model.columns
    ]
    assert {("numeric", "string"), ("nominal", "string")} < set(used)
    assert {("nominal", "number"), ("nominal", "boolean")} < set(used)
    assert len({len(model.classes) for model in models}) >= 3
