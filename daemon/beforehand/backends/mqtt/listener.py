"""What the wire tells whoever listens to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from beforehand.backends.mqtt.publish_packets import Published


@dataclass(frozen=True, slots=True)
class Connack:
    """The broker's answer to CONNECT."""

    code: int
    reason: str
    session_present: bool
    receive_maximum: int | None
    maximum_packet: int | None


class Listener(Protocol):
    """Who is told what the wire brings. None of these may raise or call the wire back."""

    def on_message(self, message: Published) -> None:
        """A PUBLISH has arrived."""
        ...

    def on_answer(self, mid: int, codes: Sequence[int]) -> None:
        """Reason codes of the PUBACK, SUBACK or UNSUBACK for the packet `mid`."""
        ...

    def on_lost(self, reason: str, code: int | None) -> None:
        """The connection has ended; `code` is that of the broker's DISCONNECT. Called once."""
        ...

    def is_full(self) -> bool:
        """Whether reading should stop until `resume`."""
        ...

    def on_pause(self) -> None:
        """Reading has stopped."""
        ...
