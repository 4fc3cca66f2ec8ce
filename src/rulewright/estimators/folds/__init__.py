"""Folds: cross-validation inside a fit, and corrections by held-out rows."""
