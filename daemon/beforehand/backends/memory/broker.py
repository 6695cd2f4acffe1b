"""An MQTT broker as plain data: sessions, retained messages, wildcards, wills, redelivery. Synchronous."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from beforehand.errors import BusUnavailable, PublishRefused


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `expires_at_s` counts on the broker's clock."""

    topic: str
    payload: bytes
    retained: bool = False
    response_topic: str | None = None
    correlation: bytes | None = None
    expires_at_s: float | None = None


@dataclass(frozen=True, slots=True)
class Will:
    """What is published, retained, when a connection is dropped."""

    topic: str
    payload: bytes


@lru_cache(4_096)
def matches(topic_filter: str, topic: str) -> bool:
    """Whether an MQTT filter selects a topic (MQTT 5.0, section 4.7)."""
    wanted, levels = topic_filter.split("/"), topic.split("/")
    if topic.startswith("$") and wanted[0] in {"+", "#"}:
        return False
    for place, part in enumerate(wanted):
        if part == "#":
            return True
        if place >= len(levels) or part not in {"+", levels[place]}:
            return False
    return len(wanted) == len(levels)


class MemoryBroker:
    """The broker.

    now_s: the clock for message expiry; left out, nothing expires.
    refuses: says whether a publish of (client id, topic) is refused; the stand-in for access rules.
    """

    def __init__(
        self,
        now_s: Callable[[], float] = lambda: 0.0,
        refuses: Callable[[str, str], bool] = lambda _client_id, _topic: False,
    ) -> None:
        self.now_s = now_s
        self.refuses = refuses
        self.retained: dict[str, Message] = {}
        self._clients: dict[str, MemoryClient] = {}

    def connect(self, client_id: str, *, clean: bool = True, will: Will | None = None) -> MemoryClient:
        """A connected client: with the session of `client_id`, or with a new one when `clean` or when there is none."""
        client = self._clients.get(client_id)
        if client is None or clean:
            client = self._clients[client_id] = MemoryClient(self, client_id)
        client.will = will
        client.reconnect()
        return client

    def restart(self) -> None:
        """Lose everything that a broker without persistence loses: connections, sessions, retained messages."""
        for client in self._clients.values():
            client.will = None
            client.drop()
        self._clients.clear()
        self.retained.clear()

    def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        retain: bool = False,
        expiry_s: float | None = None,
        response_topic: str | None = None,
        correlation: bytes | None = None,
    ) -> None:
        """Give a message to every session with a matching subscription, once each."""
        expires_at_s = None if expiry_s is None else self.now_s() + expiry_s
        message = Message(
            topic,
            payload,
            response_topic=response_topic,
            correlation=correlation,
            expires_at_s=expires_at_s,
        )
        if retain and payload:
            self.retained[topic] = replace(message, retained=True)
        elif retain:
            self.retained.pop(topic, None)
        for client in list(self._clients.values()):
            client.offer(message)

    def stored(self, topic_filter: str) -> list[Message]:
        """The retained messages that a filter selects, oldest topic first."""
        return [message for topic, message in self.retained.items() if matches(topic_filter, topic)]

    def is_current(self, message: Message) -> bool:
        """Whether a message has not expired."""
        return message.expires_at_s is None or self.now_s() < message.expires_at_s


class MemoryClient:
    """One client with its session. A message is delivered by `take` and forgotten by `acknowledge`.

    on_message: called whenever something waits.
    """

    def __init__(self, broker: MemoryBroker, client_id: str) -> None:
        self.broker = broker
        self.client_id = client_id
        self.connected = False
        self.will: Will | None = None
        self.on_message: Callable[[], None] = lambda: None
        self._filters: dict[str, None] = {}
        self._waiting: deque[Message] = deque()
        self._delivered: dict[int, Message] = {}
        self._deliveries = itertools.count(1)

    def reconnect(self) -> None:
        """Connect again, with the session; what was delivered and not acknowledged waits again, in its place."""
        self._waiting.extendleft(reversed(self._delivered.values()))
        self._delivered.clear()
        self.connected = True
        if self._waiting:
            self.on_message()

    def disconnect(self) -> None:
        """Leave in order: no will."""
        self.connected = False

    def drop(self) -> None:
        """Lose the connection: the broker publishes the will."""
        if self.connected and self.will is not None:
            self.broker.publish(self.will.topic, self.will.payload, retain=True)
        self.connected = False

    def subscribe(self, *topic_filters: str) -> None:
        """Subscribe; stored messages come at once. Raises BusUnavailable."""
        self._require_connection()
        for topic_filter in topic_filters:
            self._filters[topic_filter] = None
            for message in self.broker.stored(topic_filter):
                self._enqueue(message)

    def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        retain: bool = False,
        expiry_s: float | None = None,
        response_topic: str | None = None,
        correlation: bytes | None = None,
    ) -> None:
        """Publish. Raises BusUnavailable or PublishRefused."""
        self._require_connection()
        if self.broker.refuses(self.client_id, topic):
            raise PublishRefused(f"the broker refuses the publish to {topic}: not authorized.", "Allow it there.")
        self.broker.publish(
            topic,
            payload,
            retain=retain,
            expiry_s=expiry_s,
            response_topic=response_topic,
            correlation=correlation,
        )

    def offer(self, message: Message) -> None:
        """The broker's side: queue a message that one of the subscriptions selects, connected or not."""
        if any(matches(topic_filter, message.topic) for topic_filter in self._filters):
            self._enqueue(message)

    def take(self, limit: int) -> list[tuple[int, Message]]:
        """Deliver the next messages, each with a number for `acknowledge` that is never used again."""
        taken: list[tuple[int, Message]] = []
        while self.connected and self._waiting and len(taken) < limit:
            message = self._waiting.popleft()
            if self.broker.is_current(message):
                taken.append((next(self._deliveries), message))
        self._delivered.update(taken)
        return taken

    def acknowledge(self, deliveries: Iterable[int]) -> None:
        """Forget these. Deliveries of an earlier connection are ignored."""
        for delivery in deliveries:
            self._delivered.pop(delivery, None)

    def receive(self) -> list[Message]:
        """All that waits, acknowledged."""
        taken = self.take(len(self._waiting))
        self.acknowledge(delivery for delivery, _ in taken)
        return [message for _, message in taken]

    def _enqueue(self, message: Message) -> None:
        self._waiting.append(message)
        if self.connected:
            self.on_message()

    def _require_connection(self) -> None:
        if not self.connected:
            raise BusUnavailable("no connection to the broker in memory: it was dropped.", "Reconnect.")
