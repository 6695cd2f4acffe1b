"""Deciding for one step: rules ask, memory answers, the model scores, the price decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand import limits
from beforehand.context.choice import Choice, identified, identity
from beforehand.index.growing import Ints
from beforehand.index.passages import Passage
from beforehand.index.segmentation import name_words, terms
from beforehand.memory.agent import AgentMemory
from beforehand.memory.recall import Found, Recall
from beforehand.memory.remembered import Remembered
from beforehand.memory.router import Vector, recall
from beforehand.memory.scenes import WHOLE, apart
from beforehand.memory.session import Session
from beforehand.memory.shelf import Column
from beforehand.memory.standing import is_standing
from beforehand.memory.steps import Step
from beforehand.messages.outbound import ItemKind, Why
from beforehand.pipeline.advising import advised, can_be_brief, warning_of
from beforehand.pipeline.barring import alone, barred
from beforehand.pipeline.claimed import as_claimed
from beforehand.pipeline.foreseen import Foreseen
from beforehand.pipeline.runbook import Runbook
from beforehand.pipeline.shadow import Models, opinion
from beforehand.pipeline.situations import facts_of, recent_of, situation_of
from beforehand.pipeline.variants import told_apart
from beforehand.ports import Embedder, Model
from beforehand.trigger import features
from beforehand.trigger.answering import answering
from beforehand.trigger.candidates import NOT_ASKED, Candidates, Find, gather
from beforehand.trigger.decision import Decided, decide
from beforehand.trigger.doubt import doubtful, expected
from beforehand.trigger.moment import Moment
from beforehand.trigger.packs import Pack
from beforehand.trigger.policy import Policy
from beforehand.trigger.pool import Pool
from beforehand.trigger.rules import Fault, Firing, fire
from beforehand.trigger.situation import RecentEvent
from beforehand.trigger.utility import Utility

_NEAREST: Final = 8
_VALUES: Final = 16
_NEWEST: Final = 6
_GLANCED_EVENTS: Final = 500
LIKELY: Final = 0.5
"""From this probability on the model's own wish for an item outweighs that it was said within a rule's cooldown."""
_FALLING: Final = 0.25
"""How fast a rule's claim falls with the rank of what its recall found."""


