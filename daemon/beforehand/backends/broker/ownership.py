"""Lets mosquitto keep its files when the daemon runs as root: then the broker runs as its own user."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path

_USER = "mosquitto"


def give_to_broker(folder: Path) -> str | None:
    """The user that the broker runs as, having been given `folder`; None: the daemon's own.

    None also for root, when there is no such user or when it cannot reach the folder through its parents.
    """
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(_USER)
    except KeyError:
        return None
    if not all(parent.stat().st_mode & 0o001 for parent in folder.resolve().parents):
        return None
    for path in (folder, *folder.iterdir()):
        shutil.chown(path, _USER, _USER)
    return _USER
