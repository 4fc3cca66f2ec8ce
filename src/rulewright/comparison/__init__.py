"""Comparison of learners, ours and others', on the same folds of the same rows.

Names are loaded when they are first used: the process that runs a trial needs few of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
