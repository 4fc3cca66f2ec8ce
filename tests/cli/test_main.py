import os
import signal
import subprocess
import sys

import pytest

import rulewright
from budget import always
from rulewright.cli import show
from rulewright.cli.main import COMMANDS, import_command, one_line

HEAVY = ("sklearn", "pandas", "polars", "duckdb", "altair", "scipy.stats", "jinja2")
PROGRAM = [sys.executable, "-c", "from rulewright.cli.main import main; main()"]


def test_version(cli):
    """The version is the one of the package."""
    assert cli("--version").stdout == f"rulewright {rulewright.__version__}\n"


@pytest.mark.parametrize("args", [(), ("--help",), ("-h",)])
def test_help_lists_the_commands(cli, args):
    """Without arguments the help is shown."""
    result = cli(*args)
    assert result.exit_code == 0
    for command in COMMANDS:
        assert command in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_everything_is_explained(cli, command):
    """Each command, argument and option has a help text, and the help can be shown."""
    found = import_command(command)
    assert found.help
    assert all(parameter.help for parameter in found.params)
    result = cli(command, "--help")
    assert result.exit_code == 0
    assert found.help in result.stdout


def test_other_packages_add_commands(cli, tmp_path, monkeypatch):
    """By an entry point; the help imports their package, and a call their module."""
    folder = tmp_path / "site-packages"
    metadata, package = folder / "toy-1.0.dist-info", folder / "toy_commands"
    metadata.mkdir(parents=True)
    package.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    points = "greet = toy_commands.greet:app\nlearn = toy_commands.greet:app\n"
    (metadata / "entry_points.txt").write_text(f"[rulewright.commands]\n{points}")
    (package / "__init__.py").write_text("COMMANDS = {'greet': 'Greet a person.'}\n")
    (package / "greet.py").write_text(
        "import typer\n\napp = typer.Typer()\n\n\n"
        "@app.command()\ndef greet(name: str):\n    typer.echo(f'hello {name}')\n"
    )
    monkeypatch.syspath_prepend(folder)
    assert "Greet a person." in cli("--help").stdout
    assert "toy_commands.greet" not in sys.modules
    assert cli("greet", "Ada").stdout == "hello Ada\n"
    assert "Learn rules from FILE" in cli("learn", "--help").stdout  # ours go before


def test_wrong_usage_is_one_line_with_advice(cli_failure):
    """Typer's own errors look like all others."""
    assert cli_failure("lern") == (
        "No such command 'lern'. Did you mean learn or learners? Try 'root --help'."
    )
    assert cli_failure("xyzzy").startswith("No such command 'xyzzy'. There are: inspect, learn,")
    assert cli_failure("learn").startswith("Missing argument 'file'.")
    assert cli_failure("learn", "x.csv") == "Give --target COL, or --time COL and --event COL."
    assert cli_failure("learn", "x.csv", "--target", "y", "--cv", "ten").startswith("Invalid value")
    assert cli_failure("--wrong").startswith("No such option")


def test_debug_shows_the_traceback(cli, tmp_path):
    """With --debug the traceback comes before the line, and the exit code stays."""
    result = cli("--debug", "show", tmp_path / "nothing.json")
    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: ")


def test_debug_does_not_disturb_help(cli):
    """Leaving early is not an error."""
    result = cli("--debug", "show", "--help")
    assert (result.exit_code, result.stderr) == (0, "")


def test_an_unexpected_error_is_one_line_too(cli, model, monkeypatch):
    """A mistake of the program does not end in a traceback, and has an exit code of its own."""

    def broken(path):
        raise KeyError("first\nsecond")

    monkeypatch.setattr(show, "OpenedModel", broken)
    result = cli("show", model)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: internal error (please report it): KeyError:")
    assert result.stderr.count("\n") == 1


def test_an_interrupt_is_one_line(cli, model, monkeypatch):
    """Ctrl-C ends with the exit code 130."""

    def interrupted(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(show, "OpenedModel", interrupted)
    result = cli("show", model)
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


def test_messages_are_folded():
    """Whatever the error says, it is one line."""
    assert one_line(ValueError("a\n  b")) == "a b"
    assert one_line(FileNotFoundError(2, "No such file", "x.csv")) == "x.csv: No such file"


def test_interrupting_a_running_fit(loans, tmp_path):
    """A signal during learning leaves no model and no traceback."""
    path = tmp_path / "m.json"
    options = [
        "--target",
        "repaid",
        "--cv",
        "0",
        "--set",
        "max_rules=10000000",
        "--model",
        str(path),
    ]
    with subprocess.Popen(
        [*PROGRAM, "learn", str(loans), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for line in process.stdout:
            if line.startswith("credit_history"):  # the schema is printed, learning begins
                break
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_is_no_error(model):
    """A closed pipe, as after `| head -1`, is a success without a message."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as closed:
        done = subprocess.run(
            [*PROGRAM, "export", str(model), "--to", "text"],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
        )
    assert (done.returncode, done.stderr) == (0, b"")


def loaded_by(code, *args):
    """Run Python code in a process of its own and give which heavy libraries it loads."""
    lines = [
        "import atexit, sys",
        f"heavy = {HEAVY}",
        "loaded = lambda: print(*[m for m in heavy if m in sys.modules], file=sys.stderr)",
        "atexit.register(loaded)",
        code,
    ]
    code = "\n".join(lines)
    # Typer looks for the shell that started it; there may be none.
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=True, env=env
    )
    return done.stderr.split()


HELPS = ["--help", "--version", "--show-completion bash", "learners"]
HELPS += [
    f"{name} --help" for name in ("inspect", "learn", "learners", "show", "evaluate", "report")
]


@pytest.mark.parametrize(
    "args", always(["--help", "learn --help", "learners"], HELPS, "a process for each command")
)
def test_help_is_light(args):
    """Help loads no scikit-learn, no dataframe or chart library and no database."""
    assert loaded_by("from rulewright.cli.main import main; main()", *args.split()) == []


def test_start_is_light():
    """Commands that only read models do not import scikit-learn or a dataframe library."""
    assert (
        loaded_by("import rulewright.cli.main, rulewright.cli.show, rulewright.cli.predict") == []
    )


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("rulewright le", ["learn", "learners"]),
        ("rulewright learners ri", ["ripper", "rise"]),
        ("rulewright show --a", ["--all"]),
        ("rulewright learn t.csv --learner ml", ["mlrules"]),
        ("rulewright learn t.csv --learner ripper --set n_o", ["n_optimizations="]),
    ],
)
def test_the_shell_completes(typed, offered):
    """Commands, options and names of learners are completed."""
    done = subprocess.run(
        [sys.executable, "-c", "from rulewright.cli.main import app; app(prog_name='rulewright')"],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "_RULEWRIGHT_COMPLETE": "complete_bash",
            "COMP_WORDS": typed,
            "COMP_CWORD": str(typed.count(" ")),
        },
    )
    assert done.stdout.split() == offered


def test_exit_codes_are_in_the_help(cli):
    """The help tells what the exit codes mean."""
    words = " ".join(cli("--help").stdout.split())
    assert "0 success; 2 wrong usage or input" in words
    assert "130 interrupted" in words
