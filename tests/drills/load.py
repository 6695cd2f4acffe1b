"""More than the daemon can do at once: a backlog at its start, and consumers that do not read."""

from __future__ import annotations

import statistics
import threading
import time
from pathlib import Path

import orjson
import paho.mqtt.client as mqtt

from beforehand.client import PlainAgent
from beforehand.messages import topics
from beforehand.messages.topics import Scope
from beforehand.settings import BrokerSettings
from drills.scene import DEGRADED, NO_EFFECT, WITHIN_S, Outcome, Size, daemon, mosquitto, until, whole
from drills.talk import Talk
from processes import memory_mb

MEMORY_MB = 1_000
"""What a daemon may take for a backlog (deploy/ limits it to 1 GiB)."""


def backlog(folder: Path, size: Size) -> Outcome:
    """A backlog of ten times the events waits when the daemon starts, of one agent; another asks meanwhile (R7)."""
    count = 10 * size.events
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one:
        one.kill()
        _publish(broker.port, count)
        began = time.monotonic()
        one.start()
        waits = one.health()
        settings = BrokerSettings(host="127.0.0.1", port=broker.port)
        with PlainAgent(tenant="drill", agent="live", broker=settings, linger_s=0) as live:
            told = live.run("r1").before_step("s1", deadline_ms=30_000, goal="pack the order")
            answer_s = time.monotonic() - began
            assert told.reason is None, told.reason
        largest = 0.0

        def stored() -> bool:
            nonlocal largest
            largest = max(largest, memory_mb(one.process.pid))
            return len(one.rows()) >= count

        until(stored, WITHIN_S + count / 50)
        took_s = time.monotonic() - began
        assert len(set(one.rows())) == len(one.rows()) == count
        assert largest < MEMORY_MB, f"{largest:.0f} MB"
    figures = {"events": count, "lost": 0, "twice": 0, "memory_mb": round(largest), "live_answer_s": round(answer_s, 1)}
    return Outcome(NO_EFFECT, "", {**figures, "worked_off_s": round(took_s), "ready": waits["ready"]})


def deaf(folder: Path, size: Size) -> Outcome:
    """A client subscribes to everything that the daemon sends, and never reads its socket."""
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one:
        ear = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        ear.connect("127.0.0.1", broker.port, keepalive=600)
        ear.subscribe(f"{topics.ROOT}/drill/#", qos=1)
        ear.loop()
        with Talk(broker.port, events=size.events) as talk:
            talk.wait(WITHIN_S + size.events / 20)
            figures = whole(one, talk)
            assert talk.late == 0
        ear.socket().close()
    return Outcome(NO_EFFECT, "", {**figures, "late_answers": talk.late})


def noisy(folder: Path, size: Size) -> Outcome:
    """One agent sends ten times the events as fast as it can, another asks before steps with 150 ms all the while."""
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one:
        settings = BrokerSettings(host="127.0.0.1", port=broker.port)
        flood = threading.Thread(target=_publish, args=(broker.port, 10 * size.events))
        took_ms, finals = [], 0
        with PlainAgent(tenant="drill", agent="quiet", broker=settings, linger_s=0) as quiet:
            run = quiet.run("r1")
            run.event("note", "the order goes to box 13", id="other-note")
            assert quiet.confirmed(WITHIN_S)
            flood.start()
            while len(one.rows()) < 10 * size.events:
                began = time.monotonic()
                told = run.before_step(f"s{len(took_ms)}", deadline_ms=150, goal="pack the order", needs=["box"])
                took_ms.append((time.monotonic() - began) * 1000)
                finals += told.is_final
                time.sleep(0.1)
        flood.join()
    middle = round(statistics.median(took_ms))
    figures = {"events": 10 * size.events, "asked": len(took_ms), "final_in_time": finals, "median_ms": middle}
    reason = "" if finals == len(took_ms) else "client: no final packet within 150 ms"
    return Outcome(DEGRADED if reason else NO_EFFECT, reason, figures)


def _publish(port: int, count: int) -> None:
    """Leave so many events at the broker."""
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    client.max_queued_messages_set(0)
    client.max_inflight_messages_set(100)
    client.connect("127.0.0.1", port)
    client.loop_start()
    topic = topics.of_run(Scope("drill", "backlog", "r1"), "event")
    for number in range(count):
        event = {"kind": "note", "id": f"note-{number}", "text": f"note {number}: the box is {number % 97}"}
        sent = client.publish(topic, orjson.dumps(event), qos=1)
    sent.wait_for_publish(WITHIN_S)
    client.disconnect()
    client.loop_stop()
