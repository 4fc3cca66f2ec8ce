"""The command line: learn, compress, predict, show and export."""
