"""Folders of files that must survive a loss of power."""

from __future__ import annotations

import os
from pathlib import Path


def sync_folder(file: Path) -> None:
    """Let the folder's entry of a file survive a loss of power."""
    folder = os.open(file.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
