"""Memory is quoted as data: nothing in it can end the quote, begin a line, or pass for the host's own words.

What is changed, and nothing else, so that values stand verbatim for the agent:

| in the memory | in the packet | why |
|---|---|---|
| line ends of every kind with the blanks around them | one blank | one item can never begin a line |
| terminal escapes, control and invisible characters, direction overrides | nothing | they hide text or split words |
| lone surrogates | U+FFFD | they cannot be sent as UTF-8 |
| `<` before what reads as a tag or a chat-template token | `&lt;` | it could close the wrapper or open a turn |
| `[...]` that reads as a template token or as a line's source | `(...)` | it could pass for another turn or source |
| `#` signs before `System:` and other roles | nothing | the headings of instruction templates |
| three backticks and more | as many `'` | it could end the fence that a host puts around the packet |

`a<b`, `x < y`, `cmd <in >out`, `<<EOF`, `List<String>`, `R&D`, `>`, quotation marks and backslashes stay as they are. A
zero-width joiner stays inside the scripts whose spelling needs it (Arabic to Khmer).

That the wrapper cannot be closed follows from one rule without exception: after `<` (also full-width), blanks and a
slash, the wrapper's name never stands in a quoted text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from beforehand.index.echo import NAME

_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]?"
)
_NEEDS_JOINER = "\u0600-\u0dff\u1000-\u109f\u1780-\u17ff"
_INVISIBLE = re.compile(
    rf"(?<![{_NEEDS_JOINER}])[\u200c\u200d]|[\u200c\u200d](?![{_NEEDS_JOINER}])"
    "|[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_LINE_ENDS = re.compile(rf"[ \t]*+[{_LINE_END}][ \t{_LINE_END}]*+")

_HOST = (
    "system|user|assistant|human|developer|agent|model|instructions?|prompts?|context|tools?|functions?|results?"
    "|messages?|thinking|think|admin|important|rules?"
)
_NAME = r"[^\W\d][\w:.\-]*+"
_TAG = re.compile(
    r"[<＜﹤](?="
    rf"\s*+[/／]?\s*+{NAME}"  # the wrapper's own name, in any form
    r"|[|｜]"  # <|im_start|>
    r"|[!?][\-\[A-Za-z]"  # comments, CDATA, declarations
    rf"|[/／]?(?:{_HOST})(?:[\s/>＞|_=]|$)"  # a host's tag
    rf"|[/／]\s*+{_NAME}\s*+[>＞]"  # any closing tag
    r")"
    rf"|(?<!\w)[<＜﹤](?={_NAME}(?:/?[>＞]|\s++[\w:.\-]++\s*+=))",  # any opening tag that stands free
    re.IGNORECASE,
)
_BRACKET = re.compile(
    r"\[(/?(?:INST|SYS|SYSTEM|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|BOS|EOS|UNK|CLS|SEP|MASK|PAD)"
    r"|(?:\d++ )?(?:user|tool|agent|assistant|developer|warning|workflow|summary|reflection|fact)(?: [^\[\]]{0,60})?"
    r"|\d++ [^\W\d][^\[\]]{0,60}|\d++ \?)\]",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"(?<![# \t])[# \t]++(?=(?:system|user|assistant|human|instructions?|response|input)\b[ \t]*+:)", re.IGNORECASE
)
_FENCE = re.compile(r"`{3,}")
_PLAIN = re.compile(r"[ -\"$-;=-Z\\^_a-~]*\Z", re.ASCII)
_TRIPLE: Final = "```"


@lru_cache(maxsize=8_192)
def quote(text: str) -> str:
    """`text` as one line of data; see the table above. Idempotent; a plain text is returned as it is."""
    if _PLAIN.match(text):
        return text.strip()
    text = _cleaned(text)
    if "#" in text:
        text = _HEADING.sub(_without_hashes, text)
    if "<" in text or "＜" in text or "﹤" in text:
        text = _TAG.sub("&lt;", text)
    if "[" in text:
        text = _without_sources(text)
    if _TRIPLE in text:
        text = _FENCE.sub(lambda match: "'" * len(match.group()), text)
    return text.strip()


def forget_quotes() -> None:
    """Drop the texts remembered to save work, so that nothing erased stays in them."""
    quote.cache_clear()


def _cleaned(text: str) -> str:
    """One line without anything that cannot be seen."""
    text = _INVISIBLE.sub("", _TERMINAL.sub("", text))
    text = _LINE_ENDS.sub(" ", text)
    return _SURROGATE.sub("\ufffd", text).replace("\t", " ")


def _without_hashes(match: re.Match[str]) -> str:
    run = match.group()
    if "#" not in run:
        return run
    return " " if run[0] != "#" else ""


def _without_sources(text: str) -> str:
    """From the inside out: brackets in brackets take one round each, at most nine in the width of the pattern."""
    while (plain := _BRACKET.sub(r"(\1)", text)) != text:
        text = plain
    return text
