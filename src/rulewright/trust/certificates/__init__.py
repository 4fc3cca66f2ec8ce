"""Certificates of votes and of weighted rules: bounds on the error that a model carries."""
