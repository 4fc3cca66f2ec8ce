"""The decision stump."""
