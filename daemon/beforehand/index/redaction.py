"""Secrets leave a text before it is indexed, embedded or shown (case P6).

Two kinds are found: strings whose form says that they are a credential (`sk-...`, `AKIA...`, `ghp_...`, a JWT, a PEM
private key, the password in a connection string), and values that stand behind a name such as `password:` or
`export TOKEN=`. A value that only refers to a secret (`process.env.KEY`, `${TOKEN}`, `<your key>`, `****`) stays, and
so do ids, order numbers and page tokens, which are what an agent needs. Every pattern takes time linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple

MARK: Final = "[redacted]"
"""Stands in place of a secret. The name before it stays, so that the agent knows that there is one."""


class _Rule(NamedTuple):
    """Tried only where one of `hints` stands in the lower-case text, and where `cue`, if any, is found there."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    replace: Callable[[re.Match[str]], str | None]
    cue: re.Pattern[str] | None = None


def redact(text: str, keep: Collection[str] = ()) -> tuple[str, int]:
    """`text` without secrets, and how many were taken out. A text without any is returned as it is.

    keep: words, as `word_of` writes them, that name no secret here.
    """
    low = text.lower()
    count = 0
    if "-----begin" in low:
        text, count = _without_keys(text)
    for place in _tried(low):
        text, found = _replaced(text, _RULES[place], keep)
        count += found
    return text, count


def _tried(low: str) -> list[int]:
    """Places of the rules that a lower-case text calls for, in their order."""
    places = [place for place, hints, cue in _CUED if any(hint in low for hint in hints) and cue.search(low)]
    for mark, hints in _HINTED.items():
        if mark in low:
            places += [place for hint, place in hints if hint in low]
    return sorted(set(places))


def redact_field(name: str, value: Any, keep: Collection[str] = ()) -> tuple[Any, int]:
    """The value of a named field (a JSON key, a header) without secrets; `name` alone may make it one."""
    if isinstance(value, str) and _names_secret(name, keep) and not _refers(value) and value.strip():
        return MARK, 1
    if isinstance(value, int) and not isinstance(value, bool) and _PERSONAL_NAME.search(name):
        return (MARK, 1) if _names_secret(name, keep) else (value, 0)
    if isinstance(value, list) and _names_secret(name, keep):
        parts = [redact_field(name, part, keep) for part in value]
        return [part for part, _ in parts], sum(count for _, count in parts)
    return redact_data(value, keep)


def redact_data(data: Any, keep: Collection[str] = ()) -> tuple[Any, int]:
    """JSON data without secrets: every text in it is redacted, with the key that it stands under in mind.

    The structure stays. Numbers stay too, except under a name that says password or PIN. Depth is bounded by the codec.
    """
    if isinstance(data, str):
        return redact(data, keep)
    if isinstance(data, list):
        parts = [redact_data(part, keep) for part in data]
        return [part for part, _ in parts], sum(count for _, count in parts)
    if isinstance(data, dict):
        fields = {name: redact_field(str(name), value, keep) for name, value in data.items()}
        return {name: value for name, (value, _) in fields.items()}, sum(count for _, count in fields.values())
    return data, 0


def word_of(name: str) -> str:
    """The name of a secret in one spelling: `api_key`, `API key` and `ApiKey` are one."""
    return _BETWEEN.sub("", name).casefold().removesuffix("s")


_PERSONAL: Final = r"pass(?:word|wd|phrase|code)|pwd|passwort|密码|密碼|口令|パスワード|비밀번호|contraseña"
"""Names of what a person keeps in mind; others are names of what a machine was given."""
_NAMES: Final = (
    rf"{_PERSONAL}|secret|token|api[_\- ]?key|access[_\-]?key(?:[_\-]?id)?"
    r"|(?:private|auth|encryption|signing|master|account)[_\- ]?key|credentials?"
)
_BETWEEN: Final = re.compile(r"[_\-. ]")
_PERSONAL_NAME = re.compile(rf"(?:{_PERSONAL}|(?:^|[_\-.])pin)$", re.IGNORECASE)
_SECRET_NAME = re.compile(rf"(?:{_NAMES}|authorization|(?:^|[_\-.])pin)$", re.IGNORECASE)
_HARMLESS_NAME = re.compile(
    r"(?:(?:page|continuation|cursor|sync|eos|bos|pad|unk|cls|sep|mask)[_\-\s.]*|(?<![a-z])(?:next|prev)[_\-\s.]*)token$"
    r"|(?<![a-z])(?:reset|forgot|change|show|hide|no|has|is|min|max|old)[_\-\s]+(?:password|secret|token)$|(?<![a-z])oldpwd$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\$[{(\w]|%\w+%|\{\{|\{\w+\}|<[^>]*>?$|\[|[*x.…_\-]+$|process\.env|os\.|env[.\[(:]|import\.meta|self\.|this\."
    r"|(?:config|settings|secrets?)[.\[]|vault[:/]|arn:|ref\+|file:|op://|[\w.]+\(|[a-z_]+(?:\.[a-z_]+)+$|your[_\- ]"
    r"|(?:my|the|some|new|an?)[_\- ](?:\w+[_\- ])?(?:key|token|secret|password)\W*$"
    r"|(?:null|none|nil|true|false|undefined|required|optional|string|str|bytes|int|any|text|changeme|example|placeholder"
    r"|redacted|hidden|masked|secret|password|token|todo|tbd|n/?a|empty|unset|missing|invalid|expired|incorrect|wrong)\W*$",
    re.IGNORECASE,
)
_PROSE = re.compile(
    r"(?:is|are|was|must|should|shall|may|can|cannot|can't|will|needs?|has|have|not|no|of|for|to|in|and|or|at|with|the|a|an"
    r"|please|enter|reset|strength|length|minimum|maximum|too|your|my|it|that|this|which|who|when|if|type)[.,:]?",
    re.IGNORECASE,
)


