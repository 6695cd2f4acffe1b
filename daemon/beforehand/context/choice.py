"""What the pipeline hands to this room: the memories that were chosen for one step."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from beforehand.messages.outbound import Authority, ItemKind, Why
from beforehand.messages.values import moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The other side of a conflict: who else said what about the same thing.

    item_id: of the item that says it, where that is known; left out: of one that says the value alone.
    """

    value: str
    authority: Authority = "unknown"
    source: str | None = None
    tool: str | None = None
    position: int | None = None
    at_us: int | None = None
    event_ids: tuple[str, ...] = ()
    item_id: str | None = None


class Choice(NamedTuple):
    """One chosen memory, not yet quoted.

    text: what is shown when there is no `value`; else `key: value` is shown.
    probability: that the step needs it, 0..1. worth: what the budget is spent by; left out: the probability.
    position: place in this run, from 1; None for what comes from another run or has no place (a workflow).
    place: order inside its event (an offset), so that sentences and fields keep their sequence.
    at_us: when it happened, microseconds since 1970, UTC. valid: stretch in which a fact holds, same unit.
    keep: spans of `text` that an excerpt has to show, most important first.
    conflicts: claims of others about the same thing; the choice is shown together with them.
    note: what is known of how it came to be; shown behind it, and no part of what it is.
    about: the leaf that names its record (`order_id: W7`), with which `text` begins or, in brackets, ends.
    beside: what else its record says, by which a reader tells it from others like it, when `text` is `about` alone; no
    part of what it is, and said where room is left.
    """

    kind: ItemKind
    text: str
    probability: float
    worth: float | None = None
    key: str | None = None
    value: str | None = None
    event_ids: tuple[str, ...] = ()
    position: int | None = None
    place: int = 0
    at_us: int | None = None
    source: str | None = None
    authority: Authority = "unknown"
    tool: str | None = None
    valid: tuple[int | None, int | None] | None = None
    conflicts: tuple[Claim, ...] = ()
    note: str = ""
    about: str = ""
    beside: tuple[str, ...] = ()
    why: tuple[Why, ...] = ()
    keep: tuple[tuple[int, int], ...] = ()


class Named(NamedTuple):
    """A choice with its ids and its words, worked out once.

    id: from the content, so the same memory has the same id in every packet, and another text another id.
    own_id: the same without regard to conflicts, which is how the other side of one names this memory.
    text: what is shown, whole and unquoted. keep: spans of `text` for an excerpt.
    head, below: `text` as what names the record, and what it says of it (nothing when it only names it); no head: it
    is of no record.
    """

    choice: Choice
    id: str
    own_id: str
    text: str
    keep: tuple[tuple[int, int], ...]
    head: str = ""
    below: str = ""


def named(choice: Choice) -> Named:
    """A choice with its ids, and its words with the other side of a conflict and both times."""
    own = _said(choice.key, choice.value, choice.text)
    own_id = _hashed(choice.kind, own, choice.event_ids)
    noted = f"{own} ({choice.note})" if choice.note else own
    if not choice.conflicts:
        head, below = _parted(own, choice.about) if choice.about and not choice.note else ("", "")
        return Named(choice, own_id, own_id, noted, choice.keep if choice.value is None else (), head, below)
    but = f"{_when(choice.at_us)}, {', '.join(map(_but, choice.conflicts))}"
    return Named(choice, _hashed(choice.kind, f"{own}{but}", choice.event_ids), own_id, f"{noted}{but}", ())


def identity(choice: Choice) -> str:
    """The id that the item of this choice has in every packet."""
    return named(choice).id


def identified(kind: ItemKind, text: str, event_ids: tuple[str, ...]) -> str:
    """The same from what the choice is made of, when no one contradicts it."""
    return _hashed(kind, text, event_ids)


def opposed(choice: Choice) -> list[str]:
    """Ids that the other sides of the conflicts have when they are shown by themselves."""
    return [
        claim.item_id or _hashed(choice.kind, _said(choice.key, claim.value, claim.value), claim.event_ids)
        for claim in choice.conflicts
    ]


def _said(key: str | None, value: str | None, text: str) -> str:
    if value is None:
        return text
    return f"{key}: {value}" if key else value


def _parted(text: str, about: str) -> tuple[str, str]:
    """What names the record, and what is said of it."""
    if text.endswith(f" ({about})"):
        return about, text[: -len(about) - len(" ()")]
    if text.startswith(about):
        rest = text[len(about) :]
        if not rest or rest.startswith(", "):
            return about, rest[len(", ") :]
    return "", ""


_RESERVED: Final = frozenset(
    {"user", "agent", "tool", "system", "?", "fact", "workflow", "summary", "reflection", "warning"}
)


def who(authority: Authority, source: str | None, tool: str | None) -> str:
    """The source in its shortest form that keeps the authority plain.

    `user`, `agent`, `agent search` (its own call), `search` (the result of a tool; `tool user` when the tool's name
    could be mistaken), `system`, and `?` for what nobody vouches for.
    """
    if authority == "tool":
        name = tool or source or "tool"
        return f"tool {name}" if name != "tool" and name.split(" ", 1)[0].lower() in _RESERVED else name
    if authority == "unknown":
        return "system" if source == "system" else "?"
    return f"{authority} {tool}" if tool else authority


def _but(claim: Claim) -> str:
    source = who(claim.authority, claim.source, claim.tool)
    return f"but {_of(claim.position)}{source} said {claim.value}{_when(claim.at_us)}"


def _of(position: int | None) -> str:
    return "" if position is None else f"{position} "


def _when(at_us: int | None) -> str:
    """` at 2026-03-01T09:30Z`."""
    return "" if at_us is None else f" at {moment(at_us):%Y-%m-%dT%H:%MZ}"


def forget_ids() -> None:
    """Drop the texts remembered to save work, so that nothing erased stays in them."""
    _hashed.cache_clear()


@lru_cache(maxsize=8_192)
def _hashed(kind: str, text: str, event_ids: tuple[str, ...]) -> str:
    content = "".join([f"{len(part)}:{part}" for part in (kind, text, *event_ids)]).encode(errors="surrogatepass")
    return f"m_{hashlib.blake2b(content, digest_size=10).hexdigest()}"
