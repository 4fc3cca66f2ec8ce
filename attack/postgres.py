"""A PostgreSQL server of the attack's own: in a temporary folder, on a socket, gone afterwards."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulewright.programs.program import ClassProgram
from rulewright.programs.sql_words import quoted_name
from rulewright.programs.target import Answer, CannotRunError, n_rows

if TYPE_CHECKING:
    from rulewright.programs.program import Program
    from rulewright.programs.target import Rows

_TYPES = {"number": "DOUBLE PRECISION", "string": "TEXT", "boolean": "BOOLEAN"}
_INSTALLED = Path("/usr/lib/postgresql")  # Debian keeps servers of several versions
_TABLE = "rows"
_LONGEST_NAME = 63  # bytes; the rest of a name is cut off


def run(write: Any, program: Program, rows: Rows) -> tuple[list[Answer], list[str]]:
    """Return the answers of PostgreSQL."""
    connection = _server()
    schema, names = program.schema, ["row number", *program.columns]
    if len({name.encode()[:_LONGEST_NAME] for name in names}) < len(names):
        raise CannotRunError(
            "PostgreSQL cannot have columns whose names begin with the same 63 bytes"
        )
    types = [
        _TYPES["number" if schema[name].type.ordered else schema[name].label_type]
        for name in program.columns
    ]
    declared = [
        f"{quoted_name(name)} {kind}" for name, kind in zip(names, ["INT", *types], strict=True)
    ]
    sql = write(program, _TABLE, "postgres", keep=names[:1])
    lines = zip(range(n_rows(rows)), *(rows[name] for name in names[1:]), strict=True)
    with connection.transaction(force_rollback=True), connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {_TABLE} ({', '.join(declared)})".encode())
        with cursor.copy(f"COPY {_TABLE} FROM STDIN".encode()) as copy:
            for line in lines:
                copy.write_row(line)
        found = sorted(cursor.execute(sql.encode()).fetchall())
    if not isinstance(program, ClassProgram):
        return [Answer.numbers(program, line[1:]) for line in found], []
    n = len(program.labels)
    return [
        Answer(line[1 : n + 1], line[n + 1 : 2 * n + 1], line[2 * n + 1], line[2 * n + 2 :])
        for line in found
    ], []


@functools.cache
def _server() -> Any:
    """Start a server once for each process and connect to it."""
    try:
        psycopg = importlib.import_module("psycopg")
    except ImportError:
        raise CannotRunError("PostgreSQL was not run: install psycopg") from None
    folder = Path(tempfile.mkdtemp(prefix="attack-postgres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    user = _user()
    if user is not None:
        os.chown(folder, user, -1)
    data = folder / "data"
    made = _command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8")
    if subprocess.run(made, user=user, cwd=folder, capture_output=True).returncode != 0:
        raise CannotRunError("PostgreSQL was not run: initdb failed")
    started = _command("postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-F")
    server = subprocess.Popen(
        started, user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    atexit.register(server.wait)
    atexit.register(server.send_signal, signal.SIGINT)  # at once, whoever is connected
    for _ in range(200):
        with contextlib.suppress(psycopg.OperationalError):
            return psycopg.connect(host=str(folder), user="postgres", dbname="postgres")
        time.sleep(0.05)
    raise CannotRunError("PostgreSQL was not run: the server does not answer")


def _command(program: str, *arguments: object) -> list[str]:
    versions = sorted(_INSTALLED.glob(f"*/bin/{program}"))
    found = str(versions[-1]) if versions else shutil.which(program)
    if found is None:
        raise CannotRunError("PostgreSQL was not run: install postgresql")
    return [found, *map(str, arguments)]


def _user() -> int | None:
    """Return the user of the server, which refuses to run as root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_uid
    except KeyError:
        raise CannotRunError("PostgreSQL was not run: there is no user postgres") from None
