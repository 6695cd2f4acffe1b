"""Recorded runs as an agent's experience, one after another, and what it would have been worth for each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from beforehand import limits
from beforehand.errors import RecordingError
from beforehand.memory.advice import advise
from beforehand.memory.flows import Flows
from beforehand.memory.reading import Reading
from beforehand.memory.session import Session
from beforehand.memory.steps import Step
from beforehand.messages.entry import Entry
from beforehand.messages.inbound import BY_CHANNEL, Plan
from beforehand.messages.refusals import refusal
from beforehand.messages.topics import Channel, Scope
from beforehand.training.trajectories import Trajectory, message_of

_Model = TypeVar("_Model", bound=BaseModel)
_SECOND_US: Final = 1_000_000
_READING: Final = Reading()
BANDS: Final = (0, 3, 8, 16)
"""Earlier runs of the same task type, from which on the next band begins."""


@dataclass(slots=True)
class Worth:
    """Sums over runs that had a like number of runs before them.

    turns: calls with another one after them; named: of these, where a next call was named; right: and it was that.
    plans: plans of at least two calls; alarmed: of these as they were, for which a call was said to be missing.
    gaps: plans from which one call was taken; noticed: of these, for which that call was named as missing.
    """

    runs: int = 0
    turns: int = 0
    named: int = 0
    right: int = 0
    plans: int = 0
    alarmed: int = 0
    gaps: int = 0
    noticed: int = 0


def learn(flows: Flows, run: Trajectory) -> None:
    """Live through a run: its task type is its domain, and without an outcome it is taken to have gone well."""
    for _ in _live(flows, run):
        pass


def worth(runs: Iterable[Trajectory], seed: int) -> dict[int, Worth]:
    """By band of experience: what the runs before each run, and they alone, would have said before its steps."""
    flows, draw = Flows(), random.Random(seed)  # noqa: S311  which call is left out, not a secret
    seen: dict[str, int] = {}
    bands = {band: Worth() for band in BANDS}
    for run in runs:
        before = seen.get(run.domain, 0)
        counted = bands[max(band for band in BANDS if band <= before)]
        counted.runs += 1
        _count_plans(flows, run, counted, draw)
        for session, tool, following in _live(flows, run):
            told = [one for one in advise(flows, session, Step("now", tool=tool)) if one.sort == "next"]
            counted.turns += following is not None
            counted.named += bool(told)
            counted.right += any(one.tool == following for one in told)
        seen[run.domain] = before + 1
    return bands


def _live(flows: Flows, run: Trajectory) -> Iterator[tuple[Session, str, str | None]]:
    """Session, tool and the next other tool at each call, before it happens; afterwards the run is over."""
    session = Session(Scope("experience", "agent", run.id), 0)
    _take(flows, session, "plan", {"task_type": run.domain, "steps": []}, f"{run.id}:plan")
    path = _path(run)
    place = -1
    for index, event in enumerate(run.events):
        if event["type"] == "call" and (place < 0 or event["name"] != path[place]):
            place += 1
            yield session, path[place], path[place + 1] if place + 1 < len(path) else None
        _take(flows, session, "event", message_of(event), f"{run.id}:{index}")
    outcome = 1.0 if run.outcome is None else min(1.0, max(0.0, float(run.outcome)))
    _take(flows, session, "feedback", {"outcome": outcome}, f"{run.id}:end")


def _count_plans(flows: Flows, run: Trajectory, counted: Worth, draw: random.Random) -> None:
    path = _path(run)
    if len(path) < 2:
        return
    counted.plans += 1
    counted.alarmed += bool(_missing(flows, run, path))
    gap = draw.randrange(len(path) - 1)
    rest = [tool for place, tool in enumerate(path) if place != gap]
    if path[gap] not in rest:
        counted.gaps += 1
        counted.noticed += path[gap] in _missing(flows, run, rest)


def _missing(flows: Flows, run: Trajectory, tools: list[str]) -> set[str]:
    """What is said to be missing before the first step of a plan."""
    session = Session(Scope("experience", "agent", f"{run.id} planned"), 0)
    steps = [{"id": f"s{number}", "tool": tool} for number, tool in enumerate(tools)]
    plan = {"task_type": run.domain, "steps": steps[: limits.PLAN_STEPS]}
    session.itinerary.replace(_valid(Plan, plan, f"{run.id}:plan"))
    return {one.tool for one in advise(flows, session, session.itinerary.steps["s0"]) if one.sort == "missing"}


def _path(run: Trajectory) -> list[str]:
    """The tools in order, a repetition once."""
    tools = [event["name"] for event in run.events if event["type"] == "call"]
    return tools[:1] + [tool for before, tool in pairwise(tools) if tool != before]


def _valid(model: type[_Model], fields: Mapping[str, Any], which: str) -> _Model:
    """Raises RecordingError for what a daemon would refuse."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        refused = refusal(model, error)
        raise RecordingError.refused(which, refused.field, refused.problem, refused.advice) from None


def _take(flows: Flows, session: Session, channel: Channel, fields: Mapping[str, Any], message_id: str) -> None:
    message = _valid(BY_CHANNEL[channel], fields, message_id)
    at_us = (session.position + 1) * _SECOND_US
    said = Entry(
        scope=session.scope,
        channel=channel,
        id=message_id,
        message=message,
        at_us=at_us,
        at_given=False,
        received_us=at_us,
        retained=False,
        body=b"",
    )
    entry = _READING.screened(said)
    session.take(entry)
    flows.take(entry, session)
