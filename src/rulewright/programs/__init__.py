"""What a model computes, as a small program, and one writer per target of export."""