def _names_secret(name: str, keep: Collection[str]) -> bool:
    found = _SECRET_NAME.search(name)
    return found is not None and not _HARMLESS_NAME.search(name) and word_of(found.group()) not in keep


def _refers(value: str) -> bool:
    """Whether `value` only names a secret, or says that there is none."""
    return _REFERENCE.match(value.strip().strip("\"'`\\")) is not None


def _whole(_match: re.Match[str]) -> str | None:
    return MARK


def _second(match: re.Match[str]) -> str | None:
    """Groups: what stays before, the secret, what stays behind."""
    before, secret, behind = match.groups()
    return None if _refers(secret) else f"{before}{MARK}{behind}"


def _assigned(match: re.Match[str]) -> str | None:
    """A value behind a name and `:` or `=`. Unquoted prose, code and paths stay."""
    name, sign, quoted, bare = match.group("name", "sign", "quoted", "bare")
    value = bare if quoted is None else quoted
    before = match.string[max(0, match.start() - 40) : match.end("name")]
    personal = _PERSONAL_NAME.search(name) is not None
    if len(value) < (3 if personal else 6) or _HARMLESS_NAME.search(before) or _refers(value):
        return None
    if quoted is None:
        path = name.lower() == "pwd" and value[0] in "/~."
        prose = ":" in sign and _PROSE.fullmatch(value)
        code = not personal and not name.isupper() and value.isalpha() and len(value) <= 24
        if path or prose or code:
            return None
    start = match.start("bare" if quoted is None else "quoted") - match.start()
    return f"{match.group()[:start]}{MARK}{match.group()[start + len(value) :]}"


def _stated(match: re.Match[str]) -> str | None:
    """`the password is hunter2`: prose, so the value has to look like no word."""
    before, _, stated = match.groups()
    secret = stated.rstrip(".:!?)")
    if _refers(secret) or secret.isalpha() or not secret:
        return None
    return f"{before}{MARK}{stated[len(secret) :]}"


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w\-]){pattern}")


