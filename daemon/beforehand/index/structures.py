"""JSON, and what looks like Python, found inside text: which stretches are prose and which are structure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

_FAILURES: Final = 8
"""Brackets that began no structure, after which a text is left alone: code has thousands of them."""
_PYTHON_CHARS: Final = 20_000
_PYTHON_SIGNS: Final = ("'", "N", "T", "F", "(")
"""What stands where JSON fails and a Python literal goes on."""
_START: Final = re.compile(r"[{\[](?=\s*[\"'{\[}\]\d-]|\s*(?:true|false|null|True|False|None)\b)")
_TOKEN: Final = re.compile(
    r"(?P<text>'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\")"
    r"|(?P<word>[A-Za-z_][\w.]*)|(?P<comma>,\s*(?=[}\])]))|(?P<mark>[{}\[\]():,])|(?P<number>-?\d[\w.+-]*)|\s+|(?P<other>.)"
)
_WORDS: Final = {"None": "null", "True": "true", "False": "false", "null": "null", "true": "true", "false": "false"}
_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_DECODER: Final = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


def pieces(text: str) -> Iterator[tuple[str, Any]]:
    """("prose", text) and ("structure", dict or list) in the order of the text.

    Numbers arrive as the text that stood there, so that no digit of a long id or amount is lost. Objects and lists
    without content count as prose, and so does what follows after a few brackets that began nothing.
    """
    start = failures = 0
    for match in _START.finditer(text):
        begin = match.start()
        if begin < start:
            continue
        found = _structure_at(text, begin)
        if found is None:
            failures += 1
            if failures == _FAILURES:
                break
            continue
        value, end = found
        if text[start:begin].strip():
            yield "prose", text[start:begin]
        yield "structure", value
        start = end
    if text[start:].strip():
        yield "prose", text[start:]


def whole(text: str) -> Any:
    """The dict or list that `text` is, or None when it is something else (or only contains one)."""
    if "{" not in text and "[" not in text:
        return None
    text = text.strip()
    if text[:1] not in ("{", "[") or text[-1:] not in ("}", "]"):
        return None
    found = _structure_at(text, 0)
    return found[0] if found is not None and not text[found[1] :].strip() else None


def _structure_at(text: str, start: int) -> tuple[Any, int] | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return _python_at(text, start) if text[error.pos : error.pos + 1] in _PYTHON_SIGNS else None
    except RecursionError:
        return None
    return (value, end) if value else None


def _python_at(text: str, start: int) -> tuple[Any, int] | None:
    """A Python literal, rewritten token by token as JSON; anything but plain literals gives None."""
    out: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(text, start, start + _PYTHON_CHARS):
        written = _rewritten(token)
        if written is None:
            return None
        out.append(written)
        depth += (written in "{[" and written != "") - (written in "}]" and written != "")
        if depth == 0:
            return _parsed("".join(out), token.end())
    return None


def _parsed(rewritten: str, end: int) -> tuple[Any, int] | None:
    try:
        value = _DECODER.decode(rewritten)
    except (ValueError, RecursionError):
        return None
    return (value, end) if value else None


def _rewritten(token: re.Match[str]) -> str | None:
    kind, written = token.lastgroup, token.group()
    if kind == "text":
        return json.dumps(_ESCAPE.sub(_unescaped, written[1:-1]))
    if kind == "word":
        return _WORDS.get(written)
    if kind == "mark":
        return {"(": "[", ")": "]"}.get(written, written)
    if kind == "number":
        return written
    return None if kind == "other" else ""


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match[2], match[2])
