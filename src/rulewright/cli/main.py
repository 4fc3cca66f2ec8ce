"""The `rulewright` command: finds the subcommands and reports every error in one line."""

import importlib
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from rulewright import __version__

COMMANDS = {
    "inspect": "Tell what looks wrong in a file, and which option settles it.",
    "learn": "Learn rules from a file, estimate how good they are, print and save them.",
    "learners": "List the learners, or the parameters of one.",
    "show": "Print a saved model and what is known of it.",
    "evaluate": "Measure a saved model on a file: figures, confusion, calibration, coverage.",
    "predict": "Predict the rows of a file with a saved model.",
    "explain": "Tell why a saved model answers as it does.",
    "report": "Write a saved model and how good it is as one HTML page.",
    "export": "Write a saved model as SQL, Python, JavaScript or text.",
    "compress": "Keep few rules of a saved model.",
    "compare": "Compare learners by cross-validation.",
    "reproduce": "Make tables and figures of the papers again.",
}
"""Each is a module of this package with a Typer app of one command."""

FAILED = 2
MISTAKEN = 1
INTERRUPTED = 130

_EXIT_CODES = (
    f"Exit codes: 0 done; {FAILED} wrong usage or input, one line on standard error says what and "
    f"nothing is written; {MISTAKEN} a mistake of this program; {INTERRUPTED} interrupted."
)


class Commands(TyperGroup):
    """Subcommands that are imported when they are used: few of them need scikit-learn."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return what the help says of a subcommand, without importing it."""
        summary = COMMANDS.get(cmd_name)
        return None if summary is None else TyperCommand(cmd_name, help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the subcommand that is called or completed."""
        name, known, rest = super().resolve_command(ctx, args)
        return name, None if known is None else imported(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand; with --debug, show where it failed."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a closed pipe is noticed here, not at exit
        except Exception as error:
            if ctx.params["debug"] and not isinstance(error, typer.Exit):
                traceback.print_exc()
            raise
        return result

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the command line and leave with its exit code."""
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        except Exception as error:
            typer.echo(f"error: {one_line(error)}", err=True)
            code = FAILED if _is_expected(error) else MISTAKEN
        if code == INTERRUPTED:
            typer.echo("interrupted", err=True)
        sys.exit(code if isinstance(code, int) else 0)


def imported(name: str) -> Any:
    """Import a subcommand."""
    return typer.main.get_command(importlib.import_module(f"rulewright.cli.{name}").app)


def one_line(error: Exception) -> str:
    """Return the message of an error in one line."""
    return " ".join(_message(error).split())


def _is_expected(error: Exception) -> bool:
    """Tell whether an error is about usage or input, not a mistake of this program."""
    return hasattr(error, "format_message") or isinstance(error, ValueError | OSError | ImportError)


def _message(error: Exception) -> str:
    if hasattr(error, "format_message"):  # wrong usage, found by Typer
        context = getattr(error, "ctx", None)
        advice = f" Try '{context.command_path} --help'." if context else ""
        return f"{error.format_message().rstrip('.')}.{advice}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if _is_expected(error):
        return str(error)
    return (
        f"unexpected {type(error).__name__}: {error} "
        "('rulewright --debug' before the command shows where)"
    )


app = typer.Typer(
    cls=Commands,
    epilog=_EXIT_CODES,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rulewright {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Learn IF-THEN rules from a table, read them, predict with them, export them."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line."""
    app()
