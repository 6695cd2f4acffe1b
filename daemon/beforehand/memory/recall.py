"""A question to memory and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beforehand import limits
from beforehand.memory.record import FOREVER, Standing

Channel = Literal["exact", "facts", "timeline", "semantic", "lexical", "window", "hybrid", "tree"]


@dataclass(frozen=True, slots=True)
class Recall:
    """What to look for. Empty sets and None mean: any.

    needs: argument names or words whose values are wanted (channel `exact`).
    last: only the newest so many events of the run.
    now_us: the time in the world whose facts are wanted. known_us: as far as they were known then.
    rows: only these, in the order of the run (a window that was resolved).
    """

    channel: Channel
    query: str = ""
    needs: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    authorities: frozenset[str] = frozenset()
    ok: bool | None = None
    run: str | None = None
    space: str | None = None
    last: int | None = None
    now_us: int = 0
    known_us: int = FOREVER
    k: int = 10
    rows: NDArray[np.int64] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.k <= limits.K_MAX:
            raise ValueError(f"k is 1 to {limits.K_MAX}, not {self.k}")

    @property
    def filter(self) -> tuple[object, ...]:
        """What narrows the question to events of some traits."""
        return self.kinds, self.tools, self.tags, self.roles, self.authorities, self.ok, self.run, self.space

    @property
    def filtered(self) -> bool:
        """Whether anything narrows the question."""
        sets = self.kinds or self.tools or self.tags or self.roles or self.authorities
        return bool(sets) or any(part is not None for part in (self.ok, self.run, self.space, self.last, self.rows))


class Found(NamedTuple):
    """One find: an event (`row`), or one passage of it. `rank` counts from 0 within its channel.

    standing: the fact that was found, which the event claims; None when the find is no fact.
    """

    row: int
    passage: int | None
    channel: Channel
    rank: int
    score: float
    standing: Standing | None = None
