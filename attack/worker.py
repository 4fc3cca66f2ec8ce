"""A process that attempts one seed after the other: seeds come by line, reports go by line."""

from __future__ import annotations

import dataclasses
import faulthandler
import json
import os
import resource
import sys
import tempfile
from pathlib import Path

from attack.attempts import attempted, loaded

MEMORY = 6 << 30
"""Bytes of data that a worker may hold: more is a finding, not a machine without memory."""


def main() -> None:
    """Attempt the seeds that arrive on standard input."""
    target, timeout = sys.argv[1], float(sys.argv[2])
    reports = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not look like a report
    faulthandler.enable()
    if "ATTACK_SANITIZED" not in os.environ:  # sanitizers reserve far more than they use
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    attempt = loaded(target)
    print("ready", file=reports, flush=True)
    for line in sys.stdin:
        faulthandler.dump_traceback_later(0.9 * timeout)
        with tempfile.TemporaryDirectory(prefix="attempt-") as folder:
            report = attempted(attempt, int(line), Path(folder))
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(dataclasses.asdict(report)), file=reports, flush=True)


if __name__ == "__main__":
    main()
