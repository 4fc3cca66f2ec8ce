"""The hand-over document of a model: what is known is filled in, the rest is marked."""
