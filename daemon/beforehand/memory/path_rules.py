"""Facts in the results of tools, found by rules that name where they stand.

A result is JSON. A rule names the records in it (`each`, keys joined by dots, `*` for every key or place), how the
subject is called after fields of the record, and the fields that are its attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final

from beforehand import limits
from beforehand.memory.claims import Statement, plain

_FIELD: Final = re.compile(r"\{([^{}]*)\}")
_SCALARS: Final = (str, int, float, bool)


@dataclass(frozen=True, slots=True)
class PathRule:
    """One rule. tool: name of the tools, `*` for any part of it. each: the records; empty: the result itself.

    subject: such as `order {order_id}`; a record without one of its fields has no facts. attributes: fields of the
    record, dots for inner ones; each becomes an attribute named by its last key.
    """

    tool: str
    each: str
    subject: str
    attributes: tuple[str, ...]


def found_in(rules: Sequence[PathRule], tool: str, data: Any, space: str) -> list[Statement]:
    """What the rules for a tool find in a result of it, at most limits.LIST_ITEMS facts."""
    found: list[Statement] = []
    for rule in _for_tool(tuple(rules), tool):
        for record in _at(data, _steps(rule.each)):
            found += _of_record(rule, record, space)
            if len(found) >= limits.LIST_ITEMS:
                return found[: limits.LIST_ITEMS]
    return found


@lru_cache(maxsize=512)
def _for_tool(rules: tuple[PathRule, ...], tool: str) -> tuple[PathRule, ...]:
    return tuple(rule for rule in rules if fnmatchcase(tool, rule.tool))


def _of_record(rule: PathRule, record: Any, space: str) -> Iterator[Statement]:
    subject = _filled(rule.subject, record)
    if subject is None:
        return
    for attribute in rule.attributes:
        for value in _at(record, _steps(attribute)):
            if value is not None:
                name = attribute.rpartition(".")[2].replace("_", " ")
                yield Statement(subject, name, value, space, origin="path")


def _filled(template: str, record: Any) -> str | None:
    """The template with the record's fields; None when it lacks one, or one is no scalar."""
    values: list[str] = []
    for field in _FIELD.findall(template):
        value = next(iter(_at(record, _steps(field))), None)
        if not isinstance(value, _SCALARS):
            return None
        values.append(plain(value))
    parts = iter(values)
    return _FIELD.sub(lambda _: next(parts), template)[: limits.LABEL_CHARS] or None


def _steps(path: str) -> list[str]:
    return path.split(".") if path else []


def _at(data: Any, steps: Sequence[str]) -> Iterable[Any]:
    """What stands at a path; several where it has a `*`."""
    if not steps:
        return (data,)
    step, rest = steps[0], steps[1:]
    if step == "*":
        inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
        return (found for value in inner for found in _at(value, rest))
    if isinstance(data, dict) and step in data:
        return _at(data[step], rest)
    return ()
