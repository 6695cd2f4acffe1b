"""Policies over the same recorded runs: what each would have put before every step, and what it carried."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Final

from beforehand import limits
from beforehand.context.packet import PacketHeader, assemble
from beforehand.index.tokens import count_tokens
from beforehand.memory.recall import Channel, Recall
from beforehand.memory.router import recall
from beforehand.pipeline.foresight import Foresight, Matter
from beforehand.pipeline.runbook import Runbook
from beforehand.ports import Embedder, Model
from beforehand.replay import Replay
from beforehand.training.baselines import filled
from beforehand.training.following import Stop
from beforehand.training.needed import carried
from beforehand.training.trajectories import text_of
from beforehand.trigger.packs import Pack
from beforehand.trigger.policy import APPETITES, Policy

_QUIET_TOKENS: Final = 40


@dataclass(frozen=True, slots=True)
class Shown:
    """What a policy put before a step: the whole text, its items, and its tokens."""

    text: str
    items: Sequence[str]
    tokens: int


Shower = Callable[[Stop, Matter, int], Shown]


@dataclass(slots=True)
class Score:
    """Sums over steps. quiet: steps that needed nothing and got at most 40 tokens; told: steps that needed something
    and got more. history: tokens of all that had happened in the run. asked: run to steps that missed."""

    steps: int = 0
    needed: int = 0
    carried: int = 0
    items: int = 0
    useful: int = 0
    idle: int = 0
    quiet: int = 0
    told: int = 0
    tokens: int = 0
    history: int = 0
    asked: dict[str, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    def add(self, stop: Stop, shown: Shown, seconds: float, history: int) -> None:
        """Count one step. history: tokens of what happened before it."""
        needed = set(stop.call.needed)
        held = carried(shown.text, needed)
        self.steps += 1
        self.tokens += shown.tokens
        self.history += history
        self.seconds.append(seconds)
        run = f"{stop.session.scope.agent}/{stop.session.scope.run}"
        self.asked[run] = self.asked.get(run, 0) + (held != needed)
        if not needed:
            self.idle += 1
            self.quiet += shown.tokens <= _QUIET_TOKENS
            return
        self.told += shown.tokens > _QUIET_TOKENS
        self.needed += len(needed)
        self.carried += len(held)
        self.items += len(shown.items)
        self.useful += sum(bool(carried(item, needed)) for item in shown.items)

    def summary(self) -> dict[str, float | int | None]:
        """Shares and means; None where nothing was counted. of_history: tokens told for each token of the history.

        With a view these are those of an *amnesic agent*, which sees only its newest events and the packet: a step
        whose needed values stand in neither has to be asked for again (`interventions`, per run); a run without any is
        a success.
        """
        seconds = sorted(self.seconds)
        return {
            "steps": self.steps,
            "needed": self.needed,
            "recall": _share(self.carried, self.needed),
            "precision": _share(self.useful, self.items),
            "quiet": _share(self.quiet, self.idle),
            "told": _share(self.told, self.steps - self.idle),
            "tokens": _share(self.tokens, self.steps),
            "history": _share(self.history, self.steps),
            "of_history": _share(self.tokens, self.history),
            "interventions": _share(sum(self.asked.values()), len(self.asked)),
            "success": _share(sum(not count for count in self.asked.values()), len(self.asked)),
            "median_ms": round(1000 * seconds[len(seconds) // 2], 3) if seconds else None,
        }


async def evaluate(
    replay: Replay,
    stopped: AsyncIterator[Stop],
    contestants: Mapping[str, Callable[[], Shower]],
    budgets: Sequence[int],
) -> dict[tuple[str, int], Score]:
    """Every contestant at every budget over the same stops. A contestant is made anew for each budget."""
    showers = {(who, budget): make() for who, make in contestants.items() for budget in budgets}
    scores = {which: Score() for which in showers}
    histories: dict[str, list[int]] = {}
    async for stop in stopped:
        history = histories.get(stop.run.id)
        if history is None:
            history = histories[stop.run.id] = stop.run.tokens_before()
        started = time.perf_counter()
        matter = replay.pipeline.foresight.consider(stop.memory, stop.session, stop.step, stop.now_us)
        considered_s = time.perf_counter() - started
        for which, show in showers.items():
            started = time.perf_counter()
            shown = show(stop, matter, which[1])
            seconds = time.perf_counter() - started
            seconds += considered_s if isinstance(show, Packets) else 0.0
            scores[which].add(stop, shown, seconds, history[stop.call.index])
    return scores


class Packets:
    """The daemon's own packets under one foresight."""

    def __init__(self, foresight: Foresight) -> None:
        self._foresight = foresight
        self._books: dict[tuple[str, str], Runbook] = {}

    def __call__(self, stop: Stop, matter: Matter, budget: int) -> Shown:
        """The step's final packet."""
        scope = stop.session.scope
        book = self._books.setdefault((scope.agent, scope.run), Runbook())
        foreseen = self._foresight.choose(matter, stop.memory, stop.session, stop.step, book, stop.now_us)
        header = PacketHeader(
            id=f"p_{stop.step.id}",
            scope=scope,
            step=stop.step.id,
            version=1,
            created_us=stop.now_us,
            expires_us=stop.now_us + 1,
            event=stop.session.newest_event,
            position=stop.session.position,
            searched=foreseen.searched,
            policy="evaluated",
            final=True,
        )
        packet = assemble(header, foreseen.choices, foreseen.room(budget))
        book.sent(packet)
        return Shown(packet.rendered, [item.text for item in packet.items], packet.tokens)


