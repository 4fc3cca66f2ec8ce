"""Search for rules: greedy growth with any score, nodes of trees, DNF by local search.

Each name imports its module when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
