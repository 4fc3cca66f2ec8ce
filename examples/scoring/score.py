"""Serve an exported model over HTTP with nothing but Python: POST a JSON list of rows.

The answer has one object per row: the label and the probabilities. A row that the model refuses
makes the whole request fail with status 400 and the reason. GET answers "ready".
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import model  # the exported module

LONGEST = 16_000_000
"""Bytes of the longest request."""


class BadRequestError(ValueError):
    """A request that cannot be answered, with its status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def score(data):
    """Answer a JSON list of rows; each row is an object of column names and values."""
    try:
        rows = json.loads(data)
    except ValueError as error:
        raise BadRequestError(400, f"the request is not JSON: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadRequestError(400, "send a list of objects, one per row")
    answers = []
    for number, row in enumerate(rows):
        try:
            answers.append(
                {"label": model.predict_proba_label(row), "probabilities": model.predict_proba(row)}
            )
        except (TypeError, ValueError) as error:
            raise BadRequestError(400, f"row {number}: {error}") from None
    return answers


class Handler(BaseHTTPRequestHandler):
    """One request: read it, score it, answer with JSON."""

    timeout = 30

    def do_GET(self):
        """Say that the server is there."""
        self.answer(200, "ready")

    def do_POST(self):
        """Score the rows of the request."""
        try:
            self.answer(200, score(self.read()))
        except BadRequestError as error:
            self.answer(error.status, {"error": str(error)})

    def read(self):
        """Give the body of the request, unless it is too long."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise BadRequestError(411, "send the header Content-Length")
        if int(length) > LONGEST:
            raise BadRequestError(413, f"send at most {LONGEST} bytes at a time")
        return self.rfile.read(int(length))

    def answer(self, status, content):
        """Send JSON."""
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    address = (os.environ.get("HOST", "0.0.0.0"), int(os.environ.get("PORT", "8000")))
    ThreadingHTTPServer(address, Handler).serve_forever()
