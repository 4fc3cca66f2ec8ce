"""The log of a model's edits: who did what, when and why, with hashes of model and data.

The log is saved with the model, in its summary. Replayed on the same start model and rows it gives
the same model; on another fit it makes the same edits again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from rulewright.data import DataError
from rulewright.model import EDITS_NOTE, hash_model, model_of_content
from rulewright.workbench.edits import Edit, edit_of
from rulewright.workbench.names import RuleName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.model import RuleModel


@dataclass(frozen=True)
class LogEntry:
    """One applied edit.

    Attributes
    ----------
    edit : Edit
        The edit.
    text : str
        The edit in words.
    when : str
        Time in UTC, ISO 8601.
    author, reason : str
        Who made the edit, and why; empty if not given.
    before, after : str
        Hashes of the model.
    figures : dict
        Held-out figures after the edit; empty without rows.
    """

    edit: Edit
    text: str
    when: str
    author: str
    reason: str
    before: str
    after: str
    figures: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the entry as plain data."""
        return {**vars(self), "edit": self.edit.to_json()}

    @classmethod
    def from_json(cls, content: Any) -> LogEntry:
        """Read an entry; anything else is a DataError."""
        try:
            return cls(**{**content, "edit": edit_of(content["edit"])})
        except (KeyError, TypeError) as error:
            raise DataError(f"not an entry of an edit log: {error}") from None


class LoggedSession(NamedTuple):
    """A session in a log.

    Attributes
    ----------
    at : int
        Number of edits before it.
    data : str
        Hash of its rows, empty without rows.
    settings : dict
        Settings of the session that the model depends on.
    """

    at: int
    data: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class EditLog:
    """All edits since a model was learned.

    Attributes
    ----------
    start : dict
        The learned model as plain data.
    sessions : tuple of LoggedSession
        The sessions that made the edits, the first one first.
    entries : tuple of LogEntry
        The edits, the first one first.
    frozen : tuple of RuleName
        Rules that are held fixed after the last edit.
    opened : int
        How often the final part of the rows was opened.
    """

    start: dict[str, Any]
    sessions: tuple[LoggedSession, ...] = ()
    entries: tuple[LogEntry, ...] = ()
    frozen: tuple[RuleName, ...] = ()
    opened: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the log as plain data."""
        return {
            **vars(self),
            "sessions": [session._asdict() for session in self.sessions],
            "entries": [entry.to_json() for entry in self.entries],
            "frozen": [name._asdict() for name in self.frozen],
        }

    @classmethod
    def from_json(cls, content: Any) -> EditLog:
        """Read a log; anything else is a DataError."""
        try:
            return cls(
                content["start"],
                tuple(LoggedSession(**one) for one in content["sessions"]),
                tuple(map(LogEntry.from_json, content["entries"])),
                tuple(RuleName(**one) for one in content["frozen"]),
                content["opened"],
            )
        except (KeyError, TypeError) as error:
            raise DataError(f"not an edit log: {error}") from None

    @classmethod
    def of(cls, model: RuleModel) -> EditLog | None:
        """Return the log of an edited model; None if it was not edited."""
        note = model.summary.get(EDITS_NOTE)
        return None if note is None else cls.from_json(note)

    def begin(self, data: str, settings: dict[str, Any]) -> EditLog:
        """Return the log of a new session; one that made no edit is forgotten."""
        n = len(self.entries)
        kept = [session for session in self.sessions if session.at < n]
        return replace(self, sessions=(*kept, LoggedSession(n, data, settings)))

    def by_session(self) -> Iterator[tuple[LoggedSession, tuple[LogEntry, ...]]]:
        """Yield each session with its edits."""
        ends = [session.at for session in self.sessions[1:]] + [len(self.entries)]
        for session, end in zip(self.sessions, ends, strict=True):
            yield session, self.entries[session.at : end]

    @property
    def start_model(self) -> RuleModel:
        """The learned model."""
        return model_of_content(self.start)

    def describe_opening(self) -> str:
        """Write how often the final part was opened."""
        times = {0: "never", 1: "once"}.get(self.opened, f"{self.opened} times")
        return f"The final part of the rows was opened {times}."

    def to_markdown(self) -> str:
        """Write the log as a table in Markdown."""
        lines = ["| # | when | who | edit | why | log-loss or RMSE |", "|---|---|---|---|---|---|"]
        for number, one in enumerate(self.entries, 1):
            first = next(iter(one.figures.values()), None)
            figure = "" if first is None else f"{first:.4g}"
            cells = (str(number), one.when, one.author, one.text, one.reason, figure)
            escaped = " | ".join(cell.replace("|", "\\|") for cell in cells)
            lines.append(f"| {escaped} |")
        if self.opened:
            lines += ["", self.describe_opening()]
        return "\n".join(lines) + "\n"


def strip_log(model: RuleModel) -> RuleModel:
    """Return the model without its edit log."""
    return model.with_summary({k: v for k, v in model.summary.items() if k != EDITS_NOTE})


def make_entry(
    edit: Edit,
    models: tuple[RuleModel, RuleModel],
    author: str,
    reason: str,
    figures: dict[str, float],
) -> LogEntry:
    """Return the entry of an edit that leads from one model to another."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    before, after = map(hash_model, models)
    return LogEntry(edit, edit.describe(), now, author, reason, before, after, figures)
