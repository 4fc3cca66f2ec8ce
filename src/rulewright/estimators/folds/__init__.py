"""Folds: cross-validation inside a fit, and what is corrected by rows held out."""
