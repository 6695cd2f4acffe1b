"""Golden cases of a pack: a situation, told as its difference from the sample, and the rules that must fire in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any, Final, get_type_hints

from pydantic import Field, create_model

from beforehand import limits
from beforehand.errors import RuleError
from beforehand.messages.inbound import Kind
from beforehand.trigger import marked, schema
from beforehand.trigger.marked import Document, Source
from beforehand.trigger.mutation import mutates
from beforehand.trigger.names import closest
from beforehand.trigger.packs import Pack
from beforehand.trigger.rules import fire
from beforehand.trigger.schema import Name, Part, Text
from beforehand.trigger.situation import (
    SAMPLE,
    FactView,
    PlanView,
    RecentEvent,
    RunView,
    Situation,
    StepView,
    situation,
)

Fragment = Mapping[str, Any]
"""Parts of a situation by name, nested as in a pack's conditions: `{"step": {"tool": "book_flight"}}`."""

_PARTS: Final[Mapping[str, type]] = {"step": StepView, "plan": PlanView, "run": RunView}


_KIND: Final[Any] = Kind
_LISTS: Final[Mapping[Any, tuple[type, dict[str, Any]]]] = {
    tuple[RecentEvent, ...]: (RecentEvent, {"kind": (_KIND, ...)}),
    tuple[FactView, ...]: (FactView, {"subject": (str, ...), "attribute": (str, ...)}),
}
_BOUNDED: Final[Mapping[Any, Any]] = {
    int: Annotated[int, Field(ge=0, le=limits.SEQ_MAX)],
    float: Annotated[float, Field(ge=0, allow_inf_nan=False)],
}


def _partial(record: type) -> type[Part]:
    """The fields of a record as a model in which each may be left out."""
    members: dict[str, Any] = {}
    for name, hint in get_type_hints(record).items():
        if name in _PARTS:
            wanted: Any = _partial(_PARTS[name])
        elif hint in _LISTS:
            listed, required = _LISTS[hint]
            item: Any = create_model(listed.__name__, __base__=_partial(listed), **required)
            wanted = list[item]
        elif hint == tuple[str, ...]:
            wanted = list[str]
        else:
            wanted = _BOUNDED.get(hint, hint)
        members[name] = (wanted, None)
    return create_model(record.__name__, __base__=Part, **members)


FragmentPart: Final = _partial(Situation)
"""A fragment of a situation, for validation."""


class CasePart(Part):
    """One case. Rules are named without their pack."""

    name: Text = Field(description="what the case shows, as a sentence")
    situation: dict[str, Any] = Field({}, description="what differs from the sample situation")
    fires: list[Name] = Field([], description="rules that must fire")
    silent: list[Name] = Field([], description="rules that must not fire")
    says: dict[Name, Text] = Field({}, description="rules that must say exactly this")


class CasesPart(Part):
    """A file of cases."""

    cases: Annotated[list[Any], Field(min_length=1)] = Field(description="the cases")


@dataclass(frozen=True, slots=True)
class Case:
    """One case, read. line: where it stands."""

    name: str
    line: int
    situation: Situation
    part: CasePart


def over_sample(fragment: Fragment) -> Situation:
    """The sample situation with a (valid) fragment laid over it; what is not given follows from what is.

    So a fragment that names another tool needs no `words`, `mutates` or `next_tool_mutates`.
    """
    step = {**asdict(SAMPLE.step), **fragment.get("step", {})}
    if "mutates" not in fragment.get("step", {}):
        step["mutates"] = fragment.get("next_tool_mutates", mutates(step["tool"], step["goal"]))
    plan, run = ({**asdict(getattr(SAMPLE, name)), **fragment.get(name, {})} for name in ("plan", "run"))
    recent = SAMPLE.recent
    if "recent" in fragment:
        recent = tuple(
            RecentEvent(**{"age_events": at, **_tuples(event)}) for at, event in enumerate(fragment["recent"])
        )
    facts = tuple(FactView(**fact) for fact in fragment["facts"]) if "facts" in fragment else SAMPLE.facts
    seconds = float(fragment.get("seconds_since_last_event", SAMPLE.seconds_since_last_event))
    whole = situation(StepView(**_tuples(step)), PlanView(**plan), RunView(**run), recent, seconds, facts)
    given = {*_PARTS, "recent", "facts", "seconds_since_last_event"}
    derived = {each.name for each in fields(Situation)} - given
    return replace(whole, **_tuples({name: value for name, value in fragment.items() if name in derived}))


def _tuples(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}


def read_cases(text: str | bytes, file: str, pack: Pack) -> tuple[list[Case], list[RuleError]]:
    """The cases of a file that can be read, and what is wrong with the others."""
    found = marked.source(text, file)
    document = marked.compose(found)
    cases: list[Case] = []
    if document is not None and schema.valid(CasesPart, document, found, ()) is not None:
        for at in range(len(document.data["cases"])):
            case = _case(document, found, ("cases", at), pack)
            cases += [case] if case else []
    return cases, sorted(found.errors, key=lambda error: error.line)


def _case(document: Document, found: Source, place: marked.Place, pack: Pack) -> Case | None:
    part = schema.valid(CasePart, document, found, place)
    if part is None:
        return None
    line = found.line_at(document.index(place))
    known = [rule.name.partition("/")[2] for rule in pack.rules]
    strange = [name for name in (*part.fires, *part.silent, *part.says) if name not in known]
    for name in strange:
        found.fault(line, f"case {part.name!r} names `{name}`, no rule of pack `{pack.name}`.", closest(name, known))
    if not (part.fires or part.silent or part.says):
        found.fault(line, f"case {part.name!r} expects nothing.", "Give it `fires`, `silent` or `says`.")
    inside = (*place, "situation")
    if part.situation and schema.valid(FragmentPart, document, found, inside) is None:
        return None
    return None if strange else Case(part.name, line, over_sample(part.situation), part)


def judge(pack: Pack, case: Case, file: str) -> list[RuleError]:
    """What the pack does otherwise than the case expects."""
    verdict = fire([pack], case.situation)
    said = {each.rule.name.partition("/")[2]: each.warning for each in verdict.firings}
    conditions = {rule.name.partition("/")[2]: " ".join(rule.when.text.split()) for rule in pack.rules}
    wrong = [(f"`{fault.rule}` failed: {fault.problem}.", "") for fault in verdict.faults]
    strayed = [(name, "did not fire") for name in case.part.fires if name not in said]
    strayed += [(name, "fired") for name in case.part.silent if name in said]
    wrong += [(f"`{name}` {did}.", f"Its condition: {conditions[name]}") for name, did in strayed]
    for name, text in case.part.says.items():
        if said.get(name) != text:
            wrong.append((f"`{name}` says {said.get(name)!r}, not {text!r}.", ""))
    return [RuleError(file, case.line, f"case {case.name!r}: {problem}", advice) for problem, advice in wrong]
