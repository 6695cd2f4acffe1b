"""Finds rules/ and models/, which stand beside the code in a checkout and inside the package in a wheel."""

from __future__ import annotations

from pathlib import Path

from beforehand.errors import NotFound

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The shipped folder `name` ("rules" or "models"). Raises NotFound with both places that were looked at."""
    inside = _PACKAGE / "_shipped" / name
    beside = _PACKAGE.parent.parent / name
    for place in (inside, beside):
        if place.is_dir():
            return place
    raise NotFound(f"no shipped folder {name!r} at {inside} or {beside}.", "Reinstall the package.")
