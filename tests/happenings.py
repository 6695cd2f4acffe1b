"""Events as memory holds them, for tests that need no daemon to make them."""

from __future__ import annotations

from typing import Any

from beforehand.memory.remembered import Remembered


def happened(row: int, text: str = "", **more: Any) -> Remembered:
    """An event of a user in the run `r`; `more` says what is otherwise."""
    usual: dict[str, Any] = {
        "row": row,
        "run": "r",
        "position": row + 1,
        "id": f"e{row}",
        "kind": "message",
        "role": "user",
        "tool": None,
        "ok": None,
        "authority": "user",
        "space": None,
        "tags": frozenset(),
        "step": None,
        "at_us": row,
        "importance": 0.5,
        "text": text,
        "passages": (),
        "worthy": True,
    }
    return Remembered(**{**usual, **more})
