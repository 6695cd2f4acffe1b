"""What was sent in a run: versions, the newest packet of each step, and when each item was last said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from beforehand import limits
from beforehand.messages.outbound import Packet
from beforehand.messages.values import micros
from beforehand.trigger.packs import Rule

_HALF_LIFE: Final = timedelta(seconds=limits.PACKET_EXPIRY_S / 2)


@dataclass(slots=True)
class Runbook:
    """`finals`: final packets of the run so far; `said`: item id to (`finals`, microseconds, step) when last said.

    newest: the packet of each step that has not ended which was sent last, as far as this process knows.
    published: of these, what this process put on the step's topic and did not clear, as it was decided last.
    """

    newest: dict[str, Packet] = field(default_factory=dict)
    published: dict[str, Packet] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    finals: int = 0
    said: dict[str, tuple[int, int, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, packets: Iterable[Packet]) -> Runbook:
        """Fold over the packets of a run that were recorded, in order; none tells what still stands on a topic."""
        book = cls()
        for packet in packets:
            book.sent(packet)
        book.published.clear()
        return book

    def next_version(self, step: str) -> int:
        """The version that the next packet of a step has; it grows over restarts."""
        return self.versions.get(step, 0) + 1

    def sent(self, packet: Packet) -> None:
        """Note one published packet."""
        self.newest[packet.step] = self.published[packet.step] = packet
        self.versions[packet.step] = packet.version
        if packet.final:
            self.finals += 1
            for item in packet.items:
                self.said[item.id] = self.finals, micros(packet.created_at), packet.step

    def ages(self, packet: Packet) -> bool:
        """Whether the packet of the same step that was sent last has less than half of its life left by now.

        packet: what would be sent now.
        """
        return self.newest[packet.step].expires_at - packet.created_at < _HALF_LIFE

    def within(self, item_id: str, rule: Rule, step: str, now_us: int) -> bool:
        """Whether an earlier step was told the item within the rule's cooldown, counted in final packets or seconds."""
        finals, at_us, told = self.said.get(item_id, (0, 0, step))
        if told == step:
            return False
        return self.finals - finals < rule.cooldown_steps or 0 <= now_us - at_us < rule.cooldown_s * 1e6

    def told(self, item_id: str) -> str | None:
        """The step whose final packet said the item last."""
        return self.said[item_id][2] if item_id in self.said else None

    def has_final(self, step: str) -> bool:
        """Whether the step's final packet was sent."""
        packet = self.newest.get(step)
        return packet is not None and packet.final

    def made_without_plan(self, step: str) -> bool:
        """Whether the step's packet was made before any plan announced it."""
        packet = self.newest.get(step)
        return packet is not None and packet.plan_revision is None

    def closed(self, step: str) -> None:
        """The step ended: its packet is cleared; its version stays."""
        self.newest.pop(step, None)
        self.published.pop(step, None)
