"""FOIL: clauses by information gain, as long as they are shorter than what they explain (1990)."""
