"""Guarantees from counts, losses, margins and sizes, as pure functions that return a `Bound`.

Formulas hold with probability 1 - delta over an independent sample, simultaneously for all
classifiers, weights or posteriors of the class; test-set bounds hold for a classifier fixed before.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