@dataclass(frozen=True, slots=True)
class Matter:
    """Candidates with their features, shape (n, len(features.NAMES)), the rules that fired or failed, and the finds."""

    candidates: Candidates
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

    def forget_texts(self) -> None:
        """Drop the questions and events remembered to save work, so that nothing erased stays in them."""
        self._vector.cache_clear()
        self._newest = (None, 0, ())

    def foresee(self, memory: AgentMemory, session: Session, step: Step, book: Runbook, now_us: int) -> Foreseen:
        """What to say before `step`, from the memory as it stands at `now_us` (microseconds since 1970, UTC)."""
        return self.choose(self.consider(memory, session, step, now_us), memory, session, step, book, now_us)

    def choose(
        self, matter: Matter, memory: AgentMemory, session: Session, step: Step, book: Runbook, now_us: int
    ) -> Foreseen:
        """The decision over what was considered; `matter` stays as it is."""
        scores = None if self._model is None else self._model.score(matter.features)
        candidates, held = _cooled(matter, memory, session, step, book, now_us)
        utility = Utility.of(memory.useful, step, candidates)
        likely = scores if scores is None or utility is None else utility.of_model(scores)
        quiet = (index for index in held if likely is None or likely[index] < LIKELY)
        why = dict.fromkeys(quiet, "said within its cooldown")
        why |= barred(memory, session, step, candidates, self._policy.window_events, now_us)
        decided = alone(decide(candidates, scores, self._policy, why, utility))
        shadow = self._shadow
        other = None if shadow is None else opinion(shadow, matter.features, candidates, self._policy, why, utility)
        choices = [
            warned
            for firing in matter.firings
            if (warned := warning_of(firing)) and not book.within(identity(warned), firing.rule, step.id, now_us)
        ]
        if self._policy.workflows:
            choices += advised(memory, session, step, book, now_us)
        model = "none" if self._model is None else self._model.card.name
        said = decided.said[: limits.PACKET_ITEMS]
        items = [_said(memory, session, decided, index, now_us, model) for index in said]
        roomy = candidates.sight.column(Column.TOKENS)[said].sum() < self._policy.budget_tokens
        choices += told_apart(items, candidates, said, memory.facts.stale(now_us)) if roomy else items
        made = choices, self.missing, len(memory.events), matter.firings, decided, matter.finds, matter.faults
        hoped = None if likely is None else expected(likely)
        brief = doubtful(candidates, likely, self._policy) and can_be_brief(choices)
        return Foreseen(*made, shadow=other, expected=hoped, brief=brief)

    def consider(self, memory: AgentMemory, session: Session, step: Step, now_us: int) -> Matter:
        """What a decision is made from: serving scores it, training collects it."""
        step = memory.flows.completed(step) if self._policy.workflows else step
        recent = self._recent_of(memory, session)
        facts = partial(facts_of, memory, step, now_us)
        situation = situation_of(memory, session, step, now_us, recent)
        fired = fire(self._packs, situation, facts, run=session.scope.run, now_us=now_us)
        moment = Moment.of(memory, session, step)
        found = self._find(memory, session, step, fired.firings, now_us)
        finds = _as_asked(found, memory, step, others=self._policy.other_scenes)
        candidates = gather(moment, finds, Pool(moment, _glanced(moment, session), {one.row for _, _, one in finds}))
        seen = features.matrix(candidates, moment)
        by_name = {firing.rule.name for firing in fired.firings if any(asked.needs for asked in firing.recalls)}
        return Matter(answering(candidates, seen, step.needs, by_name), seen, fired.firings, len(finds), fired.faults)

    def _recent_of(self, memory: AgentMemory, session: Session) -> Sequence[RecentEvent]:
        """What the steps of one moment have in common is read once."""
        known, position, recent = self._newest
        if known is not session or position != session.position:
            recent = recent_of(memory, session)
            self._newest = session, session.position, recent
        return recent

    def _find(
        self, memory: AgentMemory, session: Session, step: Step, firings: Sequence[Firing], now_us: int
    ) -> list[Find]:
        """Finds of every rule that fired, then what is nearest by words, meaning and time."""
        finds: list[Find] = []
        answered: dict[Recall, list[Found]] = {}

        def ask(asked: Recall) -> list[Found]:
            found = answered.get(asked)
            if found is None:
                found = answered[asked] = recall(memory, asked, self._vector(asked.query))
            return found

        for firing in firings:
            name, score = firing.rule.name, firing.score
            for filled in firing.recalls:
                finds += [(name, score / (1 + _FALLING * found.rank), found) for found in ask(filled)]
        run = session.scope.run
        for plain in (
            Recall("exact", step.announcement, step.needs, now_us=now_us, k=_VALUES),
            Recall(
                "hybrid", step.announcement, run=run if len(memory.sessions) > 1 else None, now_us=now_us, k=_NEAREST
            ),
            Recall("window", run=run, now_us=now_us, k=_NEWEST),
        ):
            finds += [(None, 0.0, found) for found in ask(plain)]
        return finds

    def _embed(self, query: str) -> Vector:
        return None if self._embedder is None or not query else self._embedder.embed([query])[0]


def _glanced(moment: Moment, session: Session) -> Ints:
    """Rows of the newest events of the run, or of the scene that the step looks on, oldest first."""
    if moment.scene[1] == WHOLE:
        return moment.memory.timeline.last(_GLANCED_EVENTS, run=session.code)
    return np.array(moment.said.newest(_GLANCED_EVENTS), np.int64)


