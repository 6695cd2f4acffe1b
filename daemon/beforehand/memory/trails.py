"""What a run did, call by call: taken down while it runs, and read when it is over."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from beforehand import limits
from beforehand.index.echo import strip_packets
from beforehand.index.redaction import MARK
from beforehand.memory.claims import lowest
from beforehand.memory.later import Later
from beforehand.memory.remembered import authority_of, vouched_for
from beforehand.memory.results import result_of
from beforehand.memory.steps import Order
from beforehand.messages.inbound import Event
from beforehand.messages.outbound import Authority

_PROBLEM_CHARS: Final = 100
_VALUE_CHARS: Final = 60
_TELLING: Final = 3
"""Characters of a value from which on the text that holds it may be its source."""
USER: Final = "user"


class Argument(NamedTuple):
    """One argument of a call. source: `user` or the tool whose result held the value before; None: neither did."""

    name: str
    value: str
    source: str | None


class Call(NamedTuple):
    """One call of a tool. event: its id. problem: what came back when it failed, else None."""

    tool: str
    event: str
    args: tuple[Argument, ...] = ()
    problem: str | None = None


class Happened(NamedTuple):
    """What of an event tells what its run did. A whole message takes six times as much memory.

    authority: of who says so. vouched: whether anybody stands for it.
    """

    order: Order
    id: str
    kind: str
    tool: str | None
    ok: bool | None
    text: str
    args: Mapping[str, Any] | None
    data: Any
    authority: Authority
    vouched: bool
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Trail:
    """The calls of one run in order, what sort of task it was (empty: nobody said), and whether it went well.

    authority: the lowest of those who vouch for the calls. tools: those of the calls in order, a repetition once.
    """

    run: str
    task_type: str
    calls: tuple[Call, ...]
    success: bool
    authority: Authority
    tools: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Read the tools off the calls once: they are asked for often."""
        tools = [call.tool for call in self.calls]
        kept = tuple(tool for place, tool in enumerate(tools) if not place or tools[place - 1] != tool)
        object.__setattr__(self, "tools", kept)


@dataclass(slots=True)
class Doing:
    """A run while it is under way: what happened, and what it means once the run is over.

    calls: those that were worked out when the run was over before it went on. tools: each tool that was called or
    stepped into, at its first place. recent: the newest two, a repetition once.
    task_type: under which the run was filed when it was over the last time, None before that. success: how it went
    then; told: its agent said so.
    """

    happenings: Later[list[Happened]] = field(default_factory=lambda: Later([]))
    calls: tuple[Call, ...] = ()
    authority: Authority = "user"
    steps: list[str] = field(default_factory=list)
    acted: bool = False
    tools: dict[str, int] = field(default_factory=dict)
    recent: tuple[str, ...] = ()
    task_type: str | None = None
    success: bool | None = None
    told: bool = False

    def happened(self, event: Event, event_id: str, order: Order) -> None:
        """An event came: calls, results and what users said are kept, at most limits.TRAIL_EVENTS."""
        if event.kind == "action" and event.tool and "system" not in (event.source, event.role):
            self.acted = True
            self._did(event.tool)
        elif event.kind == "action" or (event.kind != "observation" and event.role != "user"):
            return
        events = self.happenings.part
        if len(events) < limits.TRAIL_EVENTS:
            who = authority_of(event.source, event.role)
            vouched = vouched_for(event, who)
            told = event.kind, event.tool, event.ok, event.text, event.args, event.data
            events.append(Happened(order, event_id, *told, who, vouched, event.call_id or None))

    def stepped(self, tool: str | None) -> None:
        """A step began."""
        if tool and len(self.steps) < limits.TRAIL_EVENTS:
            self.steps.append(tool)
            self._did(tool)

    def trail(self, run: str, task_type: str, *, success: bool) -> Trail:
        """The run as it was. Without any action, its steps are its calls."""
        if not self.acted:
            return Trail(run, task_type, tuple(Call(tool, "") for tool in self.steps), success, "unknown")
        self._work_out()
        return Trail(run, task_type, self.calls, success, self.authority)

    def _work_out(self) -> None:
        """Events into calls; the events are let go."""
        ordered = self.happenings.part
        if all(event.order is not None for event in ordered):
            ordered = sorted(ordered, key=lambda event: event.order or (0, 0))
        self.calls += tuple(_calls(ordered))
        said_by = [event.authority for event in ordered if event.kind == "action"]
        self.authority = lowest((self.authority, *said_by))
        self.happenings = Later([])

    def _did(self, tool: str) -> None:
        self.tools.setdefault(tool, len(self.tools))
        if not self.recent or self.recent[-1] != tool:
            self.recent = (*self.recent[-1:], tool)


class Runs:
    """The newest runs of an agent, at most limits.TRAIL_RUNS of them."""

    def __init__(self) -> None:
        self._doing: OrderedDict[str, Doing] = OrderedDict()

    def of(self, run: str) -> Doing:
        """The run's own, made when it is new."""
        found = self._doing.get(run)
        if found is None:
            found = self._doing[run] = Doing()
            if len(self._doing) > limits.TRAIL_RUNS:
                self._doing.popitem(last=False)
        return found

    def known(self, run: str) -> Doing | None:
        """The run's own, or None when nothing of it is at hand."""
        return self._doing.get(run)


def _calls(ordered: list[Happened]) -> Iterator[Call]:
    told: list[tuple[str, str]] = []
    for place, event in enumerate(ordered):
        if event.kind == "action" and event.tool:
            args = tuple(_arguments(event.args or {}, told))
            later = map(ordered.__getitem__, range(place + 1, len(ordered)))
            yield Call(event.tool, event.id, args, _problem(event, result_of(event, later)))
        elif event.kind == "observation":
            told.append((event.tool or "?", _whole(event)))
        else:
            told.append((USER, event.text))


def _arguments(args: Mapping[str, Any], told: list[tuple[str, str]]) -> Iterator[Argument]:
    """Scalars with the newest source that holds them; of a secret nothing is left that could tell where it was."""
    for name, value in args.items():
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            text = str(value)
            telling = len(text) >= _TELLING and MARK not in text
            source = next((who for who, said in reversed(told) if text in said), None) if telling else None
            yield Argument(name, text if len(text) <= _VALUE_CHARS else "", source)
        else:
            yield Argument(name, "", None)


def _problem(call: Happened, result: Happened | None) -> str | None:
    """What came back, if the call failed: as it says itself, or its result."""
    if call.ok is False:
        return _short(call.text)
    return _words_of(result) if result is not None and result.ok is False else None


def _words_of(failure: Happened) -> str:
    """What came back, if somebody vouches for it: it will stand in a warning."""
    return _short(_whole(failure)) if failure.vouched else ""


def _short(text: str) -> str:
    return " ".join(strip_packets(text).split())[:_PROBLEM_CHARS]


def _whole(event: Happened) -> str:
    if event.data is None:
        return event.text
    return event.text + orjson.dumps(event.data).decode()
