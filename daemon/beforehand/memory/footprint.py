"""What an agent takes of a process's memory, from counts that are at hand: an estimate within a third.

Measured on agents of 100 and 1,000 events, prose and JSON (`python -m tests.bench footprint`).
"""

from __future__ import annotations

from typing import Final

from beforehand.memory.agent import AgentMemory
from beforehand.memory.stored_events import StoredEvents

_AGENT: Final = 250_000
"""Arrays that are reserved a little ahead."""
_EVENT: Final = 900
_MESSAGE: Final = 200
_PASSAGE: Final = 380
_CHAR: Final = 3.5
"""Of an event's text: passages say it once more, most with a name beside it."""
_TERM: Final = 300
_VALUE: Final = 150
_VECTOR_NUMBER: Final = 5.5
"""4 bytes in the matrix, the rest in the nodes of the topic tree."""


def footprint(memory: AgentMemory) -> int:
    """Bytes, about."""
    shelf, vectors = memory.shelf, memory.vectors
    hot = len(memory.events) - memory.cold
    in_file = min(memory.cold, memory.events.stored) if isinstance(memory.events, StoredEvents) else 0
    numbers = 0 if vectors is None else hot * vectors.dimensions
    return _AGENT + int(
        _MESSAGE * (memory.messages - in_file)
        + _EVENT * hot
        + _PASSAGE * shelf.columns.size
        + _CHAR * memory.chars
        + _TERM * len(shelf.terms)
        + _VALUE * len(shelf.values)
        + _VECTOR_NUMBER * numbers
    )
