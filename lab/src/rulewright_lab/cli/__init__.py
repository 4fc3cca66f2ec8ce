"""Commands that the lab adds to `rulewright`."""

COMMANDS = {"reproduce": "Make tables and figures of the papers again."}
"""What the help says of each; it is all that the help imports."""
