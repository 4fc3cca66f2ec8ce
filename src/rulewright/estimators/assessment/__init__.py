"""Refits that assess a model: stability of its rules, null distribution of interactions."""
