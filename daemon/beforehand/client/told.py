"""What an agent gets back before a step."""

from __future__ import annotations

from dataclasses import dataclass

from beforehand.messages.outbound import Packet


@dataclass(frozen=True, slots=True)
class Told:
    """What to remember before a step: always there, in time.

    text: ready for the prompt; empty when there is nothing. packet: where it comes from, or None.
    reason: why there is no final packet (deadline, no connection), else None.
    """

    text: str
    packet: Packet | None
    reason: str | None = None

    @property
    def is_final(self) -> bool:
        """Whether the daemon made it after it knew that the step begins."""
        return self.packet is not None and self.packet.final
