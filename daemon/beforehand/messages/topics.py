"""Topics: `{root}/{tenant}/{agent}/{run}/{channel}`. Ids stand percent-encoded, one spelling for each id."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Final, Literal

from beforehand import limits
from beforehand.errors import Refusal

ROOT: Final = "beforehand/v1"
Channel = Literal["event", "plan", "step", "feedback", "recall"]
INGEST: Final[tuple[Channel, ...]] = ("event", "plan", "feedback")
CONTROL: Final[tuple[Channel, ...]] = ("step", "recall")
CHANNELS: Final = frozenset(INGEST + CONTROL)

_ENCODED = re.compile(r"[%/+#\x00-\x1f\x7f-\x9f]")
_HEX = re.compile(r"%[0-9A-F]{2}")


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """Whose memory a message belongs to."""

    tenant: str
    agent: str
    run: str


@dataclass(frozen=True, slots=True)
class Address:
    """An inbound topic, read."""

    scope: Scope
    channel: Channel


def encode(identifier: str) -> str:
    """One id as a topic level: `%`, `/`, `+`, `#`, control characters and a leading `$` percent-encoded (UTF-8)."""
    level = _ENCODED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), identifier)
    return f"%24{level[1:]}" if level.startswith("$") else level


def decode(level: str, field: str) -> str:
    """The id that `level` spells. Raises Refusal when it is empty, too long, or not the one right spelling."""
    if not level:
        raise Refusal(field, f"the {field} in the topic is empty", "put a non-empty id there")
    try:
        identifier = _from_bytes(level) if "%" in level else level
    except UnicodeDecodeError:
        raise Refusal(field, f"the {field} {level[:80]!r} does not decode to UTF-8", "percent-encode UTF-8") from None
    size = len(identifier.encode())
    if size > limits.ID_BYTES:
        raise Refusal(field, f"the {field} has {size} bytes in UTF-8", f"use at most {limits.ID_BYTES}")
    if encode(identifier) != level:
        raise Refusal(field, f"{level!r} is not the spelling of this {field}", f"write it as {encode(identifier)!r}")
    return identifier


def _from_bytes(level: str) -> str:
    plain = bytearray()
    at = 0
    for match in _HEX.finditer(level):
        plain += level[at : match.start()].encode()
        plain.append(int(match.group()[1:], 16))
        at = match.end()
    return (plain + level[at:].encode()).decode()


def read(topic: str, root: str = ROOT) -> Address:
    """The address of an inbound topic. Raises Refusal that names the level that is wrong."""
    if not topic.startswith(f"{root}/"):
        raise Refusal(
            "topic",
            f"the topic is not below {root!r}",
            f"publish to {root}/{{tenant}}/{{agent}}/{{run}}/event",
        )
    levels = topic[len(root) + 1 :].split("/")
    if len(levels) != 4 or levels[3] not in CHANNELS:
        raise Refusal(
            "topic",
            f"{topic[:200]!r} is not {root}/{{tenant}}/{{agent}}/{{run}}/{{channel}}",
            f"channels are {', '.join(sorted(CHANNELS))}; `/` inside an id is written %2F",
        )
    tenant, agent, run = (decode(level, name) for level, name in zip(levels, ("tenant", "agent", "run"), strict=False))
    return Address(Scope(tenant, agent, run), levels[3])


def of_run(scope: Scope, channel: str, root: str = ROOT) -> str:
    """The topic of a channel of one run."""
    return f"{root}/{encode(scope.tenant)}/{encode(scope.agent)}/{encode(scope.run)}/{channel}"


def of_packet(scope: Scope, step: str, root: str = ROOT) -> str:
    """The topic of the packet of one step."""
    return f"{of_run(scope, 'packet', root)}/{encode(step)}"


def of_status(name: str, root: str = ROOT) -> str:
    """The topic of a daemon's retained status."""
    return f"{root}/$daemon/{encode(name)}/status"


def answers_below(scope: Scope, topic: str, root: str = ROOT) -> bool:
    """Whether a recall of this agent may name `topic` as its response topic."""
    prefix = f"{root}/{encode(scope.tenant)}/{encode(scope.agent)}/"
    return topic.startswith(prefix) and len(topic) > len(prefix) and not any(sign in topic for sign in "+#\0")


def filters(channels: tuple[Channel, ...], root: str = ROOT) -> list[str]:
    """Subscription filters, one per channel."""
    return [f"{root}/+/+/+/{channel}" for channel in channels]


def sharded_root(tenant: str, agent: str, shards: int, root: str = ROOT) -> str:
    """The root of an agent in a deployment of several daemons: crc32(tenant/agent) modulo `shards`, as `s07`."""
    if shards <= 1:
        return root
    number = zlib.crc32(f"{encode(tenant)}/{encode(agent)}".encode()) % shards
    return f"{root}/s{number:02d}"
