"""What may stand in a rule pack's file, as pydantic models; and their complaints as errors with lines and advice."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from beforehand import limits
from beforehand.memory.recall import Channel
from beforehand.messages.inbound import Kind, Role
from beforehand.trigger.marked import Document, Place, Source
from beforehand.trigger.names import closest
from beforehand.trigger.template import FIELDS, Template, TemplateProblem

MessageKind = Literal["warning", "reflection"]

Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
Text = Annotated[str, Field(min_length=1, max_length=limits.SITUATION_CHARS)]
Label = Annotated[str, Field(min_length=1, max_length=limits.LABEL_CHARS)]
Labels = Annotated[list[Label], Field(min_length=1, max_length=limits.LIST_ITEMS)]


def _fillable(text: str) -> str:
    try:
        Template.of(text)
    except TemplateProblem as fault:
        raise PydanticCustomError("template", "braces", {"name": fault.name}) from None
    return text


FillableText = Annotated[Text, AfterValidator(_fillable)]
FillableLabels = Annotated[
    list[Annotated[Label, AfterValidator(_fillable)]], Field(min_length=1, max_length=limits.LIST_ITEMS)
]

CHANNELS: Final[dict[str, str]] = {
    "exact": "values and identifiers by the name of their key (`keys`) or literally (`query`)",
    "facts": "what is known now of people and things",
    "timeline": "events in order, newest first, that pass the filters",
    "semantic": "events that mean something alike",
    "lexical": "events that share words",
    "hybrid": "lexical and semantic together, by reciprocal rank",
    "tree": "as hybrid, and what was said beside such events in the same stretch of a run",
    "window": "the newest events as they stand; needs `window: {last: n}`",
}
"""The channels of memory that a rule can ask, with what each gives."""


class Part(BaseModel):
    """Base: nothing is coerced, an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WindowPart(Part):
    """A stretch of the run."""

    last: Annotated[int, Field(ge=1, le=limits.K_MAX)] = Field(description="only the newest so many events")


class RecallPart(Part):
    """One question to memory."""

    channel: Channel = Field(description="which channel to ask, see below")
    query: FillableText = Field(
        "{step.goal} {step.tool} {step.needs}",
        description="what to look for; `{...}` fills in the situation; empty for `exact`, `timeline`, `window`",
    )
    keys: FillableLabels | None = Field(
        None, description="for `exact`: names of keys; `{step.needs}` stands for all of them"
    )
    kinds: Annotated[list[Kind], Field(min_length=1)] | None = Field(None, description="only events of these kinds")
    tools: FillableLabels | None = Field(None, description="only events of these tools; may be `{step.tool}`")
    tags: FillableLabels | None = Field(None, description="only events with one of these tags")
    roles: Annotated[list[Role], Field(min_length=1)] | None = Field(None, description="only events of these roles")
    sources: Annotated[list[Role], Field(min_length=1)] | None = Field(
        None, description="only events that these vouch for"
    )
    ok: bool | None = Field(None, description="true: only what went well; false: only failures")
    window: WindowPart | None = Field(None, description="`{last: n}`: only the newest n events")
    k: Annotated[int, Field(ge=1, le=limits.K_MAX)] = Field(8, description="how many answers at most")


class RulePart(Part):
    """One rule."""

    name: Name = Field(description="its name within the pack: small letters, digits and `-`")
    description: Text = Field(description="why the rule exists, for people")
    when: Annotated[str, Field(min_length=1)] = Field(description="the condition, in CEL; see the variables below")
    recall: Annotated[list[RecallPart], Field(min_length=1, max_length=16)] | None = Field(
        None, description="what to ask memory for"
    )
    message: FillableText | None = Field(None, description="a text to say; `{...}` fills in the situation")
    kind: MessageKind | None = Field(None, description="kind of the item that says `message`; left out: `warning`")
    weight: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = Field(
        0.5, description="how strongly it speaks for what it recalls, 0 to 1"
    )
    cooldown_steps: Annotated[int, Field(ge=0, le=limits.COOLDOWN_STEPS_MAX)] = Field(
        0, description="for how many steps it does not ask again for what a final packet said, nor repeat its message"
    )
    cooldown_s: Annotated[float, Field(ge=0, le=limits.COOLDOWN_S_MAX, allow_inf_nan=False)] = Field(
        0.0, description="the same in seconds, in later steps"
    )
    priority: Annotated[int, Field(ge=-100, le=100)] = Field(0, description="higher ones come first")


