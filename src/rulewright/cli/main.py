"""The `rulewright` command: finds the subcommands and reports every error in one line.

Other packages add subcommands by entry points of the group ``rulewright.commands``, such as
``reproduce = "rulewright_lab.cli.reproduce:app"``: a Typer app of one command. Its
help text is in the mapping ``COMMANDS`` of the package of the module (here
``rulewright_lab/cli/__init__.py``). The help imports that package only, so it should contain
nothing else; the module is imported when its command is called.
"""

import importlib
import sys
import traceback
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from rulewright import __version__
from rulewright.cli.ending import clear_when_ended, ignore_closed_output
from rulewright.data import as_options, offer_names

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS = {
    "inspect": "List problems in a file and the option that fixes each.",
    "learn": "Learn rules from a file, evaluate them, print and save them.",
    "learners": "List the learners, or the parameters of one.",
    "show": "Print a saved model and its stored figures.",
    "evaluate": "Measure a saved model on a file: figures, confusion, calibration, coverage.",
    "predict": "Predict the rows of a file with a saved model.",
    "explain": "Explain the predictions of a saved model, row by row.",
    "report": "Write a saved model and its evaluation as one HTML page.",
    "export": "Write a saved model as SQL, Python, JavaScript or text.",
    "compress": "Reduce a saved model to a few rules.",
    "edit": "Edit the rules of a saved model, refit the others, and keep a log.",
    "prove": "Prove that a saved model obeys policies, or find rows that break them.",
    "monitor": "Compare periods of new data: distributions, rules, outcomes, and alarms.",
    "document": "Write the hand-over document of a saved model, as Markdown or HTML.",
    "card": "Write a card as a page to fill in, or turn a model into a card.",
    "diff": "Compare two saved models: rules, figures and decisions.",
    "compare": "Compare learners by cross-validation.",
}
"""Each is a module of this package with a Typer app of one command."""

GROUP = "rulewright.commands"
"""Group of entry points, by which other packages add commands."""

FAILED = 2
MISTAKEN = 1
INTERRUPTED = 130

_EXIT_CODES = (
    f"Exit codes: 0 success; {FAILED} wrong usage or input (one line on standard error, nothing "
    f"is written); {MISTAKEN} internal error, please report it; {INTERRUPTED} interrupted."
)


class Commands(TyperGroup):
    """Subcommands that are imported when they are used: few of them need scikit-learn."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of the help."""
        return [*COMMANDS, *added_commands()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the help text of a subcommand, without importing it."""
        if cmd_name in COMMANDS:
            return TyperCommand(cmd_name, help=COMMANDS[cmd_name])
        point = added_commands().get(cmd_name)
        return None if point is None else TyperCommand(cmd_name, help=_summary(point))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the subcommand that is called or completed, or suggest similar names."""
        names = self.list_commands(ctx)
        if not ctx.resilient_parsing and args[0] not in names and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}. {offer_names(args[0], names)}")
        name, known, rest = super().resolve_command(ctx, args)
        return name, None if known is None else import_command(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the subcommand; with --debug, print the traceback of an error."""
        try:
            with clear_when_ended():
                result = super().invoke(ctx)
            sys.stdout.flush()  # a closed pipe is noticed here, not at exit
        except BrokenPipeError:
            return ignore_closed_output()
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


def import_command(name: str) -> Any:
    """Import a subcommand."""
    if name not in COMMANDS:
        return typer.main.get_command(added_commands()[name].load())
    return typer.main.get_command(importlib.import_module(f"rulewright.cli.{name}").app)


def added_commands() -> dict[str, "EntryPoint"]:
    """Return the commands of other packages by name; ours go before them."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - our own commands need it not

    found = {point.name: point for point in entry_points(group=GROUP)}
    return {name: point for name, point in found.items() if name not in COMMANDS}


def _summary(point: "EntryPoint") -> str:
    """Return the summary that the package of a command gives."""
    package = importlib.import_module(point.module.rpartition(".")[0] or point.module)
    return str(getattr(package, "COMMANDS", {}).get(point.name, ""))


def one_line(error: Exception) -> str:
    """Return the message of an error in one line."""
    return " ".join(_message(error).split())


def _is_expected(error: Exception) -> bool:
    """Return whether an error is about usage or input, not an internal error."""
    expected = ValueError | OSError | ImportError | MemoryError
    return hasattr(error, "format_message") or isinstance(error, expected)


def _message(error: Exception) -> str:
    if hasattr(error, "format_message"):  # wrong usage, found by Typer
        context = getattr(error, "ctx", None)
        advice = f" Try '{context.command_path} --help'." if context else ""
        message = error.format_message().replace("Value error, ", "").rstrip(".")
        return f"{message}{'' if message.endswith('?') else '.'}{advice}"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "there is not enough memory. Read fewer columns or rows, or use a smaller model."
    if _is_expected(error):
        return as_options(str(error))
    return (
        f"internal error (please report it): {type(error).__name__}: {error} "
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
