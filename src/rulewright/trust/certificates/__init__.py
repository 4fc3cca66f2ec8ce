"""Certificates of votes and weighted rules: bounds on the error that a model carries."""