_RULES: Final = (
    _Rule(("sk-",), _form(r"sk-(?=[\w\-]*\d|[A-Za-z]{20})[\w\-]{16,}"), _whole),
    _Rule(("k_live_", "k_test_", "whsec_"), _form(r"(?:[rsp]k_(?:live|test)_|whsec_)[A-Za-z0-9]{10,}"), _whole),
    _Rule(("akia", "asia"), _form(r"A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])"), _whole),
    _Rule(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _form(r"gh[pousr]_[A-Za-z0-9]{20,}"), _whole),
    _Rule(("github_pat_",), _form(r"github_pat_\w{20,}"), _whole),
    _Rule(("glpat-", "gldt-", "glrt-"), _form(r"gl(?:pat|dt|rt)-[\w\-]{16,}"), _whole),
    _Rule(("xox", "xapp-"), _form(r"(?:xox[a-z]|xapp)-[\w\-]{10,}"), _whole),
    _Rule(("hooks.slack.com",), re.compile(r"(hooks\.slack\.com/\w+/)([\w/]{16,})()"), _second),
    _Rule(("aiza",), _form(r"AIza[\w\-]{30,}"), _whole),
    _Rule(("ya29.",), _form(r"ya29\.[\w\-]{20,}"), _whole),
    _Rule(
        ("npm_", "hf_", "gsk_", "dop_v1_", "shp", "lin_api_", "ntn_"),
        _form(r"(?:npm|hf|gsk|dop_v1|shp(?:at|ca|pa|ss)|lin_api|ntn)_[A-Za-z0-9]{24,}"),
        _whole,
    ),
    _Rule(("pypi-",), _form(r"pypi-[\w\-]{40,}"), _whole),
    _Rule(("hvs.", "hvb."), _form(r"hv[sb]\.[\w\-]{20,}"), _whole),
    _Rule(("sg.",), _form(r"SG\.[\w\-]{16,}\.[\w\-]{16,}"), _whole),
    _Rule((":aa",), _form(r"\d{8,10}:AA[\w\-]{30,}"), _whole),
    _Rule(("age-secret-key-",), _form(r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"), _whole),
    _Rule(("eyj",), _form(r"eyJ[\w\-]{6,}\.[\w\-]{6,}(?:\.[\w\-]*)*"), _whole),
    _Rule(
        ("authorization", "bearer", "x-api-key"),
        re.compile(
            r"(authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token|digest|apikey)\s+|\bbearer\s+(?=\S*\d)(?=\S{16}))"
            r"([^\s\"',;\\]+)()",
            re.IGNORECASE,
        ),
        _second,
    ),
    _Rule(("://",), re.compile(r"(://[^\s:/@\"'<>]*:)([^\s@/\"'<>]+)(@)"), _second),
    _Rule(("cookie",), re.compile(r"(\b(?:set-)?cookie:\s*[\w.\-]+=)([^\s;\"']{8,})()", re.IGNORECASE), _second),
    _Rule(
        ("--pass", "--token", "--secret", "--api", "--pwd"),
        re.compile(
            r"(--(?:password|passwd|pwd|token|secret|api-?key)(?:=|\s+)[\"']?)([^\s\"'\-][^\s\"']*)()", re.IGNORECASE
        ),
        _second,
    ),
    _Rule(("curl", "wget"), re.compile(r"(\s(?:-u|--user)[ =][\"']?[^\s:\"']+:)([^\s\"']+)()"), _second),
    _Rule(
        ("key", "pass", "pwd", "secret", "token", "credential", "密", "口令", "パスワード", "비밀", "contrase"),
        re.compile(
            rf"(?P<name>{_NAMES})(?P<sign>\\*[\"'`]?\s{{0,8}}(?::=|[:=：])\s{{0,8}})"
            r"(?:\\*(?P<mark>[\"'`])(?P<quoted>[^\"'`\n\\]+)|(?P<bare>[^\s\"'`,;\\&|)}\]]+))",
            re.IGNORECASE,
        ),
        _assigned,
        re.compile(rf"(?:{_NAMES})\\*[\"'`]?\s{{0,8}}[:=：]"),
    ),
    _Rule(
        ("pass", "密", "パスワード", "비밀", "pin ", "token", "secret", "api key"),
        re.compile(
            rf"((?P<name>{_PERSONAL}|\bpin(?: code)?|token|api key|secret)"
            r"\s?(?:is|was|are|是|为|は)\s?:?\s{0,4}[\"'`]?)([^\s\"'`,;，。]{4,})",
            re.IGNORECASE,
        ),
        _stated,
        re.compile(rf"(?:{_PERSONAL}|\bpin(?: code)?|token|api key|secret)\s?(?:is|was|are|是|为|は)"),
    ),
    _Rule(("</",), re.compile(rf"(<[\w:.\-]{{0,40}}?(?:{_NAMES})>)([^<\s]+)(</)", re.IGNORECASE), _second),
)


_CUED: Final = tuple((place, rule.hints, rule.cue) for place, rule in enumerate(_RULES) if rule.cue)
_HINTED: Final[dict[str, list[tuple[str, int]]]] = {}
"""Hints with their rules, by a mark without which none of them stands in a text."""
for _place, _rule in enumerate(_RULES):
    for _hint in _rule.hints if _rule.cue is None else ():
        _HINTED.setdefault(next((mark for mark in "_-:./" if mark in _hint), ""), []).append((_hint, _place))


def _replaced(text: str, rule: _Rule, keep: Collection[str]) -> tuple[str, int]:
    count = 0

    def one(match: re.Match[str]) -> str:
        nonlocal count
        kept = bool(keep) and word_of(match.groupdict().get("name") or "") in keep
        plain = None if kept else rule.replace(match)
        if plain is None:
            return match.group()
        count += 1
        return plain

    return rule.pattern.sub(one, text), count


_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE)
_CUT_KEY = re.compile(
    r"(?:(?:\s|\\[nrt])*(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{1,80}))*"
    r"(?:(?:\n|\\n)[A-Za-z0-9+/]+=*(?=\n|\\n|\Z))?"
)


def _without_keys(text: str) -> tuple[str, int]:
    """Without PEM private keys. One whose end is missing (a cut text) goes to where its base64 ends."""
    parts: list[str] = []
    at = 0
    begin = _BEGIN.search(text)
    while begin:
        following = _BEGIN.search(text, begin.end())
        end = _END.search(text, begin.end(), following.start() if following else len(text))
        if end is None:
            end = _CUT_KEY.match(text, begin.end())
        parts += (text[at : begin.start()], MARK)
        at = end.end() if end else begin.end()
        begin = following
    return "".join((*parts, text[at:])), len(parts) // 2
