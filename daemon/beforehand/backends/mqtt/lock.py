"""One process per client id: a broker that sees an id twice throws out the first, and two daemons would take turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from beforehand.backends.locks import held
from beforehand.errors import ClientIdTaken


@contextmanager
def client_id_lock(folder: Path, client_id: str, where: str) -> Iterator[None]:
    """Hold `client_id` at the broker `where` for this process. Raises ClientIdTaken."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{quote(f'{client_id}@{where}', safe='@')}.lock"

    def taken(holder: str) -> ClientIdTaken:
        return ClientIdTaken(
            f"process {holder} uses the client id {client_id!r} at {where} ({path}).",
            "Stop that daemon, or give this one another broker.name.",
        )

    with held(path, taken):
        yield
