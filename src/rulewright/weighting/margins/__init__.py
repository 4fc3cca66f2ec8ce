"""Weights of rules in {-1, 0, 1} by their margins: one criterion per file, one protocol for all."""
