"""Proofs of policies: cells, claims on boxes of cells, the search, and the checker."""
