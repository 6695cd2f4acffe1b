"""One agent process: counts what it says, keeps it until it is confirmed, and makes sense of what comes back."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from beforehand import limits
from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.client.inbox import Inbox
from beforehand.client.link import Link
from beforehand.client.outbox import Outbox, Waiting
from beforehand.client.promises import Bell
from beforehand.client.sending import Sending
from beforehand.errors import Refusal
from beforehand.messages import codec, topics
from beforehand.messages.outbound import CumulativeReceipt, Packet, Receipt, Reply
from beforehand.messages.topics import Address, Channel, Scope
from beforehand.ports import Arrival

_log = logging.getLogger(__name__)
OnRefused = Callable[[Receipt], None]
_LISTENED = ("packet/+", "receipt", "reply")


@dataclass(slots=True)
class _Counter:
    """Of one run: the epoch that counts now and the last number given."""

    epoch: str
    seq: int = 0
    epochs: int = 1


class Process:
    """What `Agent` and `PlainAgent` share. `serve` runs on one loop; everything else may be called by any thread.

    on_refused: called, on the loop, with the receipt of each message that the daemon or the broker refuses.
    """

    def __init__(
        self,
        tenant: str,
        agent: str,
        root: str,
        outbox: Outbox,
        options: ConnectionOptions,
        on_refused: OnRefused | None = None,
    ) -> None:
        self.name = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"
        self.inbox = Inbox()
        self.outbox = outbox
        self.confirmed = Bell()
        self._tenant, self._agent, self._root = tenant, agent, root
        self._on_refused = on_refused
        self._lock = threading.Lock()
        self._counters: dict[str, _Counter] = {}
        self._closing: set[str] = set()
        self._limited = False
        self.link = Link(options, Sending(outbox, self._topic_of, self._given_up), self._hear)
        for run in outbox.runs():
            self.link.listen(self._topics(run))

    # --- what the agent says ---

    def scope(self, run: str) -> Scope:
        """The scope of a run. Raises Refusal for an id that cannot be used."""
        for name, identifier in (("tenant", self._tenant), ("agent", self._agent), ("run", run)):
            topics.decode(topics.encode(identifier), name)
        return Scope(self._tenant, self._agent, run)

    def open(self, run: str) -> None:
        """Listen to a run."""
        with self._lock:
            self._closing.discard(run)
        self.link.listen(self._topics(run))

    def close(self, run: str) -> None:
        """Forget a run; what it said and is not confirmed is still sent, and listened for."""
        with self._lock:
            self._closing.add(run)
        self.inbox.forget_run(run)
        self._leave_closed()

    def say(self, scope: Scope, channel: Channel, fields: dict[str, Any]) -> bool:
        """Take one message; False when there is no room for it. Raises Refusal for what the daemon would refuse."""
        with self._lock:
            counter = self._counters.setdefault(scope.run, _Counter(self.name))
            number = {"epoch": counter.epoch, "seq": counter.seq + 1}
            payload = _payload(Address(scope, channel), {"at": datetime.now(UTC), **fields, **number})
            if not self.outbox.add(scope.run, counter.epoch, counter.seq + 1, channel, payload):
                return False
            counter.seq += 1
        self.link.stir()
        return True

    def end(self) -> None:
        """Close the outbox; what it forgets with that is logged."""
        if len(self.outbox) and not self.outbox.lasts:
            _log.warning(
                "forgotten with the end of the agent: %d messages that were not confirmed; name an outbox file, "
                "or give linger_s more time",
                len(self.outbox),
            )
        self.outbox.close()

    # --- in the background ---

    async def serve(self) -> None:
        """Connect and reconnect until cancelled, and ask for what stays unconfirmed."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.link.run())
            group.create_task(self._ask())

    async def _ask(self) -> None:
        """A broker may lose what it acknowledged, and then only the missing receipt tells.

        Of each run the oldest and the newest message are said again: the daemon answers with what it has, and its
        answer names what lies between. To send all again would fill the queue of a daemon that only stands still.
        """
        wait_s = limits.ASK_FIRST_S
        changed = asyncio.wrap_future(self.link.changed.next())
        while True:
            upto, heard = self.outbox.newest(), self.confirmed.next()
            await asyncio.wait({changed}, timeout=wait_s)
            if changed.done():
                changed = asyncio.wrap_future(self.link.changed.next())
                wait_s = limits.ASK_SOON_S
                continue
            wait_s = limits.ASK_FIRST_S if heard.done() else min(2 * wait_s, limits.ASK_LAST_S)
            if self.link.trouble is None:
                self.link.again(self.outbox.ends(upto))

    def _hear(self, arrival: Arrival) -> None:
        """Whatever arrives, the reading goes on."""
        try:
            self._sort(arrival)
        except Exception:  # noqa: BLE001  a message from the network must not end the reading
            _log.exception("cannot read what came on %s", arrival.topic[:200])

    def _sort(self, arrival: Arrival) -> None:
        levels = arrival.topic[len(self._root) + 1 :].split("/")
        run, channel = topics.decode(levels[2], "run"), levels[3]
        if channel == "packet" and not arrival.payload:
            self.inbox.clear_packet(run, topics.decode(levels[4], "step"))
            return
        body = orjson.loads(arrival.payload)
        if channel == "packet":
            packet = Packet.model_validate(body)
            if packet.run == run and run not in self._closing:
                self.inbox.put_packet(packet, stored=arrival.retained)
        elif channel == "reply":
            self.inbox.put_reply(Reply.model_validate(body))
        elif "durable_to" in body:
            self._on_durable(run, CumulativeReceipt.model_validate(body))
        else:
            self._on_receipt(run, Receipt.model_validate(body))

    def _on_durable(self, run: str, receipt: CumulativeReceipt) -> None:
        """Forget what is on disk; send again what is missing. What was refused for now stays until it is asked for."""
        if receipt.refused and not self._limited:
            _log.warning("this agent sends faster than its daemon takes; what was refused is sent again")
        self._limited = bool(receipt.refused) or (self._limited and len(self.outbox) > 0)
        self.outbox.confirm(run, receipt.epoch, [(1, receipt.durable_to), *receipt.also_durable])
        for first, last in receipt.missing:
            found = self.outbox.find(run, receipt.epoch, first, last)
            self.link.again(found)
            if len(found) <= last - first:
                self._count_anew(run, receipt.epoch)
        self._confirmed()

    def _count_anew(self, run: str, epoch: str) -> None:
        """The daemon misses what is here no more: refused, or confirmed by a journal that was lost since.

        A number that never comes would hold up the run's order for ever, so the run goes on in a new epoch.
        """
        with self._lock:
            counter = self._counters.get(run)
            if counter is not None and counter.epoch == epoch:
                counter.epochs += 1
                counter.epoch, counter.seq = f"{self.name}.{counter.epochs}", 0

    def _on_receipt(self, run: str, receipt: Receipt) -> None:
        if receipt.accepted:
            if receipt.problem is not None:
                _log.warning(
                    "stored, but: %s: %s: %s; %s", receipt.channel, receipt.error, receipt.problem, receipt.hint
                )
            return
        if receipt.epoch is not None and receipt.seq is not None:
            self.outbox.confirm(run, receipt.epoch, [(receipt.seq, receipt.seq)])
        self._refused(receipt)
        self._confirmed()

    def _given_up(self, waiting: Waiting, problem: str, advice: str) -> None:
        """The broker will never take this one."""
        self.outbox.confirm(waiting.run, waiting.epoch, [(waiting.seq, waiting.seq)])
        self._refused(
            Receipt(
                id=codec.given(waiting.payload).id,
                channel=waiting.channel,
                accepted=False,
                error="broker",
                problem=problem,
                hint=advice,
                epoch=waiting.epoch,
                seq=waiting.seq,
            )
        )
        self._confirmed()

    def _refused(self, receipt: Receipt) -> None:
        _log.warning("refused: %s: %s: %s; %s", receipt.channel, receipt.error, receipt.problem, receipt.hint)
        if self._on_refused is not None:
            self._on_refused(receipt)

    def _confirmed(self) -> None:
        self.confirmed.ring()
        self._leave_closed()

    def _leave_closed(self) -> None:
        """Closed runs of which nothing waits any more are not listened to, nor counted on."""
        if not self._closing:
            return
        with self._lock:
            done = self._closing.difference(self.outbox.runs())
            self._closing -= done
            for run in done:
                self._counters.pop(run, None)
        for run in done:
            self.link.leave(self._topics(run))

    def _topic_of(self, waiting: Waiting) -> str:
        return topics.of_run(Scope(self._tenant, self._agent, waiting.run), waiting.channel, self._root)

    def _topics(self, run: str) -> list[str]:
        scope = Scope(self._tenant, self._agent, run)
        return [topics.of_run(scope, name, self._root) for name in _LISTENED]


def _payload(address: Address, message: dict[str, Any]) -> bytes:
    """The message as bytes that the daemon will accept: read here by the same code. Raises Refusal."""
    try:
        payload = orjson.dumps(message)
    except orjson.JSONEncodeError as error:
        raise Refusal("message", f"not JSON: {error}", "send text, numbers, lists and dictionaries") from None
    codec.read(address, payload, received_us=0, arrival_id="")
    return payload
