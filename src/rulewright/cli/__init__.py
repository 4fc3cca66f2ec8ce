"""The command line: learn, predict, show and export."""
