"""The command line: all attacks for some minutes, or one seed of one attack again."""

from __future__ import annotations

import argparse
import json
import math
import os
import secrets
import sys
import time
from pathlib import Path

from attack.attacks import ATTACKS
from attack.harness import ROOT, Result, hammer, seeds_from
from attack.page import write_page

_SHOWN = 3


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen attacks; return 1 if there are findings."""
    options = _options(arguments)
    left = [ATTACKS[name] for name in options.names or ATTACKS]
    first = secrets.randbits(32) if options.seed is None else options.seed
    count = options.count if options.seed is None else options.count or 1
    length = f"{options.minutes:g} minutes" if count is None else f"{count} seeds each"
    print(f"{len(left)} attacks, {length}, seeds from {first}", flush=True)
    end = math.inf if count is not None else time.monotonic() + 60 * options.minutes
    results = []
    while left:
        # what one attack leaves over goes to the others
        part = left[0].share / sum(attack.share for attack in left)
        now, attack = time.monotonic(), left.pop(0)
        print(f"{attack.name}: {attack.summary}", flush=True)
        deadline = now + (end - now) * part
        results.append(hammer(attack, seeds_from(first, count), deadline, options.jobs))
        _print_findings(results[-1])
    print(table(results))
    _write(Path(options.output), first, results)
    if options.page:
        write_page(Path(options.page), results)
    return int(any(result.findings for result in results))


def table(results: list[Result]) -> str:
    """Write tries and findings of all attacks as a table."""
    lines = [f"{'attack':12} {'seconds':>8} {'seeds':>8} {'tries':>9} {'findings':>9}"]
    lines += [
        f"{r.attack:12} {r.seconds:8.0f} {r.seeds:8d} {r.tries:9d} {len(r.findings):9d}"
        for r in results
    ]
    lines += [f"{r.attack}: {note}" for r in results for note in sorted(r.notes)]
    return "\n".join(lines)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m attack", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(ATTACKS)}")
    parser.add_argument("--seed", type=int, help="attempt this seed only, or --count from it on")
    parser.add_argument("--count", type=int, help="attempt so many seeds, however long it takes")
    minutes = float(os.environ.get("ATTACK_MINUTES", "20"))
    parser.add_argument("--minutes", type=float, default=minutes, help="time of all attacks")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--output", default=str(ROOT / "build" / "attack.json"))
    parser.add_argument("--page", help="page of the docs that gets the figures")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - ATTACKS.keys()):
        parser.error(f"no attack is called {unknown[0]!r}; there are {', '.join(ATTACKS)}")
    return options


def _print_findings(result: Result) -> None:
    for kind, findings in result.kinds().items():
        print(f"  {len(findings)} x {kind}")
        for seed, text in findings[:_SHOWN]:
            indented = text.replace("\n", "\n      ")
            print(f"    python -m attack {result.attack} --seed {seed}\n      {indented}")
    sys.stdout.flush()


def _write(path: Path, first: int, results: list[Result]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "first_seed": first,
        "attacks": [vars(result) | {"notes": sorted(result.notes)} for result in results],
    }
    path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
