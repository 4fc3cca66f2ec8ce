"""Negative log-likelihoods of one score per row, one file each."""
