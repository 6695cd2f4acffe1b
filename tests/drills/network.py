"""A network between daemon and broker that is cut, hangs, or is slow."""

from __future__ import annotations

import time
from pathlib import Path

from drills.proxy import proxy
from drills.scene import DEGRADED, NO_EFFECT, WITHIN_S, Outcome, Size, daemon, fault, mosquitto, red, until, whole
from drills.talk import Talk


def cut(folder: Path, size: Size) -> Outcome:
    """The network between daemon and broker is cut for two seconds, again and again, while agents talk."""
    with (
        mosquitto(folder) as broker,
        proxy(broker.port) as way,
        daemon(way.port, folder) as one,
        Talk(broker.port, events=size.events) as talk,
    ):
        for part in range(1, size.kills + 1):
            talk.wait_for(part * size.events // (size.kills + 1))
            way.cut()
            red_s, said = red(one, "broker")
            time.sleep(2)
            way.mend()
        until(lambda: fault(one, "broker") is None)
        talk.wait(WITHIN_S + size.events / 20)
        figures = whole(one, talk)
    return Outcome(DEGRADED, f"broker: {said}", {**figures, "cuts": size.kills, "red_s": round(red_s, 2)})


def hang(folder: Path, size: Size) -> Outcome:
    """Nothing passes for three seconds, and no connection ends: what a dead router does."""
    with (
        mosquitto(folder) as broker,
        proxy(broker.port) as way,
        daemon(way.port, folder) as one,
        Talk(broker.port, events=size.events) as talk,
    ):
        talk.wait_for(size.events // 4)
        way.hang()
        time.sleep(3)
        way.mend()
        talk.wait(WITHIN_S + size.events / 20)
        figures = whole(one, talk)
        assert talk.late == 0, f"{talk.late} answers came after their deadline"
    return Outcome(NO_EFFECT, "", {**figures, "late_answers": talk.late})


def delay(folder: Path, size: Size) -> Outcome:
    """Every byte between daemon and broker is 50 ms late, each way."""
    with mosquitto(folder) as broker, proxy(broker.port) as way:
        way.delay_s = 0.05
        with daemon(way.port, folder) as one, Talk(broker.port, events=size.events) as talk:
            talk.wait(WITHIN_S + size.events / 5)
            figures = whole(one, talk)
            slow = [line for line in one.lines() if line.get("event", "").startswith("the broker is slow")]
            assert slow, "a round trip of 100 ms is not named"
    return Outcome(DEGRADED, f"log: {slow[0]['event']}", {**figures, "round_trip_ms": slow[0]["round_trip_ms"]})
