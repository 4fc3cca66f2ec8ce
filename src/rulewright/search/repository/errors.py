"""Errors about a bias: where it is declared, what is wrong, and the remedy."""

from __future__ import annotations

from rulewright.data import DataError


class BiasError(DataError):
    """A bias that is wrong or does not fit the columns: the statement, and the reason."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(where, reason)
        self.where, self.reason = where, reason

    def __str__(self) -> str:
        return f"bias: {self.where}: {self.reason}" if self.where else f"bias: {self.reason}"
