"""What search sees: bins and codes of columns, Boolean variables, packed covers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
