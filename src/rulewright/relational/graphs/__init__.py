"""Rules over graphs and molecules: subgraph patterns as derived Boolean columns."""
