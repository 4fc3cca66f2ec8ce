"""WEKA's RIPPER (JRip) and PART, run by Java on ARFF files; all defaults.

The ARFF header says which columns are nominal, `?` is a missing value; both are WEKA's own.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rulewright_lab.rivals.prepare import Rival, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

PLACES = ("/usr/share/java/weka.jar", "/usr/share/weka/weka.jar", "/opt/weka/weka.jar")
REMEDY = "install Debian's package (apt-get install weka), or set WEKA_JAR to a weka.jar"


def find_jar() -> str:
    """Return the path of weka.jar: the environment variable WEKA_JAR, or a known place."""
    asked = os.environ.get("WEKA_JAR")
    for place in [asked] if asked else PLACES:
        if Path(place).is_file():
            return place
    raise FileNotFoundError(f"weka.jar is not at {asked or ', '.join(PLACES)}: {REMEDY}")


class Weka(Rival):
    """A rule learner of WEKA: fit writes a model file, predict_proba reads it.

    The seconds include the start of a Java machine (about 0.2) and the writing of the table. WEKA
    rounds its shares to six digits, so they are divided by their sum. A number of rules means
    nothing to it; `options` are its own flags, such as `["-O", "5"]`.
    """

    package = "weka"
    scheme: ClassVar[str]

    def __init__(
        self, n_rules: int | None, n_jobs: int, options: Sequence[str] = (), heap: str = "2g"
    ) -> None:
        java = shutil.which("java")
        if java is None:
            raise FileNotFoundError(f"{self.name} needs Java, and there is no `java`: {REMEDY}")
        threads = f"-XX:ActiveProcessorCount={n_jobs}"
        self._java = [java, f"-Xmx{heap}", threads, "-cp", find_jar()]
        self._options = options

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        with tempfile.TemporaryDirectory(prefix="weka-") as folder:
            train, model = Path(folder) / "train.arff", Path(folder) / "model"
            self._write(train, X, [f"c{k}" for k in codes])
            command = [f"weka.classifiers.rules.{self.scheme}", "-t", str(train), "-no-cv", "-v"]
            self._text = self._run(*command, "-d", str(model), *self._options)
            if not model.exists():
                raise RuntimeError(f"{self.name} wrote no model: {self._text.strip()}")
            self._model = model.read_bytes()

    def _shares(self, X: Rows) -> np.ndarray:
        with tempfile.TemporaryDirectory(prefix="weka-") as folder:
            test, model, out = (Path(folder) / name for name in ("test.arff", "model", "out.arff"))
            self._write(test, X, ["?"] * len(X))
            model.write_bytes(self._model)
            command = ["weka.filters.supervised.attribute.AddClassification", "-distribution"]
            command += ["-serialized", str(model), "-i", str(test), "-o", str(out), "-c", "last"]
            self._run(*command)
            _, _, body = out.read_text().partition("@data")
        n_classes = len(self.classes_)
        fields = [line.split(",")[-n_classes:] for line in body.split()]
        shares = np.array(fields, dtype=float).reshape(-1, n_classes)
        return shares / shares.sum(axis=1, keepdims=True)

    def version(self) -> str:
        return self._run("weka.core.Version").split()[0]

    def describe(self) -> dict[str, float]:
        lengths = self._lengths()
        before = time.perf_counter()
        self.version()  # does nothing but start
        return {
            "rules": float(len(lengths)),
            "conditions": float(np.mean(lengths or [0])),
            "start_seconds": time.perf_counter() - before,
        }

    def _lengths(self) -> list[int]:
        """Return the number of conditions of each printed rule but the default one."""
        raise NotImplementedError

    def _write(self, path: Path, X: Rows, labels: Sequence[str]) -> None:
        """Write an ARFF file; nominal values are written as v0, v1, ..., so none needs quotes."""
        columns = self._columns
        lines = ["@relation table"]
        for column in columns.names:
            values = columns.values.get(column)
            kind = "numeric" if values is None else nominal("v", len(values))
            lines.append(f"@attribute {column} {kind}")
        lines += [f"@attribute class {nominal('c', len(self.classes_))}", "@data"]
        cells = [
            texts(column, "v{:.0f}" if name in columns.values else "{!r}")
            for name, column in zip(columns.names, columns.codes(X).T, strict=True)
        ]
        lines += [",".join(row) for row in zip(*cells, labels, strict=True)]
        path.write_text("\n".join(lines) + "\n")

    def _run(self, *command: str) -> str:
        done = subprocess.run([*self._java, *command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise RuntimeError(f"{self.name}: exit code {done.returncode}: {said[-2000:]}")
        return done.stdout


def nominal(letter: str, n: int) -> str:
    """Return the ARFF type of a nominal column of n values."""
    return "{" + ",".join(f"{letter}{k}" for k in range(n)) + "}"


def texts(column: np.ndarray, form: str) -> list[str]:
    """Return the cells of a column as ARFF text."""
    return ["?" if value != value else form.format(value) for value in column.tolist()]


class JRip(Weka):
    name = "weka-jrip"
    scheme = "JRip"

    def _lengths(self) -> list[int]:
        bodies = re.findall(r"^(\(.*\)) => class=", self._text, re.MULTILINE)
        return [body.count(" and ") + 1 for body in bodies]


class Part(Weka):
    name = "weka-part"
    scheme = "PART"

    def _lengths(self) -> list[int]:
        rules = re.findall(r"((?:^x.* AND\n)*^x.*): c\d+ \(", self._text, re.MULTILINE)
        return [rule.count(" AND\n") + 1 for rule in rules]
