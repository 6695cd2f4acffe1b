"""Agents that say more at once than can be remembered: their memory follows the journal.

What comes faster than it can be folded goes to the journal alone and is acknowledged; memory reads it there when there
is time. So a flood costs freshness, never a message: a packet names the newest event that memory knows of, and health
and metrics say how far behind it is.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

import anyio
import structlog

from beforehand import limits
from beforehand.errors import JournalError
from beforehand.memory.agent import AgentMemory, Taken
from beforehand.messages.entry import Entry
from beforehand.messages.topics import Scope
from beforehand.pipeline.alternating import Alternating
from beforehand.pipeline.hot import Hot, Key
from beforehand.pipeline.lag import Lag
from beforehand.pipeline.loading import Each, Loading
from beforehand.pipeline.trimming import Trimming
from beforehand.ports import Measures

_log = structlog.get_logger()
_PATIENCE_S: Final = 1.0
"""How long more than limits.FOLDED_AT_ONCE have to come each time until it is a flood: a burst is none."""
_FOLDED_OF: Final = 32
"""In a flood one of so many messages is folded as it comes: that takes a sixth of what taking all of them does."""
_SHARE: Final = 0.125
"""Of a busy loop: intake goes first, since nobody else has what is not on disk yet."""
_HURRIED: Final = 0.75
"""The same while a step waits for it."""
_LOOKED_EVERY: Final = 16
"""Messages folded between two looks at whether somebody else goes first."""
_FOLLOWED_AT_ONCE: Final = 1_024
_AGAIN_S: Final = 0.5


class Listener:
    """Is told what memory has caught up with. This one is not interested: no steps follow from what it hears."""

    def waits(self, key: Key) -> bool:  # noqa: ARG002  who listens may ask
        """Whether a step of the agent waits for it."""
        return False

    def came(self, entry: Entry, taken: Taken) -> None:
        """It took one more message."""

    def replaced(self, before: AgentMemory, memory: AgentMemory) -> None:
        """Another one has taken more."""

    def left(self, scope: Scope) -> None:
        """The agent of a run has left memory before it took all of the run."""

    def caught_up(self, key: Key) -> None:
        """It has everything."""


@dataclass(slots=True)
class Lagging(Container[Key]):
    """hot: agents in memory. grown: told when the memory of one has grown.

    at_once: messages that may come together; more than that, each time for `patience_s`, are a flood.
    """

    loading: Loading
    hot: Mapping[Key, Hot]
    trimming: Trimming
    measures: Measures
    grown: Callable[[Key], None]
    at_once: int = limits.FOLDED_AT_ONCE
    patience_s: float = _PATIENCE_S
    listener: Listener = field(default_factory=Listener)
    _lags: dict[Key, Lag] = field(default_factory=dict)
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _crowded_since_s: float | None = None
    _crowded_at_s: float = 0.0
    _renewed: set[Key] = field(default_factory=set)

    def __contains__(self, key: object) -> bool:
        return key in self._lags

    @property
    def catches_up(self) -> bool:
        """Whether somebody lags whose journal can be read: whoever else does has to wait in any case."""
        now_s = _now_s()
        return any(lag.again_s <= now_s for lag in self._lags.values())

    @property
    def presses(self) -> bool:
        """Whether messages come together in crowds, or somebody catches up: what is not urgent leaves them the loop."""
        crowded = self._crowded_since_s is not None and _now_s() - self._crowded_at_s <= self.patience_s
        return crowded or self.catches_up

    @property
    def messages(self) -> int:
        """How many are not remembered yet, to about 256 an agent."""
        return sum(lag.messages for lag in self._lags.values())

    def behind(self, key: Key) -> int | None:
        """Up to which position of the journal the memory of an agent has everything; None when it does not lag."""
        lag = self._lags.get(key)
        return None if lag is None else lag.after

    def since(self, seconds: float) -> list[Key]:
        """Who has lagged for so long, the one with the most messages first."""
        late = [key for key, lag in self._lags.items() if _now_s() - lag.since_s >= seconds]
        return sorted(late, key=lambda key: -self._lags[key].messages)

    def flooding(self, agents: Sequence[Key]) -> set[Key]:
        """These sent messages that came together; whose are to be deferred.

        Nobody's unless it is a flood, which lasts while somebody lags; then of whoever sent most, so that of so many
        messages one is left at least.
        """
        crowded = self._is_flood(len(agents))
        if not crowded and not self.catches_up:
            return set()
        sent = sorted(Counter(agents).items(), key=itemgetter(1))
        upto = itertools.accumulate(count for _, count in sent)
        left = min(self.at_once, max(1, len(agents) // _FOLDED_OF))
        return {agent for (agent, _), messages in zip(sent, upto, strict=True) if messages > left}

    def _is_flood(self, messages: int) -> bool:
        if messages <= self.at_once:
            self._crowded_since_s = None
            return False
        now_s = _now_s()
        if self._crowded_since_s is None or now_s - self._crowded_at_s > self.patience_s:
            self._crowded_since_s = now_s
        self._crowded_at_s = now_s
        return now_s - self._crowded_since_s >= self.patience_s

    def defer(self, key: Key, entry: Entry) -> None:
        """This one goes to the journal alone, and so does what its agent says until memory has caught up."""
        lag = self._lags.get(key)
        if lag is None:
            lag = self._lags[key] = Lag(self.loading.journal.state().last_position, _now_s())
        lag.on_the_way.add(id(entry))
        lag.runs.add(entry.scope)
        self.measures.count("beforehand_deferred_total", channel=entry.channel)

    def stored(self, key: Key, position: int) -> None:
        """What was deferred is in the journal, at this position."""
        if key in self._lags:
            self._lags[key].stored(position)

    def settled(self, key: Key, entry: Entry) -> None:
        """It is in the journal, or will never be. Called for what was not deferred, too."""
        lag = self._lags.get(key)
        if lag is not None:
            lag.on_the_way.discard(id(entry))
            self._look(key, lag)

    def replaced(self, key: Key, before: AgentMemory, memory: AgentMemory, upto: int) -> None:
        """An agent has another memory that holds everything up to a position of the journal."""
        lag = self._lags.get(key)
        if lag is not None:
            lag.followed(upto)
            self.listener.replaced(before, memory)
            self._look(key, lag)

    def forget(self, key: Key) -> None:
        """The agent has left memory: its next first touch reads everything."""
        lag = self._lags.pop(key, None)
        if lag is not None:
            for scope in lag.runs:
                self.listener.left(scope)

    def _look(self, key: Key, lag: Lag) -> None:
        """End a lag that is over; else there may be something to follow."""
        if lag.is_over:
            del self._lags[key]
            self.listener.caught_up(key)
        elif lag.can_follow:
            self._woken.set()

    async def run(self) -> None:
        """For ever. Who has a step that waits goes first, then who lags least: nobody waits for one who is louder."""
        beside, hurried = Alternating(_now_s, _SHARE), Alternating(_now_s, _HURRIED)
        async with asyncio.TaskGroup() as group:
            while True:
                key = self._next()
                if key is None:
                    self._woken.clear()
                    with anyio.move_on_after(_AGAIN_S if self._lags else None):
                        await self._woken.wait()
                    continue
                with self._contained(key):
                    await self._go_on(key, group, beside if self._rank(key)[0] else hurried)
                await beside()

    @contextmanager
    def _contained(self, key: Key) -> Iterator[None]:
        """An agent whose journal cannot be read is tried again in a while, and holds nobody else up."""
        try:
            yield
        except JournalError as error:
            _log.warning("the journal cannot be followed", tenant=key[0], agent=key[1], problem=error.problem)
            if key in self._lags:
                self._lags[key].again_s = _now_s() + _AGAIN_S

    def _next(self) -> Key | None:
        now_s = _now_s()
        able = [
            key for key, lag in self._lags.items() if lag.can_follow and lag.again_s <= now_s and not self._is_held(key)
        ]
        return min(able, key=self._rank, default=None)

    def _rank(self, key: Key) -> tuple[bool, int]:
        return not self.listener.waits(key), self._lags[key].messages

    def _is_held(self, key: Key) -> bool:
        """Whether another memory is being made for an agent: that one reads the journal itself."""
        one = self.hot.get(key)
        return key in self._renewed or (one is not None and one.remaking.locked())

    async def _outgrows(self, key: Key, one: Hot, lag: Lag) -> bool:
        """Whether a memory is past its bound, or the oldest of what it lacks would be cold at once."""
        if one.events > self.loading.events:
            return True
        return lag.messages > self.loading.events // 2 and await self.loading.bound(*key) > lag.after

    async def _renew(self, key: Key, one: Hot) -> None:
        """Beside the others: a long lag takes a while, and another renewal may go first."""
        try:
            with self._contained(key):
                await self.trimming.renew(key, one, share=_SHARE)
        finally:
            self._renewed.discard(key)
            self._woken.set()

    async def _go_on(self, key: Key, group: asyncio.TaskGroup, give_way: Alternating) -> None:
        one, lag = self.hot.get(key), self._lags[key]
        if one is None:
            self.forget(key)
        elif await self._outgrows(key, one, lag):
            self._renewed.add(key)
            group.create_task(self._renew(key, one))
        else:
            await self._follow(key, one, lag, give_way)

    async def _follow(self, key: Key, one: Hot, lag: Lag, give_way: Alternating) -> None:
        async with one.remaking:
            if self.hot.get(key) is not one:
                return
            one.touches += 1
            lag.followed_now = True
            try:
                each = self._each(key, lag)
                lag.followed(await self.loading.follow(one.memory, lag.after, give_way=give_way, each=each))
            finally:
                lag.followed_now = False
                self.grown(key)
                if self._lags.get(key) is lag:
                    self._look(key, lag)
        await asyncio.sleep(0)  # whoever waits to make another memory holds it from now on

    def _each(self, key: Key, lag: Lag) -> Each:
        """What `Loading.follow` asks after each message: whether to go on.

        Now and then it does not, for whoever waits to make another memory; nor when the agent has left memory.
        """
        folded = 0

        def each(entry: Entry, taken: Taken, position: int) -> bool:
            nonlocal folded
            folded += 1
            lag.followed(position)
            self.listener.came(entry, taken)
            if folded % _LOOKED_EVERY:
                return True
            self.grown(key)
            if folded >= _FOLLOWED_AT_ONCE or self._lags.get(key) is not lag:
                return False
            other = self._next()
            return other is None or self._rank(key) <= self._rank(other)

        return each


def _now_s() -> float:
    return asyncio.get_running_loop().time()
