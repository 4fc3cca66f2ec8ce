"""CN2: beam search for one rule at a time."""
