"""FOIL: clauses by information gain, each shorter than the rows that it explains (1990)."""
