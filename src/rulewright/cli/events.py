"""Options of `learn` about counts with exposure and times until an event."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from rulewright.data import Task

_option = partial(typer.Option, metavar="COL", rich_help_panel="Counts and times")


@dataclass(frozen=True)
class EventOptions:
    """The columns beside the target, of counts and of times."""

    exposure: Annotated[
        str | None, _option(help="Exposure of the counts in --target, such as years.")
    ] = None
    time: Annotated[
        str | None, _option(help="Time of the event or of the end of observation, with --event.")
    ] = None
    event: Annotated[
        str | None, _option(help="Whether the event came (1) or observation ended (0).")
    ] = None
    entry: Annotated[str | None, _option(help="Time from which a row is under observation.")] = None

    @property
    def task(self) -> Task | None:
        """The task that the options imply, if they do."""
        if self.time is not None:
            return "survival"
        return None if self.exposure is None else "counts"

    @property
    def beside(self) -> tuple[tuple[str, str], ...]:
        """The columns beside the target, each after its option."""
        named = {"--exposure": self.exposure, "--event": self.event, "--entry": self.entry}
        return tuple((option, name) for option, name in named.items() if name is not None)

    def target(self, target: str | None) -> str:
        """Return the target column, or raise an error if the options do not fit together."""
        if self.time is None:
            alone = next((o for o, n in self.beside if o in ("--event", "--entry")), None)
            if alone is not None:
                raise ValueError(f"{alone} needs --time, the column of the times.")
            if target is None:
                raise ValueError("Give --target COL, or --time COL and --event COL.")
            return target
        if self.event is None:
            raise ValueError("--time needs --event, the column that says whether the event came.")
        if target is not None or self.exposure is not None:
            other = "--target" if target is not None else "--exposure"
            raise ValueError(f"--time takes the place of {other}. Leave {other} out.")
        return self.time
