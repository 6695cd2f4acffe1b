"""The vocabulary of times: English and Chinese, and the commonest words of Japanese, Korean and Thai."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

NUMBERS: Final[dict[str, float]] = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "a couple of": 2, "a couple": 2, "a few": 3, "several": 3, "half a": 0.5,
    "half an": 0.5,
    "半": 0.5, "半个": 0.5, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8,
    "九": 9, "十": 10, "十一": 11, "十二": 12, "几": 3, "幾": 3, "数": 3,
}  # fmt: skip

UNITS: Final = {
    "second": "second", "sec": "second", "minute": "minute", "min": "minute", "hour": "hour", "hr": "hour",
    "day": "day", "week": "week", "month": "month", "year": "year",
    "秒": "second", "秒钟": "second", "分": "minute", "分钟": "minute",
    "分鐘": "minute", "分間": "minute", "小时": "hour", "小時": "hour", "钟头": "hour", "時間": "hour", "时": "hour",
    "天": "day", "日": "day", "日間": "day", "周": "week", "週": "week", "星期": "week", "礼拜": "week", "週間": "week",
    "个月": "month", "個月": "month", "か月": "month", "ヶ月": "month", "年": "year", "年間": "year",
    "초": "second", "분": "minute",
    "시간": "hour", "일": "day", "주": "week", "주일": "week", "개월": "month", "년": "year",
}  # fmt: skip

VAGUE: Final = frozenset(("a few", "several", "几", "幾", "数"))
"""Numbers that mean two to five."""

LENGTHS: Final = {
    "second": timedelta(seconds=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1),
    "day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30), "year": timedelta(days=365),
}  # fmt: skip
"""How long a unit is when it is counted back from a moment; calendar units are used for "so many months ago"."""

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
"""A pattern for the name of a month, in full or short."""
WEEK_CHARACTERS: Final = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}

DAYS: Final = {
    "the day before yesterday": -2, "the day after tomorrow": 2, "yesterday": -1, "today": 0, "tomorrow": 1,
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "今天": 0, "今日": 0, "明天": 1, "明日": 1, "后天": 2, "後天": 2,
    "一昨日": -2, "明後日": 2, "昨": -1, "今": 0, "明": 1, "그저께": -2, "어제": -1, "오늘": 0, "내일": 1, "모레": 2,
    "เมื่อวานซืน": -2, "เมื่อวาน": -1, "วันนี้": 0, "พรุ่งนี้": 1,
}  # fmt: skip
"""Days by their distance; 昨, 今 and 明 count only before a part of the day (昨晚)."""

PARTS: Final = {
    "morning": "morning", "afternoon": "afternoon", "evening": "evening", "night": "night",
    "凌晨": "dawn", "清晨": "morning", "早上": "morning", "早晨": "morning", "上午": "morning", "中午": "noon",
    "下午": "afternoon", "傍晚": "evening", "晚上": "night", "夜里": "night",
    "早": "morning", "晚": "night", "夜": "night",
    "朝": "morning", "午前": "morning", "午後": "afternoon", "夕方": "evening", "아침": "morning", "오전": "morning",
    "오후": "afternoon", "저녁": "evening", "밤": "night",
}  # fmt: skip

SHIFTS: Final = {
    "last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "following": 1,
    "上上": -2, "上": -1, "这": 0, "這": 0, "本": 0, "今": 0, "下": 1, "下下": 2, "去": -1, "先": -1, "来": 1, "前": -2,
    "明": 1, "지난": -1, "이번": 0, "다음": 1,
}  # fmt: skip
PERIODS: Final = {
    "week": "week", "weekend": "weekend", "month": "month", "year": "year", "周末": "weekend", "週末": "weekend",
    "周": "week", "週": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year", "주말": "weekend",
    "주": "week", "달": "month", "해": "year",
}  # fmt: skip

JUST_NOW: Final = (
    "just now", "a moment ago", "moments ago", "a second ago", "刚才", "刚刚", "剛才", "剛剛", "方才",
    "さっき", "先ほど",
    "たった今", "방금", "아까", "เมื่อกี้", "เมื่อสักครู่",
)  # fmt: skip
LATELY: Final = ("recently", "lately", "最近", "近来", "最近は", "요즘", "최근", "เร็วๆ นี้")


def number(written: str) -> float:
    """The number that a word or digits stand for. Raises ValueError for any other text."""
    folded = " ".join(written.casefold().split())
    known = NUMBERS.get(folded)
    return known if known is not None else float(folded)
