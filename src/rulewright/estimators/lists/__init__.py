"""Decision lists and rule sets learned by covering: one folder per system."""
