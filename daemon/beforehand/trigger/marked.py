"""YAML to plain values that remember their lines. Nothing is ever constructed from tags, aliases are refused."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from beforehand import limits
from beforehand.errors import RuleError

Place = tuple[str | int, ...]
"""Where a value stands in a document: keys and places in lists."""

_TAG: Final = "tag:yaml.org,2002:"
TEXT: Final = f"{_TAG}str"
"""The tag of a scalar that is text."""


class _Refused(yaml.MarkedYAMLError):
    """Something that YAML allows and a rule file does not."""


class _Composer(yaml.SafeLoader):
    """Composes nodes only, within bounds."""

    depth = 0

    def _mark(self) -> Any:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        return event.start_mark

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """One node. Raises _Refused for an alias and below limits.PACK_DEPTH."""
        if self.check_event(yaml.AliasEvent):
            raise _Refused(problem="an alias (`*name`) stands here", problem_mark=self._mark())
        self.depth += 1
        if self.depth > limits.PACK_DEPTH:
            raise _Refused(
                problem=f"it is nested deeper than {limits.PACK_DEPTH} levels",
                problem_mark=self._mark(),
            )
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


_ADVICE: Final = {
    "an alias": "Write the value out.",
    "it is nested": "No rule needs that.",
    "found character '\\t'": "Indent with spaces; a tab cannot start anything in YAML.",
    "but found another document": "Put each pack into a file of its own; `---` may stand once, at the top.",
    "mapping values are not allowed": "Put text that contains `: ` into quotes.",
    "could not find expected ':'": "Each key is followed by `: `.",
    "unexpected end of stream": "The quote that opens here is not closed.",
    "expected ',' or": "The bracket that opens here is not closed, or a comma is missing in it.",
    "cannot start any token": "Put text that begins with it into quotes.",
    "expected <block end>": "The indentation is wrong here, or there is a quote inside quotes.",
    "expected '<document start>'": "Lines of one level begin in one column.",
    "found undefined alias": "Write the value out.",
}


@dataclass(slots=True)
class Source:
    """The text of one file, its line breaks made one kind, and what is wrong with it so far."""

    file: str
    text: str
    errors: list[RuleError] = field(default_factory=list)
    breaks: list[int] = field(init=False)

    def __post_init__(self) -> None:
        last = len(self.text.rstrip("\n"))
        self.breaks = [match.start() for match in re.finditer("\n", self.text) if match.start() < last]

    def line_at(self, index: int) -> int:
        """Line, from 1, of the character at `index`; never past the last line."""
        return bisect_left(self.breaks, max(0, index)) + 1

    def fault(self, line: int, problem: str, advice: str = "") -> None:
        """Note an error."""
        self.errors.append(RuleError(self.file, line, problem, advice))


@dataclass(frozen=True, slots=True)
class Document:
    """`data`: mappings, lists and scalars; `nodes` by path; `keys`: the nodes of keys by the path of their value."""

    data: Any
    nodes: Mapping[Place, yaml.Node]
    keys: Mapping[Place, yaml.Node]

    def node(self, path: Place) -> yaml.Node:
        """The node at `path`, or the nearest above it that exists."""
        while path not in self.nodes:
            path = path[:-1]
        return self.nodes[path]

    def index(self, path: Place) -> int:
        """Where the key of `path` (or its nearest parent's value) begins, in characters."""
        if path in self.keys:
            return int(self.keys[path].start_mark.index)
        return int(self.node(path).start_mark.index)


def source(raw: str | bytes, file: str) -> Source:
    """Decode. A file that is too large or not UTF-8 comes back empty, with its error."""
    size = len(raw)
    if size > limits.PACK_BYTES:
        found = Source(file, "")
        found.fault(
            1, f"the file has {size} bytes, at most {limits.PACK_BYTES} are read.", "Split it into several packs."
        )
        return found
    try:
        text = raw.decode("utf-8") if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as error:
        found = Source(file, "")
        line = error.object.count(b"\n", 0, error.start) + 1
        found.fault(line, f"byte {error.start} is not UTF-8.", "Save the file as UTF-8.")
        return found
    return Source(file, text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))


