"""What a model computes, as a small program, and one writer per target of export."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
