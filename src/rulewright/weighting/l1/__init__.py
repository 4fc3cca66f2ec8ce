"""Sparse weights: one problem of rules, four solvers with paths and certificates; and lines."""
