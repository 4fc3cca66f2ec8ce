"""Governance: what a model must never do, why it decided as it did, and how it fares in use.

These functions need a saved model only; they learn nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