class PackPart(Part):
    """A pack without its rules, which are read one by one."""

    name: Name = Field(description="name of the pack; its rules are called `pack/rule`")
    version: Annotated[int, Field(ge=1)] = Field(description="grows with every change of meaning")
    description: Text = Field(description="what the pack is for")
    vocabulary: Annotated[dict[Name, Labels], Field(max_length=100)] = Field(
        {}, description='named lists of words; a condition asks `"name" in topics`'
    )
    rules: Annotated[list[Any], Field(min_length=1, max_length=limits.PACK_RULES)] = Field(
        description="a list of rules"
    )


P = TypeVar("P", bound=BaseModel)


def valid(model: type[P], document: Document, found: Source, path: Place) -> P | None:
    """The part of `document` at `path` as `model`; None when it is none, with every complaint noted in `found`."""
    value: Any = document.data
    for step in path:
        value = value[step]
    try:
        return model.model_validate(value)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=True):
            inside = tuple(part for part in each["loc"] if part != "[key]")
            line = found.line_at(document.index((*path, *inside)))
            found.fault(line, *_said(model, each, inside))
        return None


_WANTED: Final = {
    "string_type": ("text", "Put it into quotes, or write the text on this line."),
    "bool_type": ("true or false", "Write true or false, without quotes."),
    "int_type": ("a whole number", "Write it in digits, without quotes."),
    "float_type": ("a number", "Write it in digits, without quotes."),
    "list_type": ("a list", "Write [one, two], or one `- ` line for each."),
    "dict_type": ("a mapping", "Write one `key: value` line for each."),
    "model_type": ("a mapping", "Write one `key: value` line for each."),
}


def _said(model: type[BaseModel], error: ErrorDetails, path: Place) -> tuple[str, str]:
    """Problem and advice for one complaint of pydantic."""
    kind, key = error["type"], next((part for part in reversed(path) if isinstance(part, str)), "")
    where = f"`{key}`" if key else "the file"
    value = error.get("input")
    if kind == "missing":
        wanted = _model_at(model, path[:-1]).model_fields[key].description
        return f"{where} is missing.", f"Add it: {wanted}." if wanted else ""
    if kind == "extra_forbidden":
        return f"there is no key {where} here.", closest(key, _model_at(model, path[:-1]).model_fields)
    if kind in _WANTED:
        wanted, advice = _WANTED[kind]
        return f"{where} should be {wanted}, not {_kind(value)}.", advice
    if kind == "string_pattern_mismatch":
        return f"{_shown(value)} cannot be a name.", "Use small letters, digits and single `-`."
    return _said_of_value(error, where)


def _said_of_value(error: ErrorDetails, where: str) -> tuple[str, str]:
    value, context = error.get("input"), error.get("ctx", {})
    if error["type"] == "literal_error":
        allowed = re.findall(r"'([^']*)'", str(context["expected"]))
        return f"{where} cannot be {_shown(value)}.", closest(str(value), allowed)
    if error["type"] == "template":
        name = context["name"]
        if name is None:
            return f"in {where} a brace stands alone.", "Write {{ or }} for a brace itself."
        return f"in {where} nothing can be filled in for `{{{name}}}`.", closest(name, FIELDS)
    return f"{where} is {_shown(value)}: {error['msg'][:1].lower()}{error['msg'][1:]}.", ""


def _model_at(model: type[BaseModel], path: Place) -> type[BaseModel]:
    """The model of the part at `path` within `model`."""
    for step in path:
        if isinstance(step, str) and step in model.model_fields:
            inner = _model_in(model.model_fields[step].annotation)
            model = inner or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in get_args(annotation) if (found := _model_in(each)) is not None), None)


def _kind(value: Any) -> str:
    names = {bool: "a truth value", int: "a number", float: "a number", str: "text", list: "a list", dict: "a mapping"}
    return names.get(type(value), "nothing")


def _shown(value: Any) -> str:
    if isinstance(value, list | dict):
        return f"{_kind(value)} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
