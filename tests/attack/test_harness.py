"""The harness of the attack: planted defects are found, attributed to their seed and survived."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from attack.__main__ import main, table
from attack.attacks import ATTACKS
from attack.attempts import Attack, patience
from attack.harness import Result, hammer, seeds_from
from attack.page import write_page


def planted(name, count=2, jobs=1, **options):
    """Attempt a few seeds of a planted defect."""
    attack = Attack(name, f"planted:{name}", "planted", **options)
    return hammer(attack, seeds_from(5, count), jobs=jobs)


def test_a_sound_attempt_has_no_findings():
    """Tries and notes are counted; what the library prints is no report."""
    result = planted("sound", jobs=2)
    assert (result.seeds, result.tries, result.findings) == (2, 6, [])
    assert result.notes == {"nothing is planted here"}


def test_findings_name_their_seed():
    """Every seed has its findings, the same in every run, and those of one kind are grouped."""
    result = planted("finding")
    assert [seed for seed, _ in result.findings] == [5, 6]
    assert result.findings == planted("finding").findings
    assert result.tries == 4
    assert [len(found) for found in result.kinds().values()] == [2]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("error", "try 2: ZeroDivisionError: planted"),
        ("crash", "the process died of SIGSEGV\nlast words"),
        ("leave", "the process ended with code 3"),
    ],
)
def test_errors_and_crashes_are_findings(name, text):
    """An attempt that fails is a finding with what was printed last, and the next seed runs."""
    result = planted(name)
    assert [seed for seed, _ in result.findings] == [5, 6]
    assert all(text in found for _, found in result.findings)


def test_a_hang_is_a_finding(monkeypatch):
    """An attempt without end is killed, and the place where it hung is told."""
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
    began = time.monotonic()
    result = planted("hang", count=1, timeout=1.0)
    assert time.monotonic() - began < 10.0
    [(seed, found)] = result.findings
    assert seed == 5
    assert "no end within 1 s" in found
    assert "in hang" in found


def test_a_busy_machine_gets_more_time(monkeypatch):
    """Work takes longer where other work runs."""
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
    assert patience(3.0) == 3.0
    monkeypatch.setattr("os.getloadavg", lambda: (1000.0, 0.0, 0.0))
    assert patience(3.0) > 30.0


def test_no_attempt_begins_after_the_deadline():
    """Time is bounded."""
    attack = Attack("sound", "planted:sound", "planted")
    assert hammer(attack, seeds_from(0), deadline=time.monotonic()).seeds == 0


def test_the_command_repeats_a_seed_and_writes_a_summary(tmp_path, monkeypatch, capsys):
    """One seed of one attack by name: how to repeat is printed, findings end with code 1."""
    attack = replace(ATTACKS["weights"], name="weights", target="planted:finding")
    monkeypatch.setitem(ATTACKS, "weights", attack)
    output = tmp_path / "build" / "attack.json"
    assert main(["weights", "--seed", "9", "--output", str(output)]) == 1
    printed = capsys.readouterr().out
    assert "python -m attack weights --seed 9" in printed
    [found] = json.loads(output.read_text())["attacks"]
    assert (found["attack"], found["tries"], len(found["findings"])) == ("weights", 2, 1)


def test_a_run_without_findings_ends_with_code_0(tmp_path, monkeypatch):
    """The exit code tells whether there are findings."""
    monkeypatch.setitem(ATTACKS, "soak", replace(ATTACKS["soak"], target="planted:sound"))
    arguments = ["soak", "--seed", "1", "--count", "2", "--output", str(tmp_path / "a.json")]
    assert main(arguments) == 0


def test_the_page_gets_the_figures(tmp_path, monkeypatch):
    """The page in the docs names each attack; its table and its sentence are replaced."""
    page = tmp_path / "page.md"
    page.write_text((Path(__file__).parents[2] / "docs" / "reliability.md").read_text())
    results = [Result("models", 90, tries=1234), Result("soak", 30, findings=[(1, "x")])]
    monkeypatch.delenv("ATTACK_SANITIZE_PYTHON", raising=False)
    write_page(page, results)
    assert ", without the sanitizer build: 1,234 attempts" in page.read_text()
    monkeypatch.setenv("ATTACK_SANITIZE_PYTHON", "python")
    write_page(page, results)
    text = page.read_text()
    assert text.count("The last run took 2 minutes on ") == 1
    assert "processors: 1,234 attempts, 1 finding." in text
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(ATTACKS)
    assert rows[0].endswith(" | 1,234 |")
    assert rows[1].endswith(" | 0 |")
    page.write_text("nothing")
    with pytest.raises(ValueError, match="no place for the figures"):
        write_page(page, results)


def test_the_table_has_a_line_for_each_attack_and_note():
    """What could not be tried stands below the table."""
    results = [Result("a", tries=3), Result("b", findings=[(1, "x")], notes={"no server"})]
    lines = table(results).splitlines()
    assert lines[1].split() == ["a", "0", "0", "3", "0"]
    assert lines[2].split() == ["b", "0", "0", "0", "1"]
    assert lines[3] == "b: no server"
