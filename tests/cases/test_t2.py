"""T2: the zone of the machine moves no event to another day, also where its clocks change.

A daemon is told of events around midnight on 2026-03-08 and 2026-11-01, once with the machine in each zone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

ZONES = ("UTC", "Asia/Tokyo", "America/Los_Angeles")
PROGRAM = """
import json, time
time.tzset()
from stage import staged
said = {}
DAYS = {"2026-03-08": ("03-07", "03-08", "03-09"), "2026-11-01": ("10-31", "11-01", "11-02")}

async def play(stage):
    for before, day, after in DAYS.values():
        for at in (f"{before}T23:59:59", f"{day}T00:30:00", f"{day}T10:00:00", f"{day}T23:59:59", f"{after}T00:00:00"):
            await stage.event(f"it is {at}Z", at=f"2026-{at}Z")
    asked = {
        "on March 8": "2026-03-20T12:00:00Z", "yesterday": "2026-03-09T00:10:00Z", "昨天下午": "2026-03-09T23:00:00Z",
        "on November 1": "2026-11-20T12:00:00Z", "today": "2026-11-01T23:50:00Z", "last night": "2026-11-01T12:00:00Z",
    }
    for query, at in asked.items():
        reply = await stage.recall(query, mode="timeline", at=at, k=50)
        said[query] = [(item["text"], item["at"]) for item in reply["items"]]

staged(play)
print(json.dumps([time.strftime("%z"), said], ensure_ascii=False))
"""


def heard_in(zone: str) -> tuple[str, dict[str, list[list[str]]]]:
    environment = {**os.environ, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True, text=True)
    offset, said = json.loads(done.stdout)
    return offset, said


def test_t2_an_event_lies_in_its_utc_day_wherever_the_machine_stands():
    heard = {zone: heard_in(zone) for zone in ZONES}
    assert len({offset for offset, _ in heard.values()}) == len(ZONES)
    said = heard["UTC"][1]
    assert all(other == said for _, other in heard.values())
    days = {query: sorted(text for text, _ in items) for query, items in said.items()}
    march = [f"it is 03-08T{time}Z" for time in ("00:30:00", "10:00:00", "23:59:59")]
    november = [f"it is 11-01T{time}Z" for time in ("00:30:00", "10:00:00", "23:59:59")]
    assert days["on March 8"] == days["yesterday"] == march
    assert days["on November 1"] == days["today"] == november
    assert days["昨天下午"] == []
    assert days["last night"] == ["it is 10-31T23:59:59Z", "it is 11-01T00:30:00Z"]
    assert ["it is 03-08T00:30:00Z", "2026-03-08T00:30:00Z"] in said["yesterday"]
