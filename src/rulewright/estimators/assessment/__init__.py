"""Refits that assess a model: stability of its rules, the null of its interactions."""
