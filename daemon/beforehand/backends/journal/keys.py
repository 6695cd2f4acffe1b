"""The keys of a journal: where its seal comes from, and how those of erased rows are destroyed."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Final

import orjson

from beforehand.backends.journal import files
from beforehand.backends.journal.rows import payload_of
from beforehand.backends.sealing import UNSEALED, Seal, key_store, master_key
from beforehand.backends.sealing.key_store import KeyStore
from beforehand.backends.sealing.key_tree import without
from beforehand.backends.sealing.keyed import KeyedSeal
from beforehand.backends.sealing.seal import LEAF_END, leaf_of
from beforehand.errors import KeysUnusable
from beforehand.messages.emptied import ERASED
from beforehand.settings import JournalSettings

_SEALED: Final = {
    "messages": ("body",),
    "packets": ("packet", "decision"),
    "vectors": ("vector",),
    "dead_letters": ("payload",),
}
"""Columns by table."""
BODY: Final = "opened(body, 'messages', tenant, agent, run, channel, key)"
PACKET: Final = "opened(packet, 'packets', id)"
DECISION: Final = "opened(decision, 'decisions', id)"
PAYLOAD: Final = "CASE problem WHEN '' THEN opened(payload, 'dead_letters', topic, received_us) ELSE payload END"
"""What a statement says to read a column. A dead letter that is not sealed has a problem; its payload is anything."""
_LOST_MESSAGE: Final = orjson.dumps({ERASED: "its key was destroyed"})
_LOST_PACKET: Final = orjson.dumps({"reason": ERASED})


class JournalKeys:
    """The seal of a journal, and what can be done to its keys."""

    def __init__(self, store: KeyStore | None) -> None:
        self.store = store
        """None where nothing is sealed."""
        self._keyed = None if store is None else KeyedSeal(store.nodes)
        self._leaves: set[int] = set()
        self._agents: set[tuple[str, str]] = set()

    @property
    def seal(self) -> Seal:
        """Closes and opens what the journal keeps."""
        return self._keyed or UNSEALED

    def read_by(self, connection: sqlite3.Connection) -> None:
        """Let statements say BODY, PACKET, DECISION and PAYLOAD."""
        connection.create_function("opened", -1, self._opened)

    def watch(self, connection: sqlite3.Connection) -> None:
        """Note the keys of what statements overwrite or delete from now on, and of nothing before."""
        if self._keyed is None:
            return
        self._leaves.clear()
        self._agents.clear()
        connection.create_function("overwritten", -1, self._overwritten)
        for table, columns in _SEALED.items():
            whose = ", OLD.tenant, OLD.agent" if table == "messages" else ""
            noted = "; ".join(f"SELECT overwritten(OLD.{column}{whose})" for column in columns)
            for name, when in (("updated", f"UPDATE OF {', '.join(columns)}"), ("deleted", "DELETE")):
                connection.execute(
                    f"CREATE TEMP TRIGGER {table}_{name} BEFORE {when} ON main.{table} BEGIN {noted}; END"
                )

    def destroy(self) -> int:
        """Destroy the keys that were noted, and those of their agents: for good when it returns. How many they were."""
        if self._keyed is None or self.store is None:
            return 0
        gone = self._leaves.union(self._keyed.leaf_of_agent(*agent) for agent in self._agents)
        if gone:
            left = replace(self.store, nodes=without(self.store.nodes, gone))
            key_store.replace(left)
            self.store = left
        return len(gone)

    def lost(self, path: Path) -> dict[str, int]:
        """How many rows of a journal have keys that were destroyed, by table: what was erased since it was copied."""
        with contextlib.closing(files.connect(path, "ro")) as connection:
            counts = {table: self._lost(connection, table, columns[0]) for table, columns in _SEALED.items()}
        return {table: count for table, count in counts.items() if count}

    def _lost(self, connection: sqlite3.Connection, table: str, column: str) -> int:
        if self._keyed is None:
            return 0
        begins = connection.execute(f"SELECT substr({column}, 1, {LEAF_END}) FROM {table}")  # noqa: S608  our own names
        leaves = (leaf_of(begin) for (begin,) in begins)
        return sum(leaf is not None and self._keyed.key(leaf) is None for leaf in leaves)

    def _opened(self, content: bytes, *about: str | int) -> bytes:
        opened = self.seal.open(content, *about)
        if opened is None:
            return _LOST_MESSAGE if about[0] == "messages" else _LOST_PACKET
        return payload_of(opened) if about[0] == "dead_letters" else opened

    def _overwritten(self, content: bytes, *agent: str) -> None:
        leaf = leaf_of(content)
        if leaf is not None:
            self._leaves.add(leaf)
        if agent:
            self._agents.add((agent[0], agent[1]))


NO_KEYS: Final = JournalKeys(None)
"""Of a journal that is not sealed."""


def keys_of(settings: JournalSettings) -> JournalKeys:
    """Of the journal at settings.path, which is there; the first time makes a key store. Raises KeysUnusable."""
    path, store_path = settings.path, store_of(settings)
    origin, sealed = _origin(path)
    master = master_of(settings)
    if master is None:
        if sealed:
            advice = "Set journal.key_file or journal.key_command to the master key that it was sealed with."
            raise KeysUnusable(f"the journal {path} is sealed, and the settings name no master key.", advice)
        return NO_KEYS
    if not store_path.exists():
        if sealed:
            advice = "Set journal.key_store, or put its copy there; without it nobody can read what was sealed."
            raise KeysUnusable(f"the journal {path} is sealed, and its key store {store_path} is missing.", advice)
        return NO_KEYS if origin is None else JournalKeys(key_store.create(store_path, master, origin))
    store = key_store.read(store_path, master)
    if origin not in {None, store.origin}:
        advice = "Set journal.key_store to the one of this journal."
        raise KeysUnusable(f"the key store {store_path} is of another journal than {path}.", advice)
    return JournalKeys(store)


def store_of(settings: JournalSettings) -> Path:
    """Where the key store is."""
    return settings.key_store or settings.path.with_name(f"{settings.path.name}.keys")


def _origin(path: Path) -> tuple[bytes | None, bool]:
    """What a journal is known by, and whether it has rows that need keys; (None, False) where neither can be read."""
    with contextlib.suppress(sqlite3.DatabaseError), contextlib.closing(files.connect(path, "ro")) as connection:
        key, sealed = connection.execute("SELECT key, sealed FROM origin").fetchone()
        return bytes(key), bool(sealed)
    return None, False  # an older version's, or damaged


def master_of(settings: JournalSettings) -> bytes | None:
    """The master key; None when the settings name none. Raises KeysUnusable."""
    if settings.key_file is not None:
        return master_key.from_file(settings.key_file)
    return master_key.from_command(settings.key_command) if settings.key_command else None
