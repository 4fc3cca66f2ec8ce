"""The server of `examples/scoring` needs Python and the exported module, nothing else."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rulewright as rw

EXAMPLE = Path(__file__).parents[2] / "examples" / "scoring"
LOANS = EXAMPLE.parent / "loans.csv"


@pytest.fixture(scope="module")
def model():
    """Fit a small model of the loans."""
    loans = rw.read_table(LOANS, target="repaid")
    return rw.CompactRulesClassifier(4, size="max", random_state=0).fit(loans).model_


@pytest.fixture(scope="module")
def port(model, tmp_path_factory):
    """Start the server as the image does, in a Python without any package."""
    folder = tmp_path_factory.mktemp("image")
    shutil.copy(EXAMPLE / "score.py", folder)
    (folder / "model.py").write_text(model.to_python())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    environment = {"PORT": str(number), "HOST": "127.0.0.1", "PATH": os.environ["PATH"]}
    command = [sys.executable, "-S", "-s", "score.py"]
    server = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    try:
        wait_for(number, server)
        yield number
    finally:
        server.kill()
        server.wait()


def wait_for(port, server):
    """Wait until the server answers."""
    for _ in range(300):
        assert server.poll() is None, "the server ended"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server does not answer")


def ask(port, data, method="POST"):
    """Send a request and give the status and the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, "/", data)
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


def test_rows_get_the_answers_of_the_model(model, port):
    """Labels and probabilities are the model's, also where values are missing."""
    rows = [
        {"income": 2100, "late_payments": 4, "amount": 9500, "owns_home": True},
        {"income": None, "credit_history": "good"},
        {},
    ]
    names = [column.name for column in model.schema.columns]
    table = {name: [row.get(name) for row in rows] for name in names}
    status, answers = ask(port, json.dumps(rows))
    assert status == 200
    assert [row["label"] for row in answers] == list(model.predict(table))
    for answer, expected in zip(answers, model.predict_proba(table), strict=True):
        assert list(answer["probabilities"].values()) == pytest.approx(list(expected), abs=1e-15)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("[{", "not JSON"),
        ('{"income": 1}', "send a list of objects"),
        ('[{}, {"income": "lots"}]', "row 1: .*income"),
    ],
)
def test_a_bad_request_is_refused(port, data, reason):
    """The answer says what is wrong and in which row, and the server lives on."""
    status, answer = ask(port, data)
    assert status == 400
    assert re.search(reason, answer["error"])
    assert ask(port, None, "GET") == (200, "ready")


def test_the_image_copies_what_the_server_imports():
    """It has no step that installs, and does not run as root."""
    lines = (EXAMPLE / "Dockerfile").read_text().splitlines()
    assert "COPY model.py score.py ./" in lines
    assert "USER nobody" in lines
    assert not [line for line in lines if line.startswith("RUN")]
