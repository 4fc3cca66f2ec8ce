"""What reports show unless something else is asked for; help texts load it without the page."""

N_ROWS = 100
"""Rows of the data in a report."""
