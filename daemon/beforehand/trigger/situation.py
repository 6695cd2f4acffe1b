"""What a rule's condition can see, as one typed and documented record.

What stands beside the type of each field is the reference: the table in rules/README.md has it from `describe`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

from beforehand import limits
from beforehand.trigger import words


@dataclass(frozen=True, slots=True)
class StepView:
    """The step that the packet is for."""

    id: Annotated[str, "id of the step"] = ""
    goal: Annotated[str, "its goal, in the agent's words"] = ""
    tool: Annotated[str, "name of the tool that it will call; empty when it names none"] = ""
    needs: Annotated[tuple[str, ...], "names of the arguments that the tool needs, or words for them"] = ()
    space: Annotated[str, "its scene or topic label; empty when it has none"] = ""
    mutates: Annotated[bool, "whether it changes something: what the plan says, else the verb in the tool's name"] = (
        False
    )
    planned: Annotated[bool, "whether a plan announced it"] = False
    ordinal: Annotated[int, "its place in the run, from 1: steps begun before it plus its distance in the plan"] = 1


@dataclass(frozen=True, slots=True)
class PlanView:
    """The plan that is in force."""

    goal: Annotated[str, "goal of the plan; empty without a plan"] = ""
    task_type: Annotated[str, "the plan's `task_type`; empty when it has none"] = ""
    revision: Annotated[int, "revision of the plan; 0 without a plan"] = 0
    steps_left: Annotated[int, "planned steps that have not ended, this one included"] = 0


@dataclass(frozen=True, slots=True)
class RunView:
    """The run so far."""

    events: Annotated[int, "events of the run so far"] = 0
    position: Annotated[int, "messages of the run so far, of every channel"] = 0
    last_outcome: Annotated[str, "how the newest ended step ended: `success`, `failure`, or empty when not known"] = ""


@dataclass(frozen=True, slots=True)
class RecentEvent:
    """One of the newest events."""

    kind: Annotated[str, "`message`, `action`, `observation`, `reflection` or `note`"]
    text: Annotated[str, "its text, the first 2,000 characters"] = ""
    tool: Annotated[str, "its tool; empty when it has none"] = ""
    ok: Annotated[bool | None, "whether it went well; null when it does not say"] = None
    role: Annotated[str, "`user`, `agent`, `tool`, `system`, or empty"] = ""
    source: Annotated[str, "who vouches for it: `user`, `tool`, `agent`, `system`, or empty"] = ""
    tags: Annotated[tuple[str, ...], "its tags"] = ()
    age_events: Annotated[int, "how many events came after it"] = 0


@dataclass(frozen=True, slots=True)
class FactView:
    """A fact that stands, and what is known of how it came about. What nobody vouches for is left out."""

    subject: Annotated[str, "whom or what it is about"]
    attribute: Annotated[str, "which property"]
    value: Annotated[str, "the value that stands; JSON when it is no text"] = ""
    authority: Annotated[str, "who claims it: `user`, `tool`, `agent`, or empty"] = ""
    changes: Annotated[int, "how often its value became another one"] = 0
    changed_s: Annotated[float, "seconds since its value last changed, or was first claimed"] = 0.0
    confirmed_s: Annotated[float, "seconds since its value was last claimed or repeated"] = 0.0
    conflict: Annotated[bool, "whether somebody of lower authority says otherwise, and later"] = False


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a condition can see. The function `situation` makes one and derives what follows from its parts."""

    step: Annotated[StepView, "the step that the packet is for"]
    plan: Annotated[PlanView, "the plan in force"]
    run: Annotated[RunView, "the run so far"]
    recent: Annotated[tuple[RecentEvent, ...], "the newest events of the run (at most 32), newest first"]
    facts: Annotated[
        tuple[FactView, ...],
        "facts that stand and that the step speaks of (at most 6): its goal has all words of the attribute, or one of "
        "its needs is made of words of subject and attribute; those whose subject the goal names come first, then the "
        "newest",
    ]
    fact_names: Annotated[str, "subject and attribute of each of `facts`, between commas; empty when there are none"]
    errors_in_a_row: Annotated[int, "results that failed since the last one that did not"]
    last_error_tool: Annotated[str, "tool of the newest failure among the recent events; empty without one"]
    last_tool: Annotated[str, "tool of the newest event that names one"]
    tools_failed: Annotated[tuple[str, ...], "tools whose newest result among the recent events is a failure"]
    next_tool_mutates: Annotated[bool, "the same as `step.mutates`"]
    seconds_since_last_event: Annotated[float, "seconds since the run's newest event; 0 when there is none"]
    pause: Annotated[str, "the same in words, such as `40 minutes`, `3 hours` or `12 days`; rounded down"]
    words: Annotated[
        tuple[str, ...],
        "the different words of the step's goal, tool and needs: lower case, names split (`book_flight` is `book`, "
        "`flight`), Chinese as character pairs",
    ]

    def with_facts(self, facts: Sequence[FactView]) -> Situation:
        """The same with these facts in it."""
        names = ", ".join(f"{fact.subject} {fact.attribute}" for fact in facts)
        return replace(self, facts=tuple(facts), fact_names=names)

    def as_variables(self, only: Collection[str] | None = None) -> dict[str, Any]:
        """The variables of a condition by name, as plain values; `only`: just those (`recent` is the costly one)."""
        return {name: _plain(getattr(self, name)) for name in _NAMES if only is None or name in only}


