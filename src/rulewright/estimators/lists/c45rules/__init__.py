"""C4.5rules."""
