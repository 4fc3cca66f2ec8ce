"""MLRules: maximum likelihood rule ensembles (ICML 2008)."""
