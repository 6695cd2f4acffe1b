"""One process per client id: a broker that sees an id twice throws out the first, and two daemons would take turns."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from beforehand.errors import ClientIdTaken


@contextmanager
def client_id_lock(folder: Path, client_id: str, where: str) -> Iterator[None]:
    """Hold `client_id` at the broker `where` for this process.

    The file stays behind; the kernel frees the lock when its process ends, however it ends. Raises ClientIdTaken.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{quote(f'{client_id}@{where}', safe='@')}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "another"
            raise ClientIdTaken(
                f"process {holder} uses the client id {client_id!r} at {where} ({path}).",
                "Stop that daemon, or give this one another broker.name.",
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
