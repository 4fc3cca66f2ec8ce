"""Rules over related tables, graphs and molecules.

Names are loaded on first use, because the command line needs few of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