def _cooled(
    matter: Matter, memory: AgentMemory, session: Session, step: Step, book: Runbook, now_us: int
) -> tuple[Candidates, set[int]]:
    """A rule does not ask again, within its cooldown, for what was said: the candidates, and the indices of those.

    Only advice is among them, and only where the step that was told had the same needs: what else a step needs, it
    needs whatever the step before it was told.
    """
    candidates = matter.candidates
    held: set[int] = set()
    if not book.said:
        return candidates, held
    cooled = dict(candidates.claims)
    cooling = (firing.rule for firing in matter.firings if firing.rule.cooldown_steps or firing.rule.cooldown_s)
    for rule in (rule for rule in cooling if rule.name in cooled):
        claims = cooled[rule.name] = cooled[rule.name].copy()
        for index in np.flatnonzero(claims != NOT_ASKED).tolist():
            said = _id_of(memory, session, candidates, index, now_us)
            if book.within(said, rule, step.id, now_us):
                claims[index] = NOT_ASKED
                told = book.told(said)
                if _is_advice(candidates, index) and not _newly_needed(candidates, index, step, session, told):
                    held.add(index)
    return replace(candidates, claims=cooled), held


def _is_advice(candidates: Candidates, index: int) -> bool:
    """Whether it holds beyond the moment it was said in: a preference, a constraint, what was concluded."""
    passage = candidates.passage(index)
    return passage.value is None and (candidates.events[index].kind == "reflection" or is_standing(passage.text))


def _newly_needed(candidates: Candidates, index: int, step: Step, session: Session, told: str | None) -> bool:
    """Whether it speaks of something that this step needs and the step that was told did not."""
    before = session.itinerary.steps.get(told or "")
    new = set(step.needs) - set(before.needs if before is not None else ())
    said = set(terms(candidates.passage(index).text)) if new else set()
    return any(said & name_words(need) for need in new)


def _as_asked(finds: list[Find], memory: AgentMemory, step: Step, *, others: bool) -> list[Find]:
    """Finds as a step with a label takes them: no rule asks for what bears another one, though the model may want it.

    A lesson is asked for wherever it was learned. others: whether what bears another label is taken at all.
    """
    if not step.space:
        return finds
    taken: list[Find] = []
    for find in finds:
        event = memory.events[find[2].row]
        if not apart(step.space, event.space):
            taken.append(find)
        elif others:
            taken.append(find if event.kind == "reflection" else (None, 0.0, find[2]))
    return taken


def _id_of(memory: AgentMemory, session: Session, candidates: Candidates, index: int, now_us: int) -> str:
    """The id that the item of a candidate has in every packet."""
    event, passage = candidates.events[index], candidates.passage(index)
    if memory.facts.of_row(event.row):
        return identity(_choice(memory, session, event, passage, now_us))
    return identified(_kind(event), passage.text, (event.id,))


def _kind(event: Remembered) -> ItemKind:
    return "reflection" if event.kind == "reflection" else "event"


def _said(memory: AgentMemory, session: Session, decided: Decided, index: int, now_us: int, model: str) -> Choice:
    """A candidate as the packet would say it."""
    event, passage = decided.candidates.events[index], decided.candidates.passage(index)
    probability, why = float(decided.probabilities[index]), decided.why(index, model)
    return _choice(memory, session, event, passage, now_us, probability, why)


def _choice(
    memory: AgentMemory,
    session: Session,
    event: Remembered,
    passage: Passage,
    now_us: int,
    probability: float = 0.0,
    why: tuple[Why, ...] = (),
) -> Choice:
    """A passage as a choice. A place counts only within its own run."""
    choice = Choice(
        kind=_kind(event),
        text=passage.text,
        probability=probability,
        event_ids=(event.id,),
        position=event.position if event.run == session.scope.run else None,
        place=passage.position,
        at_us=event.at_us,
        source=event.role,
        authority=event.authority,
        tool=event.tool,
        about=passage.about,
        why=why,
    )
    return as_claimed(memory, session, event, passage, choice, now_us)
