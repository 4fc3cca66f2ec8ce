"""Ensembles of DNF rule sets that vote and may abstain (2008)."""
