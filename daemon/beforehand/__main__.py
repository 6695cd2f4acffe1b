"""`python -m beforehand`."""

from beforehand.cli.main import app

app()
