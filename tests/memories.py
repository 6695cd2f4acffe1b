"""Chosen memories in few words, for the tests of the packet's room."""

from __future__ import annotations

from typing import Any

from beforehand.context.choice import Choice
from beforehand.context.packet import PacketHeader
from beforehand.messages.topics import Scope


def value(key: str, what: str, position: int = 1, tool: str = "search", **more: Any) -> Choice:
    """A field of a tool's result."""
    fields: dict[str, Any] = {
        "kind": "event",
        "probability": 0.5,
        "event_ids": (f"e{position}",),
        "tool": tool,
        "authority": "tool",
    } | more
    return Choice(text=what, key=key, value=what, position=position, **fields)


def said(text: str, position: int = 1, **more: Any) -> Choice:
    """A sentence of the user."""
    fields: dict[str, Any] = {
        "kind": "event",
        "probability": 0.5,
        "event_ids": (f"e{position}",),
        "source": "user",
        "authority": "user",
    } | more
    return Choice(text=text, position=position, **fields)


def header(**more: Any) -> PacketHeader:
    """A packet's header with everything filled in."""
    fields: dict[str, Any] = {
        "id": "p1",
        "scope": Scope("acme", "agent", "run"),
        "step": "s1",
        "version": 1,
        "created_us": 1_772_359_800_000_000,
        "expires_us": 1_772_359_860_000_000,
        "event": "e9",
        "position": 9,
        "searched": 9,
        "policy": "default",
    } | more
    return PacketHeader(**fields)
