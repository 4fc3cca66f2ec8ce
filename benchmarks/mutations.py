"""Plant 80 small defects, one at a time, and tell whether the tests notice.

    python benchmarks/mutations.py --json found.json          # all of mutations.txt
    python benchmarks/mutations.py --only native/ --stages near,room

Works in a copy of the repository. Each defect meets, until a test fails: the tests named like its
file, those of its room, all of `make test`, and all of `make test-all`. So a defect that only the
last stage kills shows what `make test` is missing. Native defects are built incrementally; that
needs cmake, ninja and nanobind, which `make test` installs.
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".txt")
"""Files, each with lines after - that occur once in it and what stands there instead, after +."""
STAGES = ("near", "room", "fast", "full")
PATIENCE = 1800.0
"""Seconds after which a run counts as killed: a defect may let a search go on for ever."""


def mutations():
    """Read the defects: file, text, other text."""
    path, old = "", ""
    for line in LIST.read_text().splitlines():
        if line.startswith("- "):
            old = line[2:]
        elif line.startswith("+ "):
            yield path, old, line[2:]
        else:
            path = line


class Copy:
    """A copy of the repository in which files are changed and tests are run.

    The environment of its own has the packages of this one, but no installed rulewright.
    """

    def __init__(self, folder):
        self.root, self.build = folder / "copy", folder / "build"
        hidden = shutil.ignore_patterns(".*", "build", "__pycache__", "demo")
        shutil.copytree(ROOT, self.root, ignore=hidden, symlinks=True)
        for command in (["init", "-q"], ["add", "-A"]):  # tests look files up by git
            subprocess.run(["git", *command], cwd=self.root, check=True)
        self.sound = Path(importlib.util.find_spec("rulewright.kernels._core").origin)
        self.module = self.root / "src/rulewright/kernels" / self.sound.name
        shutil.copy(self.sound, self.module)
        venv.create(folder / "venv")
        self.python = folder / "venv/bin/python"
        [site] = (folder / "venv/lib").glob("python*/site-packages")
        paths = [path for path in sys.path if path.endswith("site-packages")]
        own = [str(self.root / "src"), str(self.root / "lab/src")]
        (site / "all.pth").write_text("\n".join([*own, *paths]))

    def place_of(self, path, old):
        """Find the file that has a text once: the one named, or where it went."""
        named = self.root / path
        if named.is_file() and named.read_text().count(old) == 1:
            return named
        suffix = {".py": "*.py"}.get(named.suffix, "*.[ch]pp")
        folders = [self.root / "src", self.root / "native"]
        places = [place for folder in folders for place in folder.rglob(suffix)]
        found = [place for place in places if place.read_text().count(old) == 1]
        if len(found) != 1:
            raise SystemExit(f"{path}: {len(found)} files have {old!r} once; mend mutations.txt")
        return found[0]

    def compile(self):
        """Build the native module, as far as files changed; tell whether that worked."""
        if not (self.build / "build.ninja").exists():
            where = [sys.executable, "-m", "nanobind", "--cmake_dir"]
            nanobind = subprocess.run(where, capture_output=True, text=True, check=True).stdout
            options = [
                f"-Dnanobind_DIR={nanobind.strip()}",
                f"-DPython_EXECUTABLE={sys.executable}",
            ]
            # little optimisation: it is the time to compile that counts
            options += ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"]
            make = ["cmake", "-G", "Ninja", "-S", self.root, "-B", self.build, *options]
            subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        build = ["cmake", "--build", self.build]
        done = subprocess.run(build, check=False, stdout=subprocess.DEVNULL)
        if done.returncode == 0:
            [built] = self.build.glob("_core*.so")
            shutil.copy(built, self.module)
        return done.returncode == 0

    def failure(self, tests, *options):
        """Run tests until one fails; return its name, or None."""
        command = [self.python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
        # Hundreds of files are imported again and again: they may be kept compiled.
        unwanted = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
        environment = {name: value for name, value in os.environ.items() if name not in unwanted}
        try:
            done = subprocess.run(
                [*command, *options, *tests], cwd=self.root, env=environment, check=False,
                capture_output=True, text=True, timeout=PATIENCE,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "no end"
        if done.returncode in (0, 5):  # 5: no test was found
            return None
        named = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - |$)", done.stdout, re.MULTILINE)
        return named[1] if named else done.stdout[-300:] + done.stderr[-300:]


def rooms_of(path):
    """Name the folders of tests that a file of the library belongs to."""
    room = path.parts[1] if path.parts[0] == "native" else path.parts[2]
    return ["kernels", room] if path.parts[0] == "native" else [room]


def tests_of(root, path, stage):
    """List the tests of a stage for a file of the library."""
    if stage in ("fast", "full"):
        return ["tests"]
    folders = [root / "tests" / room for room in rooms_of(path)]
    folders = [folder for folder in folders if folder.is_dir()]
    if stage == "room":
        return folders
    words = set(re.findall("[a-z0-9]{3,}", " ".join([*path.parts[2:-1], path.stem])))
    words -= {"rulewright", "estimators", "common", "estimator"}
    near = [test for folder in folders for test in sorted(folder.rglob("test_*.py"))]
    named = [test for test in near if words & set(test.stem.split("_"))]
    return named or folders[:1]


def judged(copy, mutation, stages):
    """Plant one defect and give the stage and the test that notice it."""
    path, old, new = mutation
    place = copy.place_of(path, old)
    sound, begin = place.read_text(), time.monotonic()
    record = {"file": path, "old": old, "new": new, "killed": None, "by": None}
    place.write_text(sound.replace(old, new))
    try:
        is_native = place.suffix != ".py"
        if is_native and not copy.compile():
            record |= {"killed": "build", "by": "the compiler"}
        for stage in stages if record["killed"] is None else ():
            options = ["-n", "2", "--dist", "worksteal"] if stage in ("fast", "full") else []
            options += ["--full"] if stage == "full" else []
            tests = tests_of(copy.root, place.relative_to(copy.root), stage)
            if tests and (found := copy.failure(tests, *options)):
                record |= {"killed": stage, "by": found}
                break
    finally:
        place.write_text(sound)
        shutil.copy(copy.sound, copy.module)
    return {**record, "seconds": round(time.monotonic() - begin, 1)}


def asked():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="defects of files whose path has this text")
    parser.add_argument("--stages", default=",".join(STAGES), help="of %(default)s")
    parser.add_argument("--json", type=Path, help="where to write what was found")
    parser.add_argument("--trust", action="store_true", help="do not run sound code first")
    return parser.parse_args()


def main():
    """Judge all defects and print a line for each."""
    options, records = asked(), []
    tools = str(Path(sys.executable).parent)  # cmake and ninja, where no environment is activated
    os.environ["PATH"] = os.pathsep.join([tools, os.environ["PATH"]])
    chosen = [mutation for mutation in mutations() if options.only in mutation[0]]
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for path, old, _ in chosen:
            copy.place_of(path, old)
        if any(path.startswith("native") for path, *_ in chosen) and not copy.compile():
            raise SystemExit("the sound module cannot be built")
        if not options.trust and (found := copy.failure(["tests"], "-n", "2")):
            raise SystemExit(f"without any defect {found} fails")
        for i, mutation in enumerate(chosen, start=1):
            records.append(judged(copy, mutation, options.stages.split(",")))
            killed, by = records[-1]["killed"] or "SURVIVED", records[-1]["by"] or mutation[2]
            print(f"{i:3} {killed:8} {mutation[0]}: {by}", flush=True)
            if options.json:
                options.json.write_text(json.dumps(records, indent=1))
    stages = [record["killed"] or "SURVIVED" for record in records]
    print(", ".join(f"{stages.count(stage)} {stage}" for stage in dict.fromkeys(stages)))


if __name__ == "__main__":
    main()
