"""Input of the search: bins and codes of columns, Boolean features, packed covers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
