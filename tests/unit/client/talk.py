"""An agent process without a network, and what a daemon would say to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from beforehand.backends.mqtt.options import ConnectionOptions
from beforehand.client.outbox import Outbox
from beforehand.client.process import OnRefused, Process
from beforehand.messages import topics
from beforehand.messages.outbound import CumulativeReceipt, Packet, Receipt, Watermark
from beforehand.messages.topics import Scope
from beforehand.messages.values import moment
from beforehand.ports import Arrival

RUN = Scope("shop", "anna", "r1")
_NOW = datetime.now(UTC)


def process(on_refused: OnRefused | None = None) -> Process:
    """Never served, so nothing is sent; `tell` is what it hears."""
    options = ConnectionOptions(client_id="anna", port=1)
    return Process(RUN.tenant, RUN.agent, topics.ROOT, Outbox("shop/anna"), options, on_refused)


def tell(hearer: Process, channel: str, message: Any) -> None:
    payload = message if isinstance(message, bytes) else orjson.dumps(message.model_dump(mode="json"))
    hearer._hear(Arrival(topics.of_run(RUN, channel), payload))


def durable(epoch: str, to: int, missing: Any = (), also: Any = ()) -> CumulativeReceipt:
    return CumulativeReceipt(epoch=epoch, durable_to=to, missing=list(missing), also_durable=list(also))


def refused(epoch: str, seq: int) -> Receipt:
    return Receipt(
        id=None, channel="event", accepted=False, error="kind", problem="wrong", hint="better", epoch=epoch, seq=seq
    )


def packet(
    step: str = "s1",
    version: int = 1,
    *,
    final: bool = False,
    at_us: int = 0,
    text: str = "remember",
    lasts: timedelta = timedelta(days=1),
) -> Packet:
    """lasts: how long it is of use from now on; the time that it says it was made at does not matter for that."""
    return Packet(
        id=f"p{version}",
        tenant=RUN.tenant,
        agent=RUN.agent,
        run=RUN.run,
        step=step,
        plan_revision=1,
        version=version,
        final=final,
        status="ready",
        created_at=moment(at_us),
        expires_at=_NOW + lasts,
        watermark=Watermark(event=None, position=1),
        rendered=text,
        tokens=1,
        budget_tokens=9,
        searched=1,
        policy="p",
    )
