"""Rule packs: YAML text to typed rules whose conditions are compiled and tried. Files are read elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import yaml

from beforehand import limits
from beforehand.errors import RuleError
from beforehand.memory.recall import Channel
from beforehand.trigger import marked, schema
from beforehand.trigger.condition import Condition, ConditionProblem, context
from beforehand.trigger.marked import Document, Place, Source
from beforehand.trigger.names import strays
from beforehand.trigger.situation import EMPTY, FACTS, SAMPLE, STRAINED, TOPICS
from beforehand.trigger.template import Template
from beforehand.trigger.words import Speech, Vocabulary

LOOSE: Final = frozenset({"semantic", "lexical", "hybrid", "tree"})
"""Channels that find nothing without a query."""
UNASKED: Final = frozenset({"exact", "timeline", "window"})
"""Channels whose query is empty unless the rule gives one."""

_TRIALS: Final = (
    ("a complete sample situation", SAMPLE),
    ("the first step of a run, of which nothing is known", EMPTY),
    ("a step after failures", STRAINED),
)
_GUARD: Final = "The list may be shorter, also empty: guard it, as in `size(recent) > 0 && recent[0].ok == false`."


@dataclass(frozen=True, slots=True)
class RecallAction:
    """One question to memory with its templates; `last`: only the newest so many events, or None."""

    channel: Channel
    query: Template
    keys: tuple[Template, ...] = ()
    kinds: tuple[str, ...] = ()
    tools: tuple[Template, ...] = ()
    tags: tuple[Template, ...] = ()
    roles: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    ok: bool | None = None
    last: int | None = None
    k: int = 8


@dataclass(frozen=True, slots=True)
class Rule:
    """`name` is `pack/rule`. weight: 0..1. kind: of the item that says `message`. line: where it stands in its file.

    names_facts: its message or a question fills in the facts that a step speaks of.
    """

    name: str
    description: str
    when: Condition
    actions: tuple[RecallAction, ...]
    message: Template | None
    kind: schema.MessageKind
    weight: float
    cooldown_steps: int
    cooldown_s: float
    priority: int
    line: int
    names_facts: bool


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack that may be used. variables: all that its conditions read."""

    name: str
    version: int
    description: str
    file: str
    vocabulary: tuple[tuple[str, Vocabulary], ...]
    rules: tuple[Rule, ...]
    variables: frozenset[str]

    def topics(self, speech: Speech) -> list[str]:
        """Names of the vocabularies that a step's words meet."""
        return [name for name, vocabulary in self.vocabulary if vocabulary.met_in(speech)]


def read(text: str | bytes, file: str) -> Pack:
    """The pack in `text`. file: its name, for errors. Raises the first RuleError by line."""
    pack, errors = _read(text, file)
    if errors or pack is None:
        raise errors[0]
    return pack


def check(text: str | bytes, file: str) -> list[RuleError]:
    """Everything that is wrong with a pack, by line; empty when `read` accepts it."""
    return _read(text, file)[1]


def _read(text: str | bytes, file: str) -> tuple[Pack | None, list[RuleError]]:
    found = marked.source(text, file)
    document = marked.compose(found)
    pack = None if document is None else _PackReader(found, document).pack()
    return (None if found.errors else pack), sorted(found.errors, key=lambda error: error.line)


