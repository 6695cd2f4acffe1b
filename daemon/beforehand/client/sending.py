"""Which message of the outbox goes out next, and what becomes of one that the broker does not take."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from beforehand import limits
from beforehand.backends.mqtt.connection import Connection
from beforehand.client.outbox import Outbox, Waiting
from beforehand.errors import BusUnavailable, MessageTooLarge, PublishRefused

_log = logging.getLogger(__name__)
_AT_ONCE: Final = limits.PUBLISHES_IN_FLIGHT


class Sending:
    """Each message once per connection, in the order in which it was said; after those that are asked for again.

    topic_of: where a message goes. give_up: told of a message that this broker will never take, and why.
    A message that the broker refuses for a reason that may pass (an access list, a quota) stays in the outbox.
    """

    def __init__(
        self, outbox: Outbox, topic_of: Callable[[Waiting], str], give_up: Callable[[Waiting, str, str], None]
    ) -> None:
        self._outbox = outbox
        self._topic_of = topic_of
        self._give_up = give_up
        self._sent_to = 0
        self._again: deque[int] = deque()
        self._suspect = 0
        self._losses = 0
        self._careful_to = 0
        self._complained: str | None = None

    def start_over(self) -> None:
        """A new connection: all that is unconfirmed is sent again."""
        self._sent_to = 0
        self._again.clear()

    def again(self, numbers: Iterable[int]) -> None:
        """Send these once more, if this connection has sent them already."""
        queued = set(self._again)
        self._again.extend(number for number in numbers if number <= self._sent_to and number not in queued)

    async def send_some(self, connection: Connection) -> bool:
        """Send the next few, on the way together. False when there was nothing to send. Raises BusUnavailable."""
        batch = self._next(1 if self._sent_to < self._careful_to else _AT_ONCE)
        if not batch:
            return False
        results = await asyncio.gather(*(self._publish(connection, one) for one in batch), return_exceptions=True)
        for one, result in zip(batch, results, strict=True):
            if isinstance(result, BusUnavailable) and not connection.is_open:
                self._cut_off(one, batch[-1].number)
            if isinstance(result, BaseException):
                raise result
            if one.number == self._suspect:
                self._suspect = 0
        return True

    def _next(self, limit: int) -> list[Waiting]:
        while self._again:
            asked = [self._again.popleft() for _ in range(min(limit, len(self._again)))]
            if found := self._outbox.these(asked):
                return found
        batch = self._outbox.after(self._sent_to, limit)
        if batch:
            self._sent_to = batch[-1].number
        return batch

    async def _publish(self, connection: Connection, one: Waiting) -> None:
        try:
            await connection.publish(self._topic_of(one), one.payload)
        except MessageTooLarge as error:
            self._give_up(one, error.problem, error.advice)
        except PublishRefused as error:
            if self._complained != str(error):
                self._complained = str(error)
                _log.warning("%s The message is kept.", error)

    def _cut_off(self, first: Waiting, last: int) -> None:
        """The connection ended at the messages `first` to `last`. The next one sends each of them alone.

        One at which it always ends must not hold up the others for ever.
        """
        self._losses = self._losses + 1 if first.number == self._suspect else 1
        self._suspect, self._careful_to = first.number, max(self._careful_to, last)
        if first.number == last and self._losses >= limits.CUT_OFF:
            self._suspect = 0
            problem = f"the broker hung up {limits.CUT_OFF} times at this message of {len(first.payload)} bytes"
            self._give_up(first, problem, "raise its limit for the size of messages")
