"""Topics: `{root}/{tenant}/{agent}/{run}/{channel}`. Ids stand percent-encoded, one spelling for each id."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from beforehand import limits
from beforehand.errors import Refusal

ROOT: Final = "beforehand/v1"
Channel = Literal["event", "plan", "step", "feedback", "recall", "derived"]
"""`derived` is in the journal alone: what the daemon itself made of messages."""
INGEST: Final[tuple[Channel, ...]] = ("event", "plan", "feedback")
CONTROL: Final[tuple[Channel, ...]] = ("step", "recall")
CHANNELS: Final = frozenset(INGEST + CONTROL)

_CONTROL = r"\x00-\x1f\x7f-\x9f"
# Mosquitto closes the connection of a client whose topic holds one of these (MQTT 5, section 1.5.4).
_PLANE_ENDS = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_NONCHARACTERS = rf"\ufdd0-\ufdef{_PLANE_ENDS}"
_ENCODED = re.compile(f"[%/+#{_CONTROL}{_NONCHARACTERS}]")
_UNFIT = re.compile(rf"[+#{_CONTROL}{_NONCHARACTERS}\ud800-\udfff]")
_HEX = re.compile(r"%[0-9A-Fa-f]{2}")
_SPELLING = "only % / + # control characters and a leading $ are percent-encoded (%25 %2F %2B %23 %24)"


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
    """One id as a topic level.

    Percent-encoded in UTF-8 with upper-case digits: `%`, `/`, `+`, `#`, control characters, Unicode noncharacters (MQTT
    forbids both) and a leading `$`. All else stands as it is, so each id has one spelling.
    """
    level = _ENCODED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), identifier)
    return f"%24{level[1:]}" if level.startswith("$") else level


def decode(level: str, field: str) -> str:
    """The id that `level` spells. Raises Refusal when it is empty, too long, or not the one right spelling."""
    if not level:
        raise Refusal(field, f"the {field} in the topic is empty", f"send 1 to {limits.ID_BYTES} bytes of UTF-8 there")
    try:
        raw = _bytes(level) if "%" in level else level.encode()
        identifier = raw.decode()
    except UnicodeError:
        raise Refusal(field, f"the {field} {level[:80]!r} does not decode to UTF-8", f"in UTF-8, {_SPELLING}") from None
    if len(raw) > limits.ID_BYTES:
        problem = f"the {field} in the topic has {len(raw)} bytes in UTF-8"
        raise Refusal(field, problem, f"send at most {limits.ID_BYTES} bytes, counted before percent-encoding")
    right = encode(identifier)
    if right != level:
        raise Refusal(field, f"the topic spells the {field} {level!r}", _respelling(level, right))
    return identifier


def _respelling(level: str, right: str) -> str:
    if level.upper() == right.upper():
        return f"write it as {right!r}, with upper-case hex digits"
    return f"write it as {right!r}; {_SPELLING}, in UTF-8"


def _bytes(level: str) -> bytes:
    plain = bytearray()
    at = 0
    for match in _HEX.finditer(level):
        plain += level[at : match.start()].encode()
        plain.append(int(match.group()[1:], 16))
        at = match.end()
    return bytes(plain + level[at:].encode())


@lru_cache(4_096)
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


def of_packets(tenant: str | None, agent: str | None, root: str = ROOT) -> str:
    """The filter of all packets of an agent, of all agents of a tenant, or of everybody."""
    levels = ["+" if name is None else encode(name) for name in (tenant, agent)]
    return f"{root}/{'/'.join(levels)}/+/packet/+"


def step_of(topic: str) -> tuple[Scope, str]:
    """Run and step of a packet's topic."""
    tenant, agent, run, _, step = topic.split("/")[-5:]
    return Scope(decode(tenant, "tenant"), decode(agent, "agent"), decode(run, "run")), decode(step, "step")


def of_status(name: str, root: str = ROOT) -> str:
    """The topic of a daemon's retained status."""
    return f"{root}/$daemon/{encode(name)}/status"


def concerns(topic: str, *names: str) -> bool:
    """Whether a topic, also one that was refused, is of a tenant, an agent or a run. names: of these, in order.

    Whatever its root is: they stand before the channel. In a topic that ends in no channel they may stand anywhere.
    """
    wanted, levels = [encode(name) for name in names], topic.split("/")
    if levels[-1] in CHANNELS:
        return levels[-4:][: len(wanted)] == wanted
    return not wanted or f"/{'/'.join(wanted)}/" in topic


def tenant_of(topic: str) -> str | None:
    """The tenant of a message's topic, whatever its root is; None when it cannot be read."""
    levels = topic.split("/")
    try:
        return decode(levels[-4], "tenant") if len(levels) > 4 and levels[-1] in CHANNELS else None
    except Refusal:
        return None


def is_name(topic: str) -> bool:
    """Whether a broker takes `topic` in a publish: not empty, no wildcards, no characters that MQTT forbids."""
    return bool(topic) and not _UNFIT.search(topic)


def answers_below(scope: Scope, topic: str, root: str = ROOT) -> bool:
    """Whether a recall of this agent may name `topic` as its response topic.

    It stands below the agent's own `{root}/{tenant}/{agent}/`, has nothing that a topic name may not have, and is no
    channel that the daemon reads, and no packet or receipt: an answer is never taken for something else.
    """
    prefix = f"{root}/{encode(scope.tenant)}/{encode(scope.agent)}/"
    if not topic.startswith(prefix) or len(topic) == len(prefix) or not is_name(topic):
        return False
    levels = topic[len(prefix) :].split("/")
    return not (len(levels) == 2 and levels[1] in CHANNELS) and levels[1:2] not in (["packet"], ["receipt"])


def filters(channels: tuple[Channel, ...], root: str = ROOT) -> list[str]:
    """Subscription filters, one per channel."""
    return [f"{root}/+/+/+/{channel}" for channel in channels]


def sharded_root(tenant: str, agent: str, shards: int, root: str = ROOT) -> str:
    """The root of an agent in a deployment of several daemons: `{root}/s07` for shard 7.

    The shard is crc32 (IEEE, as in zlib) of the UTF-8 bytes of `{tenant}/{agent}`, both as they stand in a topic,
    modulo `shards`, in decimal with at least two digits. One shard is no sharding: the root as it is.
    """
    if shards <= 1:
        return root
    number = zlib.crc32(f"{encode(tenant)}/{encode(agent)}".encode()) % shards
    return f"{root}/s{number:02d}"