class _PackReader:
    """Reads one document; what is wrong goes to `found` and the reading goes on."""

    def __init__(self, found: Source, document: Document) -> None:
        self.found = found
        self.document = document

    def pack(self) -> Pack | None:
        data = self.document.data
        head = schema.valid(schema.PackPart, self.document, self.found, ())
        given = data.get("rules") if isinstance(data, dict) else None
        listed = given[: limits.PACK_RULES] if isinstance(given, list) else []
        vocabulary = data.get("vocabulary") if isinstance(data, dict) else None
        topics = frozenset(vocabulary) if isinstance(vocabulary, dict) else frozenset()
        pack_name = head.name if head else "?"
        lines: dict[Any, int] = {}
        rules: list[Rule] = []
        for at in range(len(listed)):
            rule = self._rule(("rules", at), pack_name, topics)
            rules += [rule] if rule else []
            self._name_once(listed[at], at, lines)
        if head is None:
            return None
        reads = frozenset().union(*(rule.when.variables for rule in rules))
        known = tuple((name, Vocabulary.of(terms)) for name, terms in head.vocabulary.items())
        return Pack(
            name=head.name,
            version=head.version,
            description=head.description,
            file=self.found.file,
            vocabulary=known,
            rules=tuple(rules),
            variables=reads,
        )

    def _name_once(self, rule: Any, at: int, lines: dict[Any, int]) -> None:
        name = rule.get("name") if isinstance(rule, dict) else None
        if not isinstance(name, str):
            return
        line = self._line(("rules", at, "name"))
        if name in lines:
            self.found.fault(
                line, f"a rule `{name}` stands already in line {lines[name]}.", "Give it a name of its own."
            )
        lines.setdefault(name, line)

    def _rule(self, path: Place, pack_name: str, topics: frozenset[str]) -> Rule | None:
        part = schema.valid(schema.RulePart, self.document, self.found, path)
        when = self._condition((*path, "when"), topics)
        if part is None:
            return None
        if part.recall is None and part.message is None:
            self.found.fault(
                self._line(path), f"rule `{part.name}` does nothing.", "Give it `recall`, `message` or both."
            )
        if part.kind and part.message is None:
            self.found.fault(
                self._line((*path, "kind")), "`kind` without `message`.", "It is the kind of the message's item."
            )
        actions = [self._action(each, (*path, "recall", at)) for at, each in enumerate(part.recall or [])]
        message = Template.of(part.message) if part.message is not None else None
        if when is None:
            return None
        return Rule(
            name=f"{pack_name}/{part.name}",
            description=" ".join(part.description.split()),
            when=when,
            actions=tuple(actions),
            message=message,
            kind=part.kind or "warning",
            weight=part.weight,
            cooldown_steps=part.cooldown_steps,
            cooldown_s=part.cooldown_s,
            priority=part.priority,
            line=self._line(path),
            names_facts=_names_facts(message, actions),
        )

    def _action(self, part: schema.RecallPart, path: Place) -> RecallAction:
        if part.channel == "window" and part.window is None:
            self.found.fault(self._line(path), "channel `window` without a window.", "Add `window: {last: 5}`.")
        if part.keys is not None and part.channel != "exact":
            line = self._line((*path, "keys"))
            self.found.fault(
                line, f"`keys` with channel `{part.channel}`.", "Only `exact` looks by key; use `query` here."
            )
        asks = part.channel not in UNASKED or "query" in part.model_fields_set
        return RecallAction(
            channel=part.channel,
            query=Template.of(part.query if asks else ""),
            keys=_templates(part.keys),
            kinds=tuple(part.kinds or ()),
            tools=_templates(part.tools),
            tags=_templates(part.tags),
            roles=tuple(part.roles or ()),
            sources=tuple(part.sources or ()),
            ok=part.ok,
            last=part.window.last if part.window else None,
            k=part.k,
        )

    def _condition(self, path: Place, topics: frozenset[str]) -> Condition | None:
        node = self.document.nodes.get(path)
        if not isinstance(node, yaml.ScalarNode) or node.tag != marked.TEXT:
            return None  # the schema has said so already
        text = node.value
        try:
            condition = Condition.of(text)
        except ConditionProblem as fault:
            self.found.fault(
                self._line_within(node, fault.offset or 0), f"{fault.problem}.", _seen_at(text, fault.offset)
            )
            return None
        stray = strays(text, topics)
        for each in stray:
            self.found.fault(self._line_within(node, each.offset), f"{each.problem}.", each.advice)
        if stray:
            return None
        return condition if self._tried(condition, node, topics) else None

    def _tried(self, condition: Condition, node: yaml.ScalarNode, topics: frozenset[str]) -> bool:
        """Whether the condition gives true or false wherever it is tried."""
        for named, example in _TRIALS:
            for met in ([], sorted(topics)):
                try:
                    condition.holds(context(example.as_variables() | {TOPICS: met}))
                except ConditionProblem as fault:
                    advice = _GUARD if "index" in fault.problem else ""
                    self.found.fault(self._line_within(node, 0), f"{fault.problem}; tried on {named}.", advice)
                    return False
        return True

    def _line(self, path: Place) -> int:
        return self.found.line_at(self.document.index(path))

    def _line_within(self, node: yaml.ScalarNode, offset: int) -> int:
        return self.found.line_at(marked.index_within(self.found.text, node, offset))


def _names_facts(message: Template | None, actions: list[RecallAction]) -> bool:
    filled = [] if message is None else [message]
    for action in actions:
        filled += [action.query, *action.keys, *action.tools, *action.tags]
    return any(not FACTS.isdisjoint(template.variables) for template in filled)


def _templates(texts: list[str] | None) -> tuple[Template, ...]:
    return tuple(Template.of(text) for text in texts or ())


def _seen_at(text: str, offset: int | None) -> str:
    if offset is None:
        return ""
    before = " ".join(text[max(0, offset - 30) : offset].split())
    return f"After `{before}`." if before else ""
