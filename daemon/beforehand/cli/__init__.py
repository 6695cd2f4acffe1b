"""The command `beforehand`."""
