"""LRI: lightweight rule induction."""
