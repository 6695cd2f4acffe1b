"""Recorded runs of agents, as the messages that the agent would have sent.

One run a line (JSON Lines, optionally gzip): `{id, source, domain, split, outcome, meta, events: [{type: user | agent |
call | result, name?, args?, text?, canon?}]}`. The plan is built from the calls to come: tool, its name in words, the
argument names of that tool over the whole set; never a value.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import orjson

from beforehand import limits
from beforehand.errors import NotFound, RecordingError
from beforehand.index.tokens import count_tokens
from beforehand.messages.topics import Channel
from beforehand.training.needed import needed_values, normal

_TYPES: Final = ("user", "agent", "call", "result")
_FORM: Final = "Each line is one run: {id, events: [{type, name, args, text}]}; see docs/guides/replay.md."
_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the agent. `call`: index of the call that this message belongs to, else None."""

    channel: Channel
    message: dict[str, Any]
    call: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as a step: `needed` is what it needed from the past."""

    index: int
    step: str
    tool: str
    goal: str
    needs: tuple[str, ...]
    needed: frozenset[str]


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One recorded run. `spaces`: where runs were woven into one, a label for each event (and the step of a call).

    silent: its plan names tools and goals, and not what they need.
    """

    id: str
    source: str
    domain: str
    events: tuple[dict[str, Any], ...]
    needs_of: Mapping[str, tuple[str, ...]]
    outcome: float | None = None
    split: str = ""
    spaces: tuple[str, ...] = ()
    silent: bool = False

    def calls(self, view: int = 0) -> list[Call]:
        """The calls in order. view: newest events that the agent still sees; what stands there is not needed."""
        texts = [normal(text_of(event)) for event in self.events]
        counts = [event["type"] in ("user", "result") for event in self.events]
        calls: list[Call] = []
        for index, event in enumerate(self.events):
            if event["type"] != "call":
                continue
            tool, goal, needs = event["name"], in_words(event["name"]), self.needs_of.get(event["name"], ())
            past = [text for text, told in zip(texts[:index], counts, strict=False) if told]
            in_view = " | ".join(texts[max(0, index - view) : index]) if view else ""
            args = event.get("args")
            needed = needed_values(args, past, in_view=in_view, said=" ".join((goal, tool, *needs))) if args else set()
            calls.append(Call(index, f"s{len(calls) + 1}", tool, goal, needs, frozenset(needed)))
        return calls

    def tokens_before(self) -> list[int]:
        """Tokens of all that had happened before each event, with the arguments of calls: what an agent would carry."""
        counts = (count_tokens(_whole(event)) for event in self.events)
        return list(accumulate(counts, initial=0))

    def plan(self, space: str | None = None) -> Said:
        """The plan that the agent would have sent before anything happened, as long as a plan may be.

        space: label of all steps, unless woven.
        """
        steps = [
            {
                "id": f"s{number}",
                **self._told(index),
                **self._label(index, space),
            }
            for number, index in enumerate(self._calls()[: limits.PLAN_STEPS], 1)
        ]
        return Said("plan", {"goal": f"{self.domain} task", "task_type": self.domain, "revision": 1, "steps": steps})

    def messages(self, space: str | None = None) -> Iterator[Said]:
        """Everything after the plan, in order. A call is: step begin, action; its result: observation, step end."""
        numbers = {index: number for number, index in enumerate(self._calls())}
        running: int | None = None
        for index, event in enumerate(self.events):
            label = self._label(index, space)
            if index in numbers:
                if running is not None:
                    yield _end(running)
                running = numbers[index]
                yield Said("step", {"step": f"s{running + 1}", "phase": "begin", **self._told(index), **label}, running)
            yield Said("event", {**message_of(event), "id": f"{self.id}:{index}", **label}, running)
            if event["type"] == "result" and running is not None:
                yield _end(running)
                running = None
        if running is not None:
            yield _end(running)

    def _told(self, index: int) -> dict[str, Any]:
        """What a step says of itself when it begins: for those that the plan had no room for."""
        name = self.events[index]["name"]
        needs = () if self.silent else self.needs_of.get(name, ())
        return {"tool": name, "goal": in_words(name), "needs": list(needs)}

    def _calls(self) -> list[int]:
        return [index for index, event in enumerate(self.events) if event["type"] == "call"]

    def _label(self, index: int, space: str | None) -> dict[str, str]:
        label = self.spaces[index] if self.spaces else space
        return {} if label is None else {"space": label}


