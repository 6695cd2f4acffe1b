"""The reference pages, written from the code: `python -m beforehand.cli.reference docs/reference [--check]`."""
