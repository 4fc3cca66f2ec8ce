"""Sparse weights: one problem, four solvers with paths and certificates; linear terms."""
