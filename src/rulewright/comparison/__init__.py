"""Comparison of learners, also of other packages, on the same folds of the same rows.

Names are loaded on first use: the process that runs a trial needs few of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