_HOUR_S: Final = 3_600.0
_DAY_S: Final = 24 * _HOUR_S
_NAMES: Final = tuple(each.name for each in fields(Situation))
FACTS: Final = frozenset({"facts", "fact_names"})
"""Variables that cost a look into memory, taken only when a rule comes to need one."""
LISTED: Final = {"recent": "list of events", "facts": "list of facts"}
"""Variables that are lists of records, and what they are called."""

TOPICS: Final = "topics"
TOPICS_MEAN: Final = "names of the pack's own vocabularies that the step's goal, tool or needs speak of"


def situation(
    step: StepView,
    plan: PlanView | None = None,
    run: RunView | None = None,
    recent: Sequence[RecentEvent] = (),
    seconds_since_last_event: float = 0.0,
    facts: Sequence[FactView] = (),
) -> Situation:
    """A situation with everything that follows from its parts. recent: newest first, cut to limits.RECENT_EVENTS."""
    newest = tuple(recent[: limits.RECENT_EVENTS])
    results = _results(newest)
    failed = [event.tool for event in results if event.ok is False]
    latest: dict[str, bool] = {}
    for event in results:
        latest.setdefault(event.tool, event.ok is False)
    made = Situation(
        step=step,
        plan=plan or PlanView(),
        run=run or RunView(),
        recent=newest,
        facts=(),
        fact_names="",
        errors_in_a_row=next((at for at, event in enumerate(results) if event.ok is not False), len(results)),
        last_error_tool=failed[0] if failed else "",
        last_tool=next((event.tool for event in newest if event.tool), ""),
        tools_failed=tuple(tool for tool, bad in latest.items() if bad and tool),
        next_tool_mutates=step.mutates,
        seconds_since_last_event=seconds_since_last_event,
        pause=_pause(seconds_since_last_event),
        words=words.of_step(step.goal, step.tool, step.needs),
    )
    return made.with_facts(facts) if facts else made


def _pause(seconds: float) -> str:
    """Coarse on purpose: a packet that says it is not made anew every second."""
    if seconds < 2 * _HOUR_S:
        return f"{seconds // 600 * 10:.0f} minutes" if seconds >= 600 else "less than 10 minutes"
    if seconds < 2 * _DAY_S:
        return f"{seconds // _HOUR_S:.0f} hours"
    return f"{seconds // _DAY_S:.0f} days"


