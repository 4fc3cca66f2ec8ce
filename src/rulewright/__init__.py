"""Statistical rule learning: IF-THEN models that people can read.

Importing the package loads next to nothing; each name brings its room when it is first used.
"""

import lazy_loader

__version__ = "1.0.0rc1"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
