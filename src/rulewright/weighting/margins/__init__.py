"""Weights of rules in {-1, 0, 1} by their margins: one criterion a file, one protocol for all."""
