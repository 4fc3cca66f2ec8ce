"""The command line to call, as the tests of the core call it."""

from cli.conftest import cli, cli_failure

__all__ = ["cli", "cli_failure"]
