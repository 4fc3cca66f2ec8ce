"""FOIL on related tables: clauses whose variables are rows that share keys."""
