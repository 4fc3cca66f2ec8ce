"""Ctrl-C at a known place of a fit: inside its search, whatever the learner."""

import itertools
import signal
import threading

from rulewright import kernels
from rulewright.encoding.signed import SignedCovers

STEPS = (
    (kernels, "grow_rule"),
    (kernels, "grow_beam"),
    (kernels, "grow_tree"),
    (kernels, "choose_branching"),
    (kernels.DnfSearch, "advance"),
    (kernels.RiseSearch, "advance"),
    (kernels, "fit_scores"),
    (SignedCovers, "gram"),
)
"""What every search of a learner calls over and over."""


def call_at_step(place, act, patch=setattr):
    """Call `act` before the step of that number, counted over all threads."""
    calls = itertools.count()

    def watched(step):
        def run(*arguments, **options):
            if next(calls) == place:
                act()
            return step(*arguments, **options)

        return run

    for owner, name in STEPS:
        patch(owner, name, watched(getattr(owner, name)))


class ControlC(threading.Thread):
    """Sends the signal of Ctrl-C, and again every two seconds like an impatient user until joined.

    One signal may get lost: an exception in a callback of the garbage collector is ignored.
    """

    def __init__(self):
        super().__init__()
        self.heard = threading.Event()

    def run(self):
        while not self.heard.is_set():
            signal.raise_signal(signal.SIGINT)
            self.heard.wait(2.0)

    def join(self):
        self.heard.set()
        super().join()
