"""Pages as templates: prose, `{{K_MAX}}` for a limit, a line such as `<!-- fields: Event -->` for a generated part."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import orjson

from beforehand import limits
from beforehand.cli.reference import schemas, tables
from beforehand.errors import NotFound

_PART = re.compile(r"^<!-- (?P<kind>[a-z]+)(?:: (?P<of>\w+))? -->$", re.MULTILINE)
_LIMIT = re.compile(r"\{\{(\w+)\}\}")
_NOTE = "<!-- Written by `make docs` from templates/{name} and the code; edit those. -->"


def _examples(name: str) -> str:
    """Each example of one message under a line that says what it shows."""
    blocks = []
    for shows, value in schemas.examples(name):
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        blocks.append(f"{shows[0].upper()}{shows[1:]}:\n\n```json\n{text}\n```")
    return "\n\n".join(blocks)


_PARTS: Final[Mapping[str, Callable[[str], str]]] = {
    "fields": tables.fields,
    "examples": _examples,
    "settings": tables.settings,
    "metrics": lambda _: tables.metrics(),
    "limits": lambda _: tables.bounds(),
    "errors": lambda _: tables.error_tree(),
}


def rendered(templates: Path) -> dict[str, str]:
    """Every page by its name. Raises NotFound for a part that no code writes."""
    return {page.name: _page(page) for page in sorted(templates.glob("*.md"))}


def _page(template: Path) -> str:
    def part(match: re.Match[str]) -> str:
        if match["kind"] not in _PARTS:
            raise NotFound(f"{template.name}: no part {match['kind']!r}.", f"There are: {', '.join(sorted(_PARTS))}.")
        return _PARTS[match["kind"]](match["of"] or "")

    text = _LIMIT.sub(lambda match: f"{getattr(limits, match[1]):,}", template.read_text(encoding="utf-8"))
    return f"{_NOTE.format(name=template.name)}\n{_PART.sub(part, text)}"
