"""Times in questions, relative to a given instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from beforehand.index.temporal import JUST_NOW_EVENTS, LATELY_EVENTS, TimeWindow, moments, time_window
from beforehand.messages.values import micros, moment

NOW = datetime(2023, 5, 17, 15, 0, tzinfo=UTC)
"""A Wednesday."""


def day(month, number, hour=0, minute=0, year=2023):
    return datetime(year, month, number, hour, minute, tzinfo=UTC)


def read(text, now=NOW, offset_s=0):
    return time_window(text, micros(now), offset_s)


def span(text, now=NOW, offset_s=0):
    window = read(text, now, offset_s)
    assert window is not None, text
    assert window.after_phrase is window.before_phrase is window.last is None
    return tuple(None if us is None else moment(us) for us in (window.from_us, window.to_us))


DAYS = {
    "yesterday": (day(5, 16), day(5, 17)),
    "the day before yesterday": (day(5, 15), day(5, 16)),
    "today": (day(5, 17), day(5, 18)),
    "tomorrow": (day(5, 18), day(5, 19)),
    "昨天": (day(5, 16), day(5, 17)),
    "前天": (day(5, 15), day(5, 16)),
    "昨日": (day(5, 16), day(5, 17)),
    "어제": (day(5, 16), day(5, 17)),
    "เมื่อวาน": (day(5, 16), day(5, 17)),
    "last week": (day(5, 8), day(5, 15)),
    "this week": (day(5, 15), day(5, 22)),
    "上周": (day(5, 8), day(5, 15)),
    "上个星期": (day(5, 8), day(5, 15)),
    "先週": (day(5, 8), day(5, 15)),
    "지난주": (day(5, 8), day(5, 15)),
    "last weekend": (day(5, 13), day(5, 15)),
    "上周末": (day(5, 13), day(5, 15)),
    "last month": (day(4, 1), day(5, 1)),
    "上个月": (day(4, 1), day(5, 1)),
    "last year": (day(1, 1, year=2022), day(1, 1)),
    "去年": (day(1, 1, year=2022), day(1, 1)),
    "next Friday": (day(5, 19), day(5, 20)),
    "last Friday": (day(5, 12), day(5, 13)),
    "on Wednesday": (day(5, 17), day(5, 18)),
    "on Thursday": (day(5, 11), day(5, 12)),
    "next Wednesday": (day(5, 24), day(5, 25)),
    "last Wednesday": (day(5, 10), day(5, 11)),
    "上周五": (day(5, 12), day(5, 13)),
    "下周三": (day(5, 24), day(5, 25)),
    "星期天": (day(5, 14), day(5, 15)),
    "three days ago": (day(5, 14), day(5, 15)),
    "三天前": (day(5, 14), day(5, 15)),
    "3일 전": (day(5, 14), day(5, 15)),
    "two weeks ago": (day(5, 1), day(5, 8)),
    "two months ago": (day(3, 1), day(4, 1)),
    "三天后": (day(5, 20), day(5, 21)),
    "2022-12-31": (day(12, 31, year=2022), day(1, 1)),
    "May 8, 2022": (day(5, 8, year=2022), day(5, 9, year=2022)),
    "8 May": (day(5, 8), day(5, 9)),
    "on June 1": (day(6, 1, year=2022), day(6, 2, year=2022)),
    "2023年5月8日": (day(5, 8), day(5, 9)),
    "5月8号": (day(5, 8), day(5, 9)),
    "in March": (day(3, 1), day(4, 1)),
    "in June": (day(6, 1, year=2022), day(7, 1, year=2022)),
    "in March 2021": (day(3, 1, year=2021), day(4, 1, year=2021)),
    "2021年3月": (day(3, 1, year=2021), day(4, 1, year=2021)),
    "in 2021": (day(1, 1, year=2021), day(1, 1, year=2022)),
}
HOURS = {
    "yesterday afternoon": (day(5, 16, 12), day(5, 16, 18)),
    "昨天下午": (day(5, 16, 12), day(5, 16, 18)),
    "昨日の午後": (day(5, 16, 12), day(5, 16, 18)),
    "어제 오후": (day(5, 16, 12), day(5, 16, 18)),
    "the morning of May 8": (day(5, 8, 5), day(5, 8, 12)),
    "last night": (day(5, 16, 18), day(5, 17, 6)),
    "昨晚": (day(5, 16, 18), day(5, 17, 6)),
    "this morning": (day(5, 17, 5), day(5, 17, 12)),
    "tonight": (day(5, 17, 18), day(5, 18, 6)),
    "two hours ago": (day(5, 17, 12, 30), day(5, 17, 13, 30)),
    "两小时前": (day(5, 17, 12, 30), day(5, 17, 13, 30)),
    "half an hour ago": (day(5, 17, 14), day(5, 17, 15)),
    "半小时前": (day(5, 17, 14), day(5, 17, 15)),
    "in two hours": (day(5, 17, 16, 30), day(5, 17, 17, 30)),
    "yesterday at 3pm": (day(5, 16, 14, 30), day(5, 16, 15, 30)),
    "3pm yesterday": (day(5, 16, 14, 30), day(5, 16, 15, 30)),
    "明天早上9点": (day(5, 18, 8, 30), day(5, 18, 9, 30)),
    "下午三点半": (day(5, 17, 15, 15), day(5, 17, 15, 45)),
    "on Tuesday morning at 9:30": (day(5, 16, 9, 15), day(5, 16, 9, 45)),
    "at noon": (day(5, 17, 11, 30), day(5, 17, 12, 30)),
}
RANGES = {
    "since Monday": (day(5, 15), None),
    "before May 8": (None, day(5, 8)),
    "after yesterday": (day(5, 17), None),
    "until noon today": (None, day(5, 17, 12)),
    "after 3pm yesterday": (day(5, 16, 15), None),
    "yesterday, after 3pm": (day(5, 16, 15), day(5, 17)),
    "between 2pm and 4pm yesterday": (day(5, 16, 14), day(5, 16, 16)),
    "from Monday to Wednesday": (day(5, 15), day(5, 18)),
    "周一到周三": (day(5, 15), day(5, 18)),
    "在周一和周三之间": (day(5, 15), day(5, 18)),
    "周一以来": (day(5, 15), None),
    "5月8日之前": (None, day(5, 8)),
    "after Monday and before Wednesday": (day(5, 16), day(5, 17)),
    "yesterday or today": (day(5, 16), day(5, 18)),
    "since two hours ago": (day(5, 17, 13), None),
}


@pytest.mark.parametrize(("text", "expected"), [*DAYS.items(), *HOURS.items(), *RANGES.items()])
def test_a_time_is_a_window_relative_to_the_instant(text, expected):
    assert span(text) == expected
    assert span(text.upper()) == expected


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("the last 30 minutes", timedelta(minutes=30)),
        ("in the past hour", timedelta(hours=1)),
        ("last three days", timedelta(days=3)),
        ("过去三天", timedelta(days=3)),
        ("最近两小时", timedelta(hours=2)),
    ],
)
def test_a_stretch_that_ends_now_holds_what_happens_now(text, length):
    start, end = span(text)
    assert start == NOW - length
    assert end == NOW + timedelta(microseconds=1)


@pytest.mark.parametrize("text", ["a few days ago", "several days ago", "几天前"])
def test_a_few_is_two_to_five(text):
    start, end = span(text)
    assert start < NOW - timedelta(days=5)
    assert NOW - timedelta(days=2) < end < NOW - timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "after", "before"),
    [
        ("What did we do after the restart?", "restart", None),
        ("After the restart, which port did we use?", "restart", None),
        ("what port was used before the deploy", None, "deploy"),
        ("right after paying but before shipping", "paying", "shipping"),
        ("what happened between the deploy and the rollback?", "deploy", "rollback"),
        ("since we moved to the new server", "we moved to the new server", None),
        ("重启之后用了哪个端口", "重启", None),
        ("重启后用了哪个端口", "重启", None),
        ("部署之前", None, "部署"),
        ("从部署到回滚之间发生了什么", "部署", "回滚"),
        ("再起動の後", "再起動", None),
        ("재시작 이후", "재시작", None),
    ],
)
def test_an_event_that_bounds_the_window_is_named_in_words(text, after, before):
    assert read(text) == TimeWindow(after_phrase=after, before_phrase=before)


def test_a_time_and_a_phrase_stand_together():
    window = read("since the migration last week")
    assert window.after_phrase == "migration"
    assert (moment(window.from_us), moment(window.to_us)) == DAYS["last week"]


@pytest.mark.parametrize("text", ["what happened just now?", "刚才发生了什么", "さっき何が", "방금", "a moment ago"])
def test_just_now_is_the_newest_events(text):
    assert read(text) == TimeWindow(last=JUST_NOW_EVENTS)


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("the last 5 messages", 5),
        ("the last five steps", 5),
        ("the previous step", 1),
        ("最近三条消息", 3),
        ("最后一步", 1),
        ("what changed recently", LATELY_EVENTS),
        ("最近怎么样", LATELY_EVENTS),
    ],
)
def test_a_number_of_newest_events_is_understood(text, last):
    assert read(text) == TimeWindow(last=last)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what is my order id?",
        "May I ask which card",
        "mark 5 as done",
        "difference between A and B",
        "look after the kids",
        "the backend, the front end and 后端 and 前端",
        "最后，然后",
        "in the morning",
        "31 February",
        "25:99",
        "in 999999 years",
        "at the office",
        "W6067464",
        "前置条件",
    ],
)
def test_a_text_without_a_time_asks_for_no_window(text):
    assert read(text) is None


def test_days_begin_at_local_midnight():
    late = datetime(2023, 5, 17, 20, 0, tzinfo=UTC)
    tokyo = 9 * 3600
    assert span("yesterday", late, tokyo) == (day(5, 16, 15), day(5, 17, 15))
    assert span("yesterday", late, -8 * 3600) == (day(5, 16, 8), day(5, 17, 8))


def test_a_leap_day_without_a_year_is_the_latest_that_was():
    assert span("on February 29") == (day(2, 29, year=2020), day(3, 1, year=2020))


def test_the_edges_of_the_calendar_have_no_windows():
    assert time_window("yesterday", 2**62) is None
    assert time_window("yesterday", -(2**62)) is None
    assert moments("yesterday", 2**62) == []
    assert read("9999-12-31") is None
    assert read("before 0001-01-01").to_us == micros(datetime(1, 1, 1, tzinfo=UTC))


def test_moments_say_where_a_time_stands():
    found = moments("I ran yesterday and will run next Friday.", micros(NOW))
    assert [(one.written, moment(one.from_us)) for one in found] == [
        ("yesterday", day(5, 16)),
        ("next Friday", day(5, 19)),
    ]
    assert [(one.start, one.end) for one in found] == [(6, 15), (29, 40)]