def compose(found: Source) -> Document | None:
    """The document of a source. None, with an error noted, when there is none; other faults are noted on the way."""
    if found.errors:
        return None
    try:
        loader = _Composer(found.text)
    except yaml.YAMLError as error:
        found.fault(*_explained(found, error))
        return None
    try:
        root = loader.get_single_node()
    except yaml.YAMLError as error:
        found.fault(*_explained(found, error))
        return None
    except (ValueError, OverflowError):  # from chr() and int(): `"\UFFFFFFFF"`, `%YAML 1.99...9`
        found.fault(found.line_at(loader.index), "a number in an escape or a directive is out of range.", "Correct it.")
        return None
    finally:
        loader.dispose()
    if root is None:
        found.fault(1, "the file is empty.", "A pack begins with `name:`; see rules/README.md.")
        return None
    nodes: dict[Place, yaml.Node] = {}
    keys: dict[Place, yaml.Node] = {}
    data = _Plain(found, nodes, keys).value(root, ())
    return Document(data, nodes, keys)


def _explained(found: Source, error: yaml.YAMLError) -> tuple[int, str, str]:
    if isinstance(error, yaml.reader.ReaderError):
        return (
            found.line_at(error.position),
            f"the character U+{error.character:04X} cannot stand in YAML.",
            "Remove it.",
        )
    if not isinstance(error, yaml.MarkedYAMLError):
        return 1, f"this is not YAML: {error}.", ""
    unclosed = any(part in (error.problem or "") for part in ("end of stream", "expected ',' or"))
    mark = (error.context_mark if unclosed else None) or error.problem_mark or error.context_mark
    problem = error.problem or error.context or "this is not YAML"
    advice = next((advice for start, advice in _ADVICE.items() if start in problem), "")
    context = f" ({error.context})" if error.context and error.problem and "document" not in problem else ""
    return found.line_at(mark.index if mark else 0), f"{problem}{context}.", advice


@dataclass(slots=True)
class _Plain:
    found: Source
    nodes: dict[Place, yaml.Node]
    keys: dict[Place, yaml.Node]

    def value(self, node: yaml.Node, path: Place) -> Any:
        self.nodes[path] = node
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, (*path, at)) for at, each in enumerate(node.value)]
        return self._scalar(node, str(node.value))

    def _mapping(self, node: yaml.MappingNode, path: Place) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = self.found.line_at(key_node.start_mark.index)
            if not isinstance(key_node, yaml.ScalarNode):
                self.found.fault(line, "a key is a list or a mapping.", "Write a word, then `: `.")
                continue
            key = key_node.value
            if key in plain:
                first = self.found.line_at(self.keys[*path, key].start_mark.index)
                self.found.fault(
                    line, f"the key `{_short(key)}` stands twice, first in line {first}.", "Keep one of them."
                )
                continue
            self.keys[*path, key] = key_node
            plain[key] = self.value(value_node, (*path, key))
        return plain

    def _scalar(self, node: yaml.Node, text: str) -> Any:
        line = self.found.line_at(node.start_mark.index)
        try:
            text.encode()
            if node.tag in {f"{_TAG}int", f"{_TAG}float", f"{_TAG}bool", f"{_TAG}null"}:
                return yaml.constructor.SafeConstructor().construct_object(node)
        except UnicodeEncodeError:
            self.found.fault(line, "the text has half a surrogate pair.", "Write the character itself.")
            return ""
        except (ValueError, OverflowError, KeyError):
            self.found.fault(
                line, f"`{_short(text)}` looks like a number or a truth value and is none.", "Put text into quotes."
            )
            return None
        if node.tag not in {TEXT, f"{_TAG}timestamp"}:
            tag = node.tag.removeprefix(_TAG)
            self.found.fault(line, f"the tag `{_short(tag)}` means nothing here.", "Remove it; put text into quotes.")
        return text


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:57]}..."


def index_within(text: str, node: yaml.ScalarNode, offset: int) -> int:
    """Where the character at `offset` of a scalar's value stands in the file, whatever its style folded away.

    The visible characters of a value stand in the file in the same order; so they are counted there. Escapes in
    double quotes break the count; such a value is found by its first line.
    """
    start, end = node.start_mark.index, node.end_mark.index
    raw = text[start:end]
    if node.style == '"' and "\\" in raw:
        return int(start)
    visible = sum(1 for each in node.value[:offset] if not each.isspace())
    doubled = node.style == "'"
    at = raw.find("\n") + 1 if node.style in {"|", ">"} else int(bool(node.style))
    while at < len(raw) and (visible or raw[at].isspace()):
        visible -= not raw[at].isspace()
        at += 2 if doubled and raw.startswith("''", at) else 1
    return int(start + min(at, max(0, len(raw.rstrip()) - 1)))
