"""Deciding for one step: rules ask, memory answers, the model scores, the price decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from beforehand import limits
from beforehand.context.choice import Choice, named
from beforehand.context.tokens import count_tokens
from beforehand.index.segmentation import terms, words
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Found, Recall
from beforehand.memory.router import Vector, recall
from beforehand.memory.session import Session
from beforehand.memory.standing import is_standing
from beforehand.memory.steps import Step
from beforehand.messages.outbound import Reason
from beforehand.pipeline.advising import advised
from beforehand.pipeline.barring import barred
from beforehand.pipeline.claimed import as_claimed
from beforehand.pipeline.runbook import Runbook
from beforehand.pipeline.shadow import Models, Opinion, opinion
from beforehand.pipeline.situations import recent_of, situation_of
from beforehand.ports import Embedder, Model
from beforehand.trigger import features
from beforehand.trigger.candidates import Ask, Candidate, gather
from beforehand.trigger.decision import Scored, decide
from beforehand.trigger.moment import Moment
from beforehand.trigger.packs import Pack
from beforehand.trigger.policy import Policy
from beforehand.trigger.pool import Pool
from beforehand.trigger.rules import Fault, Firing, fire
from beforehand.trigger.situation import RecentEvent

_NEAREST: Final = 8
_VALUES: Final = 16
_NEWEST: Final = 6
_EXPLAINED: Final = 64
_GLANCED_EVENTS: Final = 500
LIKELY: Final = 0.5
"""From this probability on the model's own wish for an item outweighs that it was said within a rule's cooldown."""
_FALLING: Final = 0.25
"""How fast a rule's claim falls with the rank of what its recall found."""


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What was decided for a step. `missing`: parts that it had to do without; `decision` explains everything.

    faults: rules whose condition failed. error: why there is no decision at all, else None.
    """

    choices: list[Choice]
    missing: Sequence[str]
    searched: int
    firings: Sequence[Firing]
    scored: Sequence[Scored]
    finds: int
    faults: Sequence[Fault] = ()
    error: str | None = None
    shadow: Opinion | None = None

    @classmethod
    def failed(cls, error: str) -> Self:
        """There is no decision."""
        return cls([], [], 0, (), (), 0, error=error)

    def decision(self) -> dict[str, Any]:
        """The whole arithmetic, best candidates first; made when it is wanted, since most refreshes are not sent."""
        return {
            "rules": [
                {"name": firing.rule.name, "score": firing.score, "warning": firing.warning} for firing in self.firings
            ],
            "faults": [{"name": fault.rule, "problem": fault.problem} for fault in self.faults],
            "error": self.error,
            "finds": self.finds,
            "candidates": len(self.scored),
            "considered": [one.explained() for one in self.scored[:_EXPLAINED]],
            "shadow": None if self.shadow is None else self.shadow.told(self.scored),
        }


@dataclass(frozen=True, slots=True)
class Matter:
    """Candidates with their features, shape (n, len(features.NAMES)), the rules that fired or failed, and the finds."""

    candidates: list[Candidate]
    features: NDArray[np.float32]
    firings: Sequence[Firing]
    finds: int
    faults: Sequence[Fault] = ()


class Foresight:
    """Holds the parts that decide. Deciding changes nothing: the run's book is read, never written, here."""

    def __init__(
        self,
        packs: Sequence[Pack],
        policy: Policy,
        model: Model | None,
        embedder: Embedder | None,
        missing: Sequence[str] = (),
    ) -> None:
        """missing: parts that are configured and cannot be used now; every packet names them."""
        self._packs = packs
        self._policy = policy
        self._model = model
        self._embedder = embedder
        self.missing: Sequence[str] = list(missing)
        self._vector = lru_cache(maxsize=4_096)(self._embed)
        self._newest: tuple[Session | None, int, Sequence[RecentEvent]] = (None, 0, ())
        self._shadow: Model | None = None

    def use(self, models: Models) -> None:
        """Other models from the next decision on; the one that runs is not touched."""
        self._model, self._shadow, self.missing = models.live, models.shadow, list(models.missing)

    def foresee(self, memory: AgentMemory, session: Session, step: Step, book: Runbook, now_us: int) -> Foreseen:
        """What to say before `step`, from the memory as it stands at `now_us` (microseconds since 1970, UTC)."""
        return self.choose(self.consider(memory, session, step, now_us), memory, session, step, book, now_us)

    def choose(
        self, matter: Matter, memory: AgentMemory, session: Session, step: Step, book: Runbook, now_us: int
    ) -> Foreseen:
        """The decision over what was considered; `matter` stays as it is."""
        firings = matter.firings
        scores = None if self._model is None else self._model.score(matter.features)
        candidates, held = _cooled(matter, memory, session, step, book, now_us)
        tokens = [count_tokens(candidate.passage.text) for candidate in candidates]
        said = (index for index in held if scores is None or scores[index] < LIKELY)
        why = dict.fromkeys(said, "said within its cooldown")
        why |= barred(memory, session, candidates, self._policy.window_events, now_us)
        scored = decide(candidates, scores, tokens, self._policy, why)
        shadow = self._shadow
        other = None if shadow is None else opinion(shadow, matter.features, candidates, tokens, self._policy, why)
        choices = [
            warned
            for firing in firings
            if (warned := _warning(firing)) and not book.within(named(warned).id, firing.rule, step.id, now_us)
        ]
        if self._policy.workflows:
            choices += advised(memory, session, step, book)
        worthy = (one for one in scored if one.left_out is None)
        model = "none" if self._model is None else self._model.card.name
        choices += [
            _said(memory, session, one.candidate, now_us, one.probability, tuple(one.why(model)))
            for one in islice(worthy, limits.PACKET_ITEMS)
        ]
        seen, finds = len(memory.events), matter.finds
        return Foreseen(choices, self.missing, seen, firings, scored, finds, matter.faults, shadow=other)

    def consider(self, memory: AgentMemory, session: Session, step: Step, now_us: int) -> Matter:
        """What a decision is made from: serving scores it, training collects it."""
        step = memory.flows.completed(step) if self._policy.workflows else step
        fired = fire(self._packs, situation_of(memory, session, step, now_us, self._recent_of(memory, session)))
        ask = Ask.of(step)
        moment = Moment.of(memory, session, step, ask)
        finds = list(self._find(memory, session, step, fired.firings, now_us))
        rows = memory.timeline.last(_GLANCED_EVENTS, run=session.code)
        pool = Pool(moment, rows, {found.row for _, _, found in finds})
        candidates = gather(memory, finds, ask, pool.best, pool.likeliest(limits.CANDIDATES))
        return Matter(candidates, features.matrix(candidates, moment), fired.firings, len(finds), fired.faults)

    def _recent_of(self, memory: AgentMemory, session: Session) -> Sequence[RecentEvent]:
        """What the steps of one moment have in common is read once."""
        known, position, recent = self._newest
        if known is not session or position != session.position:
            recent = recent_of(memory, session)
            self._newest = session, session.position, recent
        return recent

    def _find(
        self, memory: AgentMemory, session: Session, step: Step, firings: Sequence[Firing], now_us: int
    ) -> Iterator[tuple[str | None, float, Found]]:
        """Finds of every rule that fired, then what is nearest by words, meaning and time."""
        answered: dict[Recall, list[Found]] = {}

        def ask(asked: Recall) -> list[Found]:
            if asked not in answered:
                answered[asked] = recall(memory, asked, self._vector(asked.query))
            return answered[asked]

        for firing in firings:
            for filled in firing.recalls:
                for found in ask(_of_this_run(filled, session, now_us)):
                    yield firing.rule.name, firing.score / (1 + _FALLING * found.rank), found
        run = session.scope.run
        for plain in (
            Recall("exact", step.announcement, step.needs, now_us=now_us, k=_VALUES),
            Recall("hybrid", step.announcement, now_us=now_us, k=_NEAREST),
            Recall("window", run=run, now_us=now_us, k=_NEWEST),
        ):
            yield from ((None, 0.0, found) for found in ask(plain))

    def _embed(self, query: str) -> Vector:
        return None if self._embedder is None or not query else self._embedder.embed([query])[0]