def message_of(event: dict[str, Any]) -> dict[str, Any]:
    """One recorded event as an `event` message."""
    text = text_of(event)
    match event["type"]:
        case "user":
            return {"kind": "message", "role": "user", "source": "user", "text": text}
        case "agent":
            return {"kind": "message", "role": "agent", "source": "agent", "text": text}
        case "call":
            args = event.get("args")
            return {
                "kind": "action",
                "role": "agent",
                "source": "agent",
                "tool": event["name"],
                "args": args if isinstance(args, dict) else {"value": args},
            }
        case _:
            failed = re.match(r'\W{0,3}(?:"?error|traceback|exception|bash: )', text, re.IGNORECASE)
            return {
                "kind": "observation",
                "role": "tool",
                "source": "tool",
                "tool": event.get("name") or "tool",
                "text": text,
                "ok": failed is None,
            }


def text_of(event: dict[str, Any]) -> str:
    """The text of a recorded event; annotated canonical spellings are appended, as the measure counts them."""
    text = event.get("text") or ""
    if not isinstance(text, str):
        text = orjson.dumps(text).decode()
    return " | ".join((text, *(str(spelling) for spelling in event.get("canon") or ())))


def _whole(event: dict[str, Any]) -> str:
    """All that a recorded event says: a call by its name and arguments."""
    if event["type"] != "call":
        return text_of(event)
    return f"{event['name']} {orjson.dumps(event.get('args')).decode()}"


def in_words(name: str) -> str:
    """`find_user_id` and `FindUserId` as "find user id"."""
    return " ".join(part.lower() for part in _CASE.split(name) if part)


def read(path: Path) -> list[Trajectory]:
    """All runs of a file, at least one. Raises NotFound (no such file) or RecordingError naming the line."""
    if not path.is_file():
        raise NotFound(f"no file {path}.", "Name a .jsonl or .jsonl.gz file of recorded runs.")
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as lines:
            rows = [_row(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise RecordingError(
            f"{path} is not a whole gzip file ({error}).", "Name it .jsonl, or compress it again."
        ) from None
    if not rows:
        raise RecordingError(f"{path} is empty.", _FORM)
    return from_rows(rows)


def _row(line: bytes, where: str) -> dict[str, Any]:
    """One run, with all that `from_rows` reads."""
    try:
        row = orjson.loads(line)
        orjson.dumps(row)
    except orjson.JSONDecodeError as error:
        raise RecordingError(f"{where}: not JSON ({error}).", _FORM) from None
    except orjson.JSONEncodeError as error:
        raise RecordingError(f"{where}: nested too deep for a message ({error}).", _FORM) from None
    if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("events"), list):
        raise RecordingError(f"{where}: a run has an id and a list of events.", _FORM)
    if not all(isinstance(row.get(name) or "", str) for name in ("source", "domain", "split")):
        raise RecordingError(f"{where}: source, domain and split are text.", _FORM)
    if not isinstance(row.get("outcome") or 0, int | float):
        raise RecordingError(f"{where}: an outcome is a number from 0 to 1.", _FORM)
    for event in row["events"]:
        if not isinstance(event, dict) or event.get("type") not in _TYPES:
            raise RecordingError(f"{where}: an event without a type of {', '.join(_TYPES)}.", _FORM)
        if event["type"] == "call" and not isinstance(event.get("name"), str):
            raise RecordingError(f"{where}: a call without the name of its tool.", _FORM)
        if not isinstance(event.get("canon") or [], list):
            raise RecordingError(f"{where}: other spellings of a text (`canon`) that are no list.", _FORM)
    return row


def from_rows(rows: Iterable[dict[str, Any]]) -> list[Trajectory]:
    """Runs with the argument names of each tool taken over all of them."""
    kept = list(rows)
    names: dict[str, dict[str, None]] = {}
    for row in kept:
        for event in row["events"]:
            if event["type"] == "call" and isinstance(event.get("args"), dict):
                names.setdefault(event["name"], {}).update(dict.fromkeys(event["args"]))
    needs_of = {tool: tuple(sorted(arguments)) for tool, arguments in names.items()}
    return [
        Trajectory(
            id=str(row["id"]),
            source=row.get("source") or "",
            domain=row.get("domain") or "",
            events=tuple(row["events"]),
            needs_of=needs_of,
            outcome=row.get("outcome"),
            split=row.get("split") or "",
        )
        for row in kept
    ]


def _end(call: int) -> Said:
    return Said("step", {"step": f"s{call + 1}", "phase": "end", "ok": True}, call)
