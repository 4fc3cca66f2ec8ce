"""The workbench page: a local server for one session.

It listens on 127.0.0.1 only. Every request for data needs the token that the address of the page
has; requests that name another host or come from another origin are refused.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from importlib import resources
from typing import TYPE_CHECKING, Any

from rulewright.data import DataError, optional
from rulewright.workbench.desk import Desk, OutdatedError
from rulewright.workbench.threads import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

HOST = "127.0.0.1"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy: nothing from elsewhere, no inline scripts."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

SCRIPTS = ("app", "charts", "complete", "dom", "editor", "preview")
STATIC = {"style.css": "text/css", **{f"{name}.js": "text/javascript" for name in SCRIPTS}}

MOST_BYTES = 1_000_000
"""Maximum size of a request."""


class CancelledError(Exception):
    """Raised in long work that the user stopped."""


class Job:
    """Long work in a thread: its progress, and its result or error."""

    def __init__(self, work: Callable[[Callable[[], None]], Any], total: int) -> None:
        self.total = total
        self.steps, self.is_done, self.is_cancelled = 0, False, False
        self.result: Any = None
        self.error = ""
        self._work = work
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self.result = self._work(self._check)
        except CancelledError:
            self.error = "cancelled"
        except (DataError, ValueError) as error:
            self.error = str(error)
        finally:
            self.is_done = True

    def _check(self) -> None:
        if self.is_cancelled:
            raise CancelledError
        self.steps += 1

    def to_json(self) -> dict[str, Any]:
        """Return the progress as plain data."""
        return {
            "steps": min(self.steps, self.total),
            "total": self.total,
            "done": self.is_done,
            "error": self.error,
            "result": self.result,
        }


class Workbench:
    """The web application of a desk.

    Parameters
    ----------
    desk : Desk
        The session.
    report : callable, optional
        Returns the report of the current model as HTML.
    token : str, optional
        Secret in the address of the page; drawn when left out.
    """

    def __init__(
        self,
        desk: Desk,
        report: Callable[[], str] | None = None,
        token: str | None = None,
    ) -> None:
        self.desk, self.token = desk, token or secrets.token_urlsafe(24)
        self._report = report
        self.jobs: dict[str, Job] = {}
        self._tasks: dict[str, Callable[..., Any]] = {
            "state": lambda: {**desk.state(), "unsaved": [one.text for one in desk.unsaved()]},
            "preview": desk.preview,
            "apply": desk.apply,
            "undo": desk.undo,
            "redo": desk.redo,
            "save": desk.save,
            "resume": desk.resume,
            "discard": desk.discard,
            "open_final": desk.open_final,
            "column": desk.column,
            "start": self._start,
            "job": lambda job: self._job(job).to_json(),
            "cancel": self._cancel,
            "export": self._export,
            "cost": desk.cost,
        }
        self.app = self._make_app()

    def _start(self, work: str, **asked: Any) -> dict[str, Any]:
        works: dict[str, Callable[..., Any]] = {
            "suggest": self.desk.suggest,
            "cuts": self.desk.cuts,
            "grow": self.desk.grow,
        }
        if work not in works:
            raise DataError(f"there is no work {work!r}.")
        name = secrets.token_hex(8)
        self.jobs = {key: job for key, job in self.jobs.items() if not job.is_done}
        total = self.desk.steps_of(work, asked.get("n_rules", 1))
        self.jobs[name] = Job(lambda check: works[work](**asked, check=check), total)
        return {"job": name}

    def _job(self, name: str) -> Job:
        if name not in self.jobs:
            raise DataError("there is no such work.")
        return self.jobs[name]

    def _cancel(self, job: str) -> dict[str, Any]:
        self._job(job).is_cancelled = True
        return {}

    def _export(self, to: str) -> dict[str, Any]:
        model = self.desk.session.model
        writers = {
            "text": model.to_text,
            "sql": model.to_sql,
            "python": model.to_python,
            "javascript": model.to_javascript,
            "log": self.desk.session.log.to_markdown,
        }
        if self._report is not None:
            writers["report"] = self._report
        if to not in writers:
            raise DataError(f"there is no export {to!r}.")
        return {"text": writers[to]()}

    def answer(self, task: str, asked: dict[str, Any]) -> tuple[int, Any]:
        """Do a task and return the status and the answer."""
        if task not in self._tasks:
            return 404, {"error": f"there is no task {task!r}."}
        try:
            # Long work runs without the lock, so that its progress can be asked for.
            with self.desk.lock:
                return 200, self._tasks[task](**asked)
        except OutdatedError as error:
            return 409, {"error": str(error)}
        except (DataError, ValueError, OSError) as error:
            return 400, {"error": str(error)}
        except TypeError as error:
            return 400, {"error": f"{task}: {error}"}

    def _make_app(self) -> Any:
        try:
            self._responses = optional("starlette.responses")
        except ModuleNotFoundError:
            raise DataError(
                "the page needs starlette and uvicorn: pip install 'rulewright[workbench]'"
            ) from None
        route = optional("starlette.routing").Route
        routes = [
            route("/", self._page),
            route("/static/{name}", self._static),
            route("/api/{task}", self._task, methods=["POST"]),
        ]
        return optional("starlette.applications").Starlette(routes=routes)

    async def _page(self, request: Any) -> Any:
        if why := self._refusal(request, request.query_params.get("token")):
            return self._respond(why, 403)
        return self._respond(_read("index.html"), 200, "text/html")

    async def _static(self, request: Any) -> Any:
        name = request.path_params["name"]
        if name not in STATIC:
            return self._respond("not found", 404)
        return self._respond(_read(name), 200, STATIC[name])

    async def _task(self, request: Any) -> Any:
        if why := self._refusal(request, request.headers.get("x-token")):
            return self._respond(why, 403)
        if not 0 <= int(request.headers.get("content-length") or -1) <= MOST_BYTES:
            return self._answer({"error": "the request is too large"}, 413)
        try:
            asked = await request.json()
        except ValueError:
            asked = None
        if not isinstance(asked, dict):
            return self._answer({"error": "the request is not a JSON object"}, 400)
        status, found = await asyncio.to_thread(self.answer, request.path_params["task"], asked)
        return self._answer(found, status)

    def _refusal(self, request: Any, token: str | None) -> str:
        """Say why a request is refused; nothing if it is not."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if host.rsplit(":", 1)[0] not in (HOST, "localhost"):
            return "refused: another host"
        if origin is not None and origin != f"http://{host}":
            return "refused: another origin"
        if token is None or not secrets.compare_digest(token.encode(), self.token.encode()):
            return "refused: open the address that was printed"
        return ""

    def _answer(self, content: Any, status: int) -> Any:
        text = json.dumps(_plain(content), allow_nan=False)
        return self._respond(text, status, "application/json")

    def _respond(self, text: str, status: int, kind: str = "text/plain") -> Any:
        return self._responses.Response(text, status, HEADERS, kind)

    def serve(self, port: int = 0, ready: Callable[[str], None] = print) -> None:
        """Serve the page until Ctrl-C; `ready` gets its address."""
        uvicorn = optional("uvicorn")
        config = uvicorn.Config(self.app, HOST, port, log_level="error", access_log=False)
        server = uvicorn.Server(config)

        async def run() -> None:
            serving = asyncio.ensure_future(server.serve())
            while not server.started and not serving.done():
                await asyncio.sleep(0.01)
            if server.started:
                found = server.servers[0].sockets[0].getsockname()[1]
                ready(f"http://{HOST}:{found}/?token={self.token}")
            await serving

        self.server = server
        with one_thread():
            _run(run())


def _run(work: Coroutine[Any, Any, None]) -> None:
    try:
        asyncio.run(work)
    except KeyboardInterrupt:
        return


def _read(name: str) -> str:
    return (resources.files("rulewright.workbench") / "static" / name).read_text("utf-8")


def _plain(value: Any) -> Any:
    """Return plain data with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return None
    return value