def _results(newest: Sequence[RecentEvent]) -> list[RecentEvent]:
    """Outcomes, newest first: observations, and actions that say `ok` unless the observation of that call does."""
    found: list[RecentEvent] = []
    answered: str | None = None
    for event in newest:
        if event.kind == "observation":
            found.append(event)
            answered = event.tool
        elif event.kind == "action":
            if event.ok is not None and answered not in {event.tool, ""}:
                found.append(event)
            answered = None
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        cut = value[: limits.SITUATION_CHARS]
        return cut if cut.isascii() else cut.encode("utf-8", "replace").decode()
    if isinstance(value, tuple):
        return [_plain(each) for each in value[: limits.LIST_ITEMS]]
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value


_TYPES: Final[Mapping[Any, str]] = {
    str: "text",
    bool: "true or false",
    int: "integer",
    float: "number",
    bool | None: "true, false or null",
    tuple[str, ...]: "list of text",
}
_RECORDS: Final = (StepView, PlanView, RunView, RecentEvent, FactView)


def describe() -> list[tuple[str, str, str]]:
    """(name, type, meaning) of everything a condition can see, in the order of the table."""
    rows = _rows(Situation, "")
    return [*rows, (TOPICS, "list of text", TOPICS_MEAN)]


def _rows(record: type, prefix: str) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    for member, annotated in get_type_hints(record, include_extras=True).items():
        hint, means = get_args(annotated)
        item = get_args(hint)[0] if get_origin(hint) is tuple else hint
        name = f"{prefix}{member}"
        if item in _RECORDS and item is hint:
            rows += _rows(item, f"{name}.")
        elif item in _RECORDS:
            rows += [(name, LISTED[member], means), *_rows(item, f"{name}[].")]
        else:
            rows.append((name, _TYPES[hint], means))
    return rows


SAMPLE: Final = situation(
    StepView(
        id="s3",
        goal="Find flights from Osaka to Lisbon in May",
        tool="search_flights",
        needs=("origin", "destination", "date"),
        space="travel",
        mutates=False,
        planned=True,
        ordinal=3,
    ),
    PlanView(goal="Arrange the trip to Lisbon", task_type="travel", revision=1, steps_left=3),
    RunView(events=3, position=6, last_outcome="success"),
    (
        RecentEvent(
            "observation", '{"user_id": "ana_7", "tier": "gold"}', "get_user", ok=True, role="tool", source="tool"
        ),
        RecentEvent("action", "get_user", "get_user", role="agent", source="agent", tags=("lookup",), age_events=1),
        RecentEvent("message", "I want to fly to Lisbon in May.", role="user", source="user", age_events=2),
    ),
    seconds_since_last_event=1.5,
    facts=(FactView("ana_7", "origin", "Osaka", "user", changed_s=90.0, confirmed_s=90.0),),
)
"""A complete and quiet situation: conditions are tried on it at load, golden cases change parts of it."""

EMPTY: Final = situation(StepView(id="s1"))
"""A step of which nothing is known, as the first word of a run."""

STRAINED: Final = situation(
    StepView(
        id="s4", goal="Book flight HAT204", tool="book_flight", needs=("flight_id", "payment"), mutates=True, ordinal=4
    ),
    PlanView(goal="Arrange the trip", revision=2, steps_left=1),
    RunView(events=9, position=14, last_outcome="failure"),
    (
        RecentEvent("observation", "error: no seats", "book_flight", ok=False, role="tool", source="tool"),
        RecentEvent(
            "observation", "error: no seats", "book_flight", ok=False, role="tool", tags=("seats",), age_events=2
        ),
    ),
    seconds_since_last_event=7200.0,
    facts=(
        FactView("ana_7", "payment", "card 4411", "user", 2, changed_s=40.0, confirmed_s=40.0, conflict=True),
        FactView("HAT204", "flight", "full", "tool", changed_s=9e6, confirmed_s=9e6),
    ),
)
"""A step after failures and a long pause, with facts that changed, are contradicted, or are old."""
