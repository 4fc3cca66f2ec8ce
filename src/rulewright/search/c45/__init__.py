"""C4.5 trees (Quinlan, 1993): growth by gain ratio, pessimistic pruning, partial trees."""
