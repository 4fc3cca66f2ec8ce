"""One file per container: arrays, dataframes, CSV, Parquet, JSON lines, ARFF."""
