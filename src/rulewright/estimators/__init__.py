"""Scikit-learn estimators: thin compositions of the rooms below.

Each name imports its module when it is first used, because few programs need all learners.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