def policies(
    embedder: Embedder | None, packs: Sequence[Pack], policy: Policy, model: Model | None
) -> dict[str, Callable[[], Shower]]:
    """What can be compared, by name: agents that search when asked, the daemon without and with a model."""
    known: dict[str, Callable[[], Shower]] = {
        "nothing": lambda: nothing,
        "kept": lambda: kept,
        "newest": lambda: last,
        "lexical": lambda: searching("lexical"),
        "rules": partial(_packets, packs, policy, None, embedder),
    }
    if embedder is not None:
        known["dense"] = lambda: searching("semantic", embedder)
        known["hybrid"] = lambda: searching("hybrid", embedder)
    if model is not None:
        known["full"] = partial(_packets, packs, policy, model, embedder)
        known["needs"] = lambda: where_needs(
            _packets(packs, replace(policy, bar=0.0, brief_below=0.0), model, embedder)
        )
        for appetite, values in APPETITES.items():
            known[appetite] = partial(_packets, packs, replace(policy, **asdict(values)), model, embedder)
    return known


def _packets(packs: Sequence[Pack], policy: Policy, model: Model | None, embedder: Embedder | None) -> Packets:
    return Packets(Foresight(packs, policy, model, embedder))


def where_needs(packets: Packets) -> Shower:
    """The daemon's packets with a rule for *whether* in place of a bar: a step that names no needs gets nothing."""

    def show(stop: Stop, matter: Matter, budget: int) -> Shown:
        return packets(stop, matter, budget) if stop.step.needs else Shown("", (), 0)

    return show


def nothing(_: Stop, __: Matter, ___: int) -> Shown:
    """An agent without memory."""
    return Shown("", (), 0)


def kept(stop: Stop, _: Matter, __: int) -> Shown:
    """All that memory holds of the run, without a budget: the most that a packet can carry, since secrets are gone."""
    events = [stop.memory.events[row] for row in reversed(_newest_first(stop))]
    told = "\n".join(event.text for event in events)
    passages = (passage.text for event in events for passage in event.passages)
    return Shown("\n".join([told, *passages]), (), count_tokens(told))


def last(stop: Stop, _: Matter, budget: int) -> Shown:
    """The newest events of the run that fit."""
    return _plain(filled(_told(stop, _newest_first(stop)), budget))


def searching(channel: Channel, embedder: Embedder | None = None) -> Shower:
    """Retrieval on demand: the step's tool and argument names as a query over the events of the run.

    What matches comes first, best first; the room that is left goes to the other events, newest first.
    """

    def search(stop: Stop, _: Matter, budget: int) -> Shown:
        query = " ".join((stop.call.tool, *stop.call.needs))
        vector = None if embedder is None else embedder.embed([query])[0]
        asked = Recall(channel, query, run=stop.session.scope.run, now_us=stop.now_us, k=limits.K_MAX)
        found = [one.row for one in recall(stop.memory, asked, vector)]
        rows = dict.fromkeys([*found, *_newest_first(stop)])
        return _plain(filled(_told(stop, rows), budget))

    return search


def _newest_first(stop: Stop) -> list[int]:
    rows: list[int] = stop.memory.timeline.interval(None, None, run=stop.session.code)[::-1].tolist()
    return rows


def _told(stop: Stop, rows: Iterable[int]) -> Iterator[str]:
    """What users and tools said, as it was recorded: no redaction stands between an agent and its own log."""
    for row in rows:
        event = stop.run.events[int(stop.memory.events[row].id.rpartition(":")[2])]
        if event["type"] in ("user", "result"):
            yield text_of(event)


def _plain(texts: list[str]) -> Shown:
    text = "\n".join(texts)
    return Shown(text, texts, count_tokens(text))


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None
