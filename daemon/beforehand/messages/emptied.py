"""What is left of a message that was erased: enough to be read again, in its place, and nothing that it said."""

from __future__ import annotations

from typing import Any, Final

import orjson

from beforehand.messages.topics import Channel

ERASED: Final = "erased"
"""Field of an emptied message: when it was erased; and the name in place of one that was."""
_COUNTED: Final = ("epoch", "seq")
_LEFT: Final = {*_COUNTED, "kind", "steps", "revision", "step", "phase", "packet", "query", ERASED}


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
            left |= {name: written[name] for name in ("use", "model", "prompt")}
    return orjson.dumps({**left, ERASED: at})


def erased_at(body: bytes) -> str | None:
    """When a message was erased; None when it was not."""
    if not body.endswith(b"}") or f'"{ERASED}"'.encode() not in body:
        return None
    written = orjson.loads(body)
    return written.get(ERASED) if written.keys() <= _LEFT else None
