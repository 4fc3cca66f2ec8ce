"""SL2: small DNF rule sets by stochastic local search (2008)."""
