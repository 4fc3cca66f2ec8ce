"""Lists and sets of rules that are found by covering: one folder per system."""
