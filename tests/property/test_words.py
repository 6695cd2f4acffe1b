"""Whatever the texts: the word index answers as plain BM25, the exact index as a plain list, and nothing raises."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from beforehand import limits
from beforehand.index import segmentation
from beforehand.index.entities import Entities, values_of
from beforehand.index.extraction import extract, normal
from beforehand.index.fusion import CONSTANT, fuse
from beforehand.index.keys import FAR, nearness, surrounding
from beforehand.index.lexical import Lexical
from beforehand.index.passages import split
from beforehand.index.temporal import moments, time_window

WORDS = st.sampled_from(["order", "card", "kettle", "W123", "W1234", "支付", "的", "결제", "a", "ship-to", "ok", "🎉"])
TEXTS = st.lists(st.lists(WORDS, max_size=8).map(" ".join), max_size=20)
QUERIES = st.lists(WORDS, max_size=4).map(" ".join)
ANY_TEXT = st.text(max_size=300) | st.lists(
    st.sampled_from(list("{}[]'\",:;.!?()#@/\\-_+$%0123456789aTNé前后年月日。 \n\t\ud800")), max_size=200
).map("".join)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=12), inner, max_size=6)
)
QUICK = settings(max_examples=100, deadline=None)


@st.composite
def windows(draw, size):
    kind = draw(st.sampled_from(["all", "slice", "rows"]))
    if kind == "all":
        return None
    if kind == "slice":
        low = draw(st.integers(0, size))
        return slice(low, draw(st.integers(low, size)))
    return np.array(sorted(draw(st.sets(st.integers(0, size + 2), max_size=size))), np.int64)


def within(row, rows):
    if rows is None:
        return True
    return rows.start <= row < rows.stop if isinstance(rows, slice) else row in rows.tolist()


def plain_bm25(texts, query, k1=1.2, b=0.5):
    terms = {row: segmentation.terms(text) for row, text in enumerate(texts)}
    terms = {row: found for row, found in terms.items() if found}
    mean = sum(map(len, terms.values())) / len(terms) if terms else 0
    scores = {}
    for term in segmentation.query_terms(query):
        having = [row for row, found in terms.items() if term in found]
        idf = math.log1p((len(terms) - len(having) + 0.5) / (len(having) + 0.5))
        for row in having:
            times = Counter(terms[row])[term]
            norm = k1 * (1 - b + b * len(terms[row]) / mean)
            scores[row] = scores.get(row, 0.0) + idf * times * (k1 + 1) / (times + norm)
    return scores


@QUICK
@given(texts=TEXTS, query=QUERIES, data=st.data())
def test_search_is_bm25(texts, query, data):
    index = Lexical()
    for row, text in enumerate(texts):
        index.add(row, text)
    rows = data.draw(windows(len(texts)))
    k = data.draw(st.integers(1, 8))
    scores = {row: score for row, score in plain_bm25(texts, query).items() if within(row, rows)}
    found, given_scores = index.search(query, k, rows)
    assert np.allclose(given_scores, [scores[row] for row in found.tolist()], rtol=1e-5)
    order = sorted(scores, key=lambda row: (-np.float32(scores[row]), -row))[:k]
    assert np.allclose(given_scores, [scores[row] for row in order], rtol=1e-5)
    pairs = list(zip(given_scores.tolist(), found.tolist(), strict=True))
    assert pairs == sorted(pairs, reverse=True)


@QUICK
@given(records=st.lists(st.dictionaries(st.sampled_from(["id", "order_id", "名"]), WORDS, max_size=3), max_size=12),
       asked=WORDS, data=st.data())  # fmt: skip
def test_the_exact_index_is_a_list_searched_from_its_end(records, asked, data):
    index, known = Entities(), {}
    for row, record in enumerate(records):
        known[row] = split("", record)
        index.add(row, known[row])
    rows = data.draw(windows(len(records)))
    kept = {row: passages for row, passages in known.items() if within(row, rows)}
    expected = [
        (row, passage.position)
        for row in sorted(kept, reverse=True)
        for passage in kept[row]
        if passage.kind != "record" and normal(asked) in set(values_of(passage))
    ]
    assert index.by_value(asked, rows) == expected
    levels = {
        (row, passage.position): nearness("order id", passage.key, surrounding(passage.path))
        for row, passages in kept.items()
        for passage in passages
        if passage.kind == "leaf"
    }
    near = [spot for spot in levels if levels[spot] > FAR]
    near.sort(key=lambda spot: (-levels[spot], -spot[0], spot[1]))
    assert index.by_key("order id", rows, limit=5) == near[:5]


@QUICK
@given(text=ANY_TEXT, data=ANY_JSON, args=ANY_JSON)
@example(text="[" * 5_000, data=None, args=None)
@example(text="{'a': '" + "\\" * 99, data=None, args=None)
@example(text="x" * 5_000, data=["y" * 900, ["z" * 5_000]], args={"": {"": ""}})
@example(text='{"\\ud800": "\\ud800"}', data={"\ud800": "\ud800"}, args=None)
@example(text="", data=None, args=["00¼", "x¼ １２"])
def test_any_event_gives_bounded_passages(text, data, args):
    passages = split(text, data, args)
    assert [passage.position for passage in passages] == list(range(len(passages)))
    assert len(passages) <= limits.PASSAGES_PER_EVENT
    assert all(0 < len(passage.text) <= limits.PASSAGE_CHARS for passage in passages)
    assert all(passage.text.strip() == passage.text for passage in passages if passage.kind in ("sentence", "line"))
    for passage in passages:
        (passage.text + passage.path + passage.key + (passage.value or "") + passage.about).encode()
    index = Entities()
    index.add(0, passages)
    for passage in passages:
        if passage.kind == "leaf":
            assert all((0, passage.position) in index.by_value(value) for value in values_of(passage))
            written = [passage.value[one.start : one.end] for one in extract(passage.value)]
            assert all((0, passage.position) in index.by_value(value) for value in written)


@QUICK
@given(data=ANY_JSON)
def test_json_as_text_loses_nothing_against_the_same_data(data):
    text = json.dumps(data)
    in_text = {(passage.path, passage.value) for passage in split(text) if passage.kind == "leaf"}
    as_data = {(passage.path, passage.value) for passage in split("", data) if passage.kind == "leaf"}
    if isinstance(data, dict) and not any(mark in text for mark in ("e+", "e-", "Infinity", "NaN", "\\ud800")):
        assert in_text == as_data


@QUICK
@given(text=ANY_TEXT)
def test_any_text_has_terms_and_values_that_stand_in_it(text):
    assert set(segmentation.query_terms(text)) <= set(segmentation.terms(text))
    assert all(0 < len(term) <= segmentation.TERM_CHARS and term == term.lower() for term in segmentation.terms(text))
    last = 0
    for entity in extract(text):
        assert last <= entity.start < entity.end <= len(text)
        assert normal(text[entity.start : entity.end])
        last = entity.end


SPOKEN = """
yesterday afternoon last next this week Friday 3pm 15:30 between and after before since the restart two hours ago May 8
2023 昨天 下午 上周 三天 前 之后 之前 刚才 最近 月 年 日 到 和 recently in of 31 February 9999-12-31
"""
TIMES = st.lists(st.sampled_from(SPOKEN.split()), max_size=9).map(" ".join)


@QUICK
@given(text=TIMES | ANY_TEXT, at_us=st.integers(-(2**62), 2**62), offset_s=st.integers(-50_400, 50_400))
def test_any_text_at_any_time_has_a_window_or_none(text, at_us, offset_s):
    window = time_window(text, at_us, offset_s)
    if window is not None:
        assert window.from_us is None or window.to_us is None or window.from_us <= window.to_us
        assert any(part is not None for part in (window.from_us, window.to_us, window.last)) or (
            window.after_phrase or window.before_phrase
        )
    for one in moments(text, at_us, offset_s):
        assert text[one.start : one.end] == one.written


@QUICK
@given(text=TIMES, at_us=st.integers(10**15, 2 * 10**15))
def test_a_window_moves_with_the_day_that_it_is_asked_on(text, at_us):
    """The calendar repeats itself after 400 years, which are whole weeks: everything relative keeps its distance."""
    cycle_us = 146_097 * 86_400 * 1_000_000
    here, there = time_window(text, at_us), time_window(text, at_us + cycle_us)
    named = any(mark in text for mark in ("2023", "9999"))
    if here is not None and there is not None and not named:
        assert (here.from_us is None) == (there.from_us is None)
        assert here.from_us is None or there.from_us - here.from_us == cycle_us
        assert here.to_us is None or there.to_us - here.to_us == cycle_us
    assert named or (here is None) == (there is None)


@QUICK
@given(rankings=st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(0, 30), unique=True), max_size=4))
def test_fusion_does_not_depend_on_the_order_of_the_channels(rankings):
    found = fuse(rankings, k=100)
    assert found == fuse(dict(reversed(rankings.items())), k=100)
    assert {row for row, _, _ in found} == {row for ranking in rankings.values() for row in ranking}
    for row, score, ranks in found:
        assert ranks == {name: ranking.index(row) + 1 for name, ranking in rankings.items() if row in ranking}
        assert math.isclose(score, sum(1 / (CONSTANT + rank) for rank in ranks.values()))
    assert [(-score, -row) for row, score, _ in found] == sorted((-score, -row) for row, score, _ in found)
