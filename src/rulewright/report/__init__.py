"""Reports: a model, its data and how good it is, as one HTML file that needs nothing else.

The page is imported when it is first asked for: figures alone need little of it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
