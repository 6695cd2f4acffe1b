"""What words, passages and exact values cost on made-up service events, in microseconds a call."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

from beforehand.index.entities import Entities
from beforehand.index.lexical import Lexical
from beforehand.index.passages import split
from beforehand.index.temporal import time_window

EVENTS = 10_000
ASKED = 1_000
VOCABULARY = 20_000


def run() -> list[dict[str, Any]]:
    """One row per call: `us_p50`, `us_p99`."""
    chance = random.Random(7)
    texts = [_sentence(chance) for _ in range(EVENTS)]
    results = [_result(chance) for _ in range(EVENTS // 10)]
    words, values = Lexical(), Entities()
    passages = [split(text) for text in texts[: EVENTS // 2]] + [split(result) for result in results]
    queries = [" ".join(_word(chance) for _ in range(8)) for _ in range(ASKED)]
    needs = [chance.choice(("order_id", "payment method", "item_ids", "city")) for _ in range(ASKED)]
    late = slice(EVENTS * 9 // 10, EVENTS)
    at_us = 1_700_000_000_000_000
    rows = [
        _timed("Lexical.add, 20 words", lambda row: words.add(row, texts[row]), range(EVENTS)),
        _timed("Lexical.search, 8 words, 10 k rows", lambda query: words.search(query, 10), queries),
        _timed("Lexical.search, newest tenth of 10 k rows", lambda query: words.search(query, 10, late), queries),
        _timed("split, a sentence", split, texts[:ASKED]),
        _timed("split, a JSON result of 60 leaves", split, results),
        _timed("Entities.add", lambda row: values.add(row, passages[row]), range(len(passages))),
        _timed("Entities.by_key", values.by_key, needs),
        _timed("Entities.by_value", values.by_value, [f"#W{chance.randrange(1_000_000)}" for _ in range(ASKED)]),
        _timed("Entities.mentions, 8 words", values.mentions, queries),
        _timed("time_window", lambda query: time_window(f"{query} yesterday afternoon", at_us), queries),
    ]
    for row in rows:
        print(row)
    return rows


def _timed(what: str, call: Callable[[Any], object], arguments: Iterable[Any]) -> dict[str, Any]:
    taken = []
    for argument in arguments:
        began = time.perf_counter_ns()
        call(argument)
        taken.append((time.perf_counter_ns() - began) / 1e3)
    return {
        "what": what,
        "us_p50": round(statistics.median(taken), 1),
        "us_p99": round(statistics.quantiles(taken, n=100)[98], 1),
    }


def _word(chance: random.Random) -> str:
    """Words as common as in speech: the rank of a word is its odds."""
    return f"w{_letters(int(VOCABULARY ** chance.random()))}"


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _sentence(chance: random.Random) -> str:
    return f"{' '.join(_word(chance) for _ in range(19))} #W{chance.randrange(1_000_000)}."


def _result(chance: random.Random) -> str:
    items = [
        {"name": _word(chance), "item_id": str(chance.randrange(10**9)), "price": chance.randrange(10_000) / 100}
        for _ in range(18)
    ]
    return json.dumps(
        {"order_id": f"#W{chance.randrange(1_000_000)}", "payment_method_id": f"card_{chance.randrange(10**6)}"}
        | {"address": {"city": _word(chance), "zip": str(chance.randrange(100_000))}, "items": items}
    )


if __name__ == "__main__":
    run()
