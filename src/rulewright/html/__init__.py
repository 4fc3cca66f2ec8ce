"""HTML that notebooks and reports share: tables, bars, and the look of a view in a notebook."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
