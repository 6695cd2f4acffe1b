"""What the daemon has sent to this agent: the newest packet of each step, and answers that are waited for."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from beforehand.messages.outbound import Packet, Reply
from beforehand.messages.topics import Scope

_STEPS: Final = 4_096

Key = tuple[Scope, str]


class Inbox:
    """Packets by step, at most 4,096 steps; futures for what is expected. on_refused: told of refused messages."""

    def __init__(self) -> None:
        self.on_refused: Callable[[dict[str, Any]], None] | None = None
        self._packets: OrderedDict[Key, Packet] = OrderedDict()
        self._finals: dict[Key, asyncio.Future[Packet]] = {}
        self._replies: dict[str, asyncio.Future[Reply]] = {}
        self._stirred = asyncio.Event()

    def newest(self, scope: Scope, step: str) -> Packet | None:
        """The newest packet of a step, prepared or final."""
        return self._packets.get((scope, step))

    def expect_final(self, scope: Scope, step: str) -> asyncio.Future[Packet]:
        """The final packet of a step that is about to begin."""
        return self._finals.setdefault((scope, step), asyncio.get_running_loop().create_future())

    def forget_final(self, scope: Scope, step: str) -> None:
        """Nobody waits any more."""
        self._finals.pop((scope, step), None)

    def expect_reply(self, question: str) -> asyncio.Future[Reply]:
        """The reply to a question."""
        return self._replies.setdefault(question, asyncio.get_running_loop().create_future())

    def forget_reply(self, question: str) -> None:
        """Nobody waits any more."""
        self._replies.pop(question, None)

    def put_packet(self, scope: Scope, step: str, packet: Packet | None) -> None:
        """A packet came, or (None) the topic was cleared. An older version never replaces a newer one."""
        key = (scope, step)
        if packet is None:
            self._packets.pop(key, None)
            return
        known = self._packets.get(key)
        if known is None or packet.version >= known.version:
            self._packets[key] = packet
            if len(self._packets) > _STEPS:
                self._packets.popitem(last=False)
        waiting = self._finals.get(key)
        if packet.final and waiting is not None and not waiting.done():
            waiting.set_result(packet)

    def put_reply(self, reply: Reply) -> None:
        """A reply came."""
        waiting = self._replies.get(reply.id)
        if waiting is not None and not waiting.done():
            waiting.set_result(reply)

    def put_receipt(self, receipt: dict[str, Any]) -> None:
        """A receipt of one message came."""
        if receipt.get("accepted") is False and self.on_refused is not None:
            self.on_refused(receipt)

    def stir(self) -> None:
        """Something was confirmed."""
        self._stirred.set()
        self._stirred = asyncio.Event()

    async def stirred(self) -> None:
        """Return at the next confirmation."""
        await self._stirred.wait()
