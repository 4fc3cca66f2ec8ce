"""Random attacks on the library: `make attack`, or ``python -m attack NAME --seed N`` for one try.

An attack is a generator of one seed: it yields None for a try that ended as promised, a text for a
finding and a Note for what could not be tried. Whatever it raises is a finding too. Attempts run in
worker processes, so that a crash or a hang is a finding and not the end.
"""
