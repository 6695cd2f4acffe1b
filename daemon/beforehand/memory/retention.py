"""How long messages are kept: periods in an order, of which the first that fits counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

DAY_US: Final = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Period:
    """How long what fits it is kept; days: None is for ever. tenant: None fits all, and so does no kind.

    kinds: of events, else the channel: plan, step, feedback, recall; or dead_letter.
    """

    days: float | None
    tenant: str | None = None
    kinds: frozenset[str] = frozenset()

    def fits(self, tenant: str | None, kind: str) -> bool:
        """Whether it is about messages of this kind. tenant: None is one that cannot be read."""
        return self.tenant in {None, tenant} and (not self.kinds or kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Retention:
    """Periods, and what a run is granted that is under way: heard from within `under_way_days`.

    Its messages stay until it is quiet for so long, and at most so many days past their time.
    """

    periods: tuple[Period, ...] = ()
    under_way_days: float = 1.0

    @property
    def shortest_days(self) -> float | None:
        """What is younger is kept in any case; None: everything is."""
        return min((period.days for period in self.periods if period.days is not None), default=None)

    def days(self, tenant: str | None, kind: str) -> float | None:
        """How long messages of a kind are kept; None: for ever."""
        return next((period.days for period in self.periods if period.fits(tenant, kind)), None)


class Due(NamedTuple):
    """What is over by a retention at a time. now_us: microseconds since 1970."""

    retention: Retention
    now_us: int

    @property
    def before_us(self) -> int:
        """What arrived later is kept in any case."""
        days = self.retention.shortest_days
        return 0 if days is None else self.now_us - int(days * DAY_US)

    def includes(self, tenant: str | None, kind: str, arrived_us: int, heard_us: int = 0) -> bool:
        """Whether the time of a message is over. heard_us: when the newest message of its run arrived."""
        days = self.retention.days(tenant, kind)
        if days is None:
            return False
        granted_us = int(self.retention.under_way_days * DAY_US)
        is_quiet = self.now_us - heard_us >= granted_us
        return self.now_us - arrived_us >= int(days * DAY_US) + (0 if is_quiet else granted_us)


def kind_of(channel: str, message: Mapping[str, object]) -> str:
    """The kind of an event, else its channel."""
    return str(message.get("kind")) if channel == "event" else channel
