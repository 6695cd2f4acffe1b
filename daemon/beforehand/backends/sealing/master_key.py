"""Where the master key comes from: a file that its owner alone can read, or what a command prints."""

from __future__ import annotations

import base64
import binascii
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from beforehand import limits
from beforehand.backends.sealing.key_tree import KEY_BYTES
from beforehand.errors import KeysUnusable

_FORMS: Final = f"Give {KEY_BYTES} bytes as they are, as {2 * KEY_BYTES} hex digits, or in base64."


def from_file(path: Path) -> bytes:
    """32 bytes. Raises KeysUnusable."""
    try:
        if path.stat().st_mode & 0o077:
            raise KeysUnusable(f"others than its owner can reach the master key {path}.", f"Run `chmod 600 {path}`.")
        return _read(path.read_bytes(), f"the master key {path}")
    except OSError as error:
        advice = "Look at the path, its owner and its mode; set journal.key_file."
        raise KeysUnusable(f"the master key {path} cannot be read: {error.strerror}.", advice) from error


def from_command(command: Sequence[str]) -> bytes:
    """32 bytes, printed within limits.KEY_COMMAND_S. Raises KeysUnusable, which never says what was printed."""
    named = f"the command for the master key ({command[0]})"
    advice = "Run it by hand as this user; set journal.key_command."
    try:
        done = subprocess.run(command, capture_output=True, timeout=limits.KEY_COMMAND_S, check=False)  # noqa: S603  the operator's own
    except OSError as error:
        raise KeysUnusable(f"{named} cannot be run: {error.strerror}.", advice) from error
    except subprocess.TimeoutExpired:
        raise KeysUnusable(f"{named} took longer than {limits.KEY_COMMAND_S:g} s.", advice) from None
    if done.returncode:
        complaint = done.stderr.decode(errors="replace").strip().splitlines()
        said = f": {complaint[-1]}" if complaint else ""
        raise KeysUnusable(f"{named} ended with {done.returncode}{said}.", advice)
    return _read(done.stdout, f"what {named} printed")


def _read(given: bytes, named: str) -> bytes:
    """The key in one of its three forms."""
    if len(given) == KEY_BYTES:
        return given
    written = given.strip()
    for decode in (binascii.unhexlify, lambda text: base64.b64decode(text, validate=True)):
        try:
            key = decode(written)
        except ValueError:
            continue
        if len(key) == KEY_BYTES:
            return key
    raise KeysUnusable(f"{named} is no key of {KEY_BYTES} bytes: it has {len(given)} bytes.", _FORMS)
