"""Which result is that of a call: told by its `call_id`, where both bear one, else by its tool and its place."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final, Protocol, TypeVar

WITHIN: Final = 128
"""Events after a call among which its result is looked for: more calls than that are hardly made at once."""


class Happening(Protocol):
    """What is asked of an event: a call, a result, or anything else."""

    @property
    def kind(self) -> str:
        """As in the wire contract."""
        ...

    @property
    def tool(self) -> str | None:
        """Of a call or a result."""
        ...

    @property
    def call_id(self) -> str | None:
        """What ties a result to its call."""
        ...


Event = TypeVar("Event", bound=Happening)


def result_of(call: Happening, later: Iterable[Event]) -> Event | None:
    """The result of a call. later: what came after it, of which the first WITHIN are looked at.

    It is the one with the call's `call_id`, however many calls were made meanwhile. Else it is the next of the call's
    tool, or of none, before another call; a result with another `call_id` than the call's is never taken.
    """
    nearest: Event | None = None
    others = False
    for event in islice(later, WITHIN):
        if event.kind == "action":
            others = True
            if call.call_id is None or call.call_id == event.call_id:
                break
        elif event.kind == "observation":
            if call.call_id is not None and event.call_id is not None:
                if call.call_id == event.call_id:
                    return event
            elif nearest is None and not others and event.tool in (None, call.tool):
                nearest = event
    return nearest
