"""What is left of a message that was erased: enough to be read again, in its place, and nothing that it said."""

from __future__ import annotations

from typing import Any, Final

import orjson

from beforehand.messages.topics import Channel

ERASED: Final = "erased"
"""Field of an emptied message: when it was erased; and the name in place of one that was."""
_COUNTED: Final = ("epoch", "seq")
_OF_DERIVED: Final = ("use", "model", "prompt")
_LEFT: Final = {*_COUNTED, "kind", "steps", "revision", "step", "phase", "packet", "query", *_OF_DERIVED, ERASED}

_NOTHING: Final[dict[str, Any]] = {"steps": [], "step": ERASED, "packet": ERASED, "query": ""}
"""What stands in the fields that a message of its sort must have. A sender may well write a field of our name."""


def emptied(channel: Channel, body: bytes, at: str) -> bytes:
    """The body of an erased message. at: when it is erased, RFC 3339. The place in the agent's own count stays."""
    written = orjson.loads(body)
    left: dict[str, Any] = {name: written[name] for name in _COUNTED if name in written}
    match channel:
        case "event":
            left["kind"] = written["kind"]
        case "plan":
            left |= {"steps": [], "revision": written.get("revision", 0)}
        case "step":
            left |= {"step": ERASED, "phase": written["phase"]}
        case "feedback":
            left["packet"] = ERASED
        case "recall":
            left["query"] = ""
        case "derived":
            left |= {name: written[name] for name in _OF_DERIVED}
    return orjson.dumps({**left, ERASED: at})


def unreadable(channel: Channel, epoch: str | None, seq: int | None) -> bytes:
    """The body of a message of which nothing can be read any more, since its key was destroyed, nobody knows when."""
    body: dict[str, Any] = {"kind": "note", "phase": "end", "use": "facts", "model": ERASED, "prompt": ERASED}
    if epoch is not None:
        body |= {"epoch": epoch, "seq": seq}
    return emptied(channel, orjson.dumps(body), "before this copy was restored")


def erased_at(body: bytes) -> str | None:
    """When a message was erased; None when it was not."""
    if not body.endswith(b"}") or f'"{ERASED}"'.encode() not in body:
        return None
    written = orjson.loads(body)
    says_nothing = all(written.get(name, nothing) == nothing for name, nothing in _NOTHING.items())
    return written.get(ERASED) if written.keys() <= _LEFT and says_nothing else None