def _cooled(
    matter: Matter, memory: AgentMemory, session: Session, step: Step, book: Runbook, now_us: int
) -> tuple[list[Candidate], set[int]]:
    """A rule does not ask again, within its cooldown, for what was said: the candidates, and the indices of those.

    Only advice is among them, and only where the step that was told had the same needs: what else a step needs, it
    needs whatever the step before it was told.
    """
    cooling = {
        firing.rule.name: firing.rule
        for firing in matter.firings
        if firing.rule.cooldown_steps or firing.rule.cooldown_s
    }
    if not cooling or not book.said:
        return matter.candidates, set()
    cooled = list(matter.candidates)
    held = set()
    for index, candidate in enumerate(cooled):
        rules = [cooling[name] for name in candidate.rules if name in cooling]
        if rules:
            said = named(_said(memory, session, candidate, now_us)).id
            gone = {rule.name for rule in rules if book.within(said, rule, step.id, now_us)}
            if gone:
                left = {name: claim for name, claim in candidate.rules.items() if name not in gone}
                cooled[index] = replace(candidate, rules=left)
                if _is_advice(candidate) and not _newly_needed(candidate, step, session, book.told(said)):
                    held.add(index)
    return cooled, held


def _is_advice(candidate: Candidate) -> bool:
    """Whether it holds beyond the moment it was said in: a preference, a constraint, what was concluded."""
    passage = candidate.passage
    return passage.value is None and (candidate.event.kind == "reflection" or is_standing(passage.text))


def _newly_needed(candidate: Candidate, step: Step, session: Session, told: str | None) -> bool:
    """Whether it speaks of something that this step needs and the step that was told did not."""
    before = session.itinerary.steps.get(told or "")
    new = set(step.needs) - set(before.needs if before is not None else ())
    return any(set(words(need)) & set(terms(candidate.passage.text)) for need in new)


def _of_this_run(asked: Recall, session: Session, now_us: int) -> Recall:
    """A rule's question put to memory now; `last` looks at this run, everything else at all the agent's runs."""
    return replace(asked, run=session.scope.run if asked.last is not None else None, now_us=now_us)


def _said(
    memory: AgentMemory,
    session: Session,
    candidate: Candidate,
    now_us: int,
    probability: float = 0.0,
    why: tuple[Reason, ...] = (),
) -> Choice:
    """A candidate as the packet would say it. A place counts only within its own run."""
    event, passage = candidate.event, candidate.passage
    choice = Choice(
        kind="reflection" if event.kind == "reflection" else "event",
        text=passage.text,
        probability=probability,
        event_ids=(event.id,),
        position=event.position if event.run == session.scope.run else None,
        place=passage.position,
        at_us=event.at_us,
        source=event.role,
        authority=event.authority,
        tool=event.tool,
        why=why,
    )
    return as_claimed(memory, session, event, passage, choice, now_us) if memory.facts else choice


def _warning(firing: Firing) -> Choice | None:
    if not firing.warning:
        return None
    reason = Reason(trigger="rule", name=firing.rule.name, score=firing.score)
    return Choice(kind="warning", text=firing.warning, probability=firing.score, why=(reason,))
