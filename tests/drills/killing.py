"""Processes that are killed, stopped and started again."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import brokers
from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
from drills.scene import DEGRADED, NO_EFFECT, WITHIN_S, Outcome, Size, daemon, mosquitto, whole
from drills.talk import Talk
from processes import Up, memory_mb


def _patience_s(size: Size) -> float:
    """How long so many events and kills may take on a busy machine."""
    return WITHIN_S + size.events / 20 + size.kills * 10


def kill_daemon(folder: Path, size: Size) -> Outcome:
    """kill -9 of the daemon at random moments, while agents talk."""
    chance = random.Random(size.seed)
    back_s = []
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one, Talk(broker.port, events=size.events) as talk:
        for _ in range(size.kills):
            time.sleep(chance.uniform(0.05, 1.0))
            one.kill()
            began = time.monotonic()
            one.start()
            back_s.append(time.monotonic() - began)
        talk.wait(_patience_s(size))
        figures = whole(one, talk)
    return Outcome(NO_EFFECT, "", {**figures, "kills": size.kills, "back_s": round(max(back_s), 1)})


def kill_broker(folder: Path, size: Size) -> Outcome:
    """kill -9 of the broker at random moments, while agents talk: it forgets what it had acknowledged."""
    chance = random.Random(size.seed)
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one, Talk(broker.port, events=size.events) as talk:
        for _ in range(size.kills):
            time.sleep(chance.uniform(0.05, 1.0))
            broker.stop(signal.SIGKILL)
            time.sleep(chance.uniform(0.0, 0.3))
            broker.start()
        talk.wait(_patience_s(size))
        figures = whole(one, talk)
    return Outcome(NO_EFFECT, "", {**figures, "kills": size.kills})


def kill_both(folder: Path, size: Size) -> Outcome:
    """kill -9 of a daemon whose own embedded broker dies with it, while agents talk."""
    chance = random.Random(size.seed)
    port = brokers.free_port()
    one = Up(folder, embedded="iotcore", embedded_port=port)
    one.start()
    try:
        with Talk(port, events=size.events) as talk:
            for _ in range(size.kills):
                time.sleep(chance.uniform(0.05, 1.0))
                one.kill()
                one.start()
            talk.wait(_patience_s(size))
            figures = whole(one, talk)
    finally:
        one.kill()
    return Outcome(NO_EFFECT, "", {**figures, "kills": size.kills})


def restart_broker(folder: Path, size: Size) -> Outcome:
    """An orderly restart of the broker, while agents talk (R5)."""
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one, Talk(broker.port, events=size.events) as talk:
        for part in range(1, size.kills + 1):
            talk.wait_for(part * size.events // (size.kills + 1))
            broker.stop(signal.SIGTERM)
            broker.start()
        talk.wait(_patience_s(size))
        figures = whole(one, talk)
    return Outcome(NO_EFFECT, "", {**figures, "restarts": size.kills})


def stop_daemon(folder: Path, size: Size) -> Outcome:
    """SIGSTOP of the daemon while an agent asks before a step with 150 ms (R8)."""
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one, Talk(broker.port, events=size.events) as talk:
        talk.wait_for(size.events // 4)
        one.pause()
        settings = BrokerSettings(host="127.0.0.1", port=broker.port)
        with PlainAgent(tenant="drill", agent="asker", broker=settings, linger_s=0) as asker:
            assert asker.connected(10)
            began = time.monotonic()
            told = asker.run("r1").before_step("s1", deadline_ms=150, goal="pack")
            took_ms = (time.monotonic() - began) * 1000
        one.resume()
        assert told.packet is None
        assert took_ms < 150 + 500, f"{took_ms} ms"
        talk.wait(_patience_s(size))
        figures = whole(one, talk)
    return Outcome(DEGRADED, f"client: {told.reason}", {**figures, "answer_ms": round(took_ms)})


def stop_broker(folder: Path, size: Size) -> Outcome:
    """SIGSTOP of the broker for three seconds, while agents talk."""
    with mosquitto(folder) as broker, daemon(broker.port, folder) as one, Talk(broker.port, events=size.events) as talk:
        talk.wait_for(size.events // 4)
        broker.pause()
        time.sleep(3)
        broker.resume()
        talk.wait(_patience_s(size))
        figures = whole(one, talk)
        assert talk.late == 0, f"{talk.late} answers came after their deadline"
    return Outcome(NO_EFFECT, "", {**figures, "late_answers": talk.late})


def start_and_kill(folder: Path, size: Size) -> Outcome:
    """Start and kill the daemon twice for each kill asked for (R3): no file handles or memory grow with it."""
    with mosquitto(folder) as broker:
        one = Up(folder, port=broker.port)
        sizes, handles = [], []
        for _ in range(2 * size.kills):
            one.start()
            pid = one.process.pid
            sizes.append(memory_mb(pid))
            handles.append(len(list(Path(f"/proc/{pid}/fd").iterdir())))
            one.kill()
            assert not brokers.is_alive(pid)
    assert max(handles[1:]) <= handles[0] + 2, handles
    assert sizes[-1] < sizes[0] * 1.2, sizes
    return Outcome(NO_EFFECT, "", {"starts": len(sizes), "handles": handles[-1], "memory_mb": round(sizes[-1])})
