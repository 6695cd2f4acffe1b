"""Which events are worth keeping in view, and which sentences hold beyond the moment they were said."""

from __future__ import annotations

import re
from typing import Final

_STANDING: Final = re.compile(
    r"""\b(?: prefer(?:s|red|ence|ences)? | (?:always|never|only|must|cannot|can't|won't|don't|do\ not)\b
        | should(?:n't|\ not)\b | allerg(?:y|ic|ies) | vegetarian | vegan | favou?rite | policy
        | budget | at\ most | no\ more\ than | under\ (?: [$€£¥]\d\w* | \d ) | deadline | due\ (?:by|on)
        | before\ (?:mon|tues|wednes|thurs|fri|satur|sun)day
        | (?:i|we|he|she|they)\ (?:like|love|hate|dislike|need|want)s? | (?:i'd|we'd|would)\ (?:like|rather)
        | requires? | required | make\ sure | confirm(?:ed|s)? )\b
        | 喜欢 | 偏好 | 不要 | 必须 | 不能 | 只要 | 过敏 | 预算 | 截止 | 不超过 | 最多 | 以内 | 习惯 | 确认""",
    re.VERBOSE,
)
"""Of a text in lower case: to ignore the case takes the search twice as long."""
_TRIVIAL: Final = frozenset(
    {
        *("ok", "okay", "k", "yes", "no", "done", "sure", "noted", "roger", "hi", "hello"),
        *("thanks", "thank", "you", "ack", "acknowledged", "ping", "pong", "heartbeat", "alive"),
    }
)
_WORD: Final = re.compile(r"\w+")


def is_standing(sentence: str) -> bool:
    """Whether a sentence states a preference, a constraint, a limit or a confirmation (English, Chinese)."""
    return _STANDING.search(sentence.lower()) is not None


def is_trivial(text: str) -> bool:
    """Whether a text says nothing worth a place in a packet: empty, no word at all, or only words such as "ok"."""
    words = _WORD.findall(text.casefold()[:200])
    return all(word in _TRIVIAL for word in words)
