"""E2: a subject is erased; database, log, caches, retained messages and every arm are searched for it afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys

from beforehand.backends.mqtt.retained import Retained
from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
from brokers import free_port
from processes import up

WITHIN_S = 60.0
DEADLINE = {"deadline_ms": WITHIN_S * 1000}
CANARY = "Quillfeather"
PHONE = "138-2000-4711"
ARMS = ("auto", "exact", "semantic", "timeline", "tree", "facts", "workflow", "summary", "reflection")


def forget(daemon, port, *flags, whom="shop/clerk"):
    command = [sys.executable, "-m", "beforehand", "forget", whom, "--yes", "--json", *flags]
    command += ["--journal", str(daemon.journal), "--state", str(daemon.folder / "state")]
    environment = {**os.environ, "BEFOREHAND_BROKER__EMBEDDED_PORT": str(port)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def everywhere(folder, words=CANARY):
    """Files that have these words."""
    return [str(file) for file in folder.rglob("*") if file.is_file() and words.encode() in file.read_bytes()]


def test_e2_nothing_is_left_of_a_subject_on_disk_in_the_broker_or_in_any_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("BEFOREHAND_POLICY__GAP_WAIT_S", "1")
    port = free_port()
    broker = BrokerSettings(host="127.0.0.1", port=port)
    with up(tmp_path, embedded="auto", embedded_port=port) as daemon:
        with PlainAgent(tenant="shop", agent="clerk", broker=broker) as agent:
            run = agent.run("r1")
            phone = {"subject": "customer-42", "attribute": "phone", "value": PHONE}
            mine = {"kind": "message", "role": "user", "subject_ids": ["customer-42"]}
            run.event(**mine, text=f"I am {CANARY}, reach me", facts=[phone])
            run.event(kind="observation", role="tool", tool="find", data={"customer": "customer-42", "name": CANARY})
            run.event(kind="message", role="user", text="Order W77 goes to the depot.")
            step = {"id": "s1", "tool": "call", "goal": f"call {CANARY}, customer-42", "needs": ["phone", "name"]}
            run.plan("call back", [step])
            told = run.before_step("s1", **DEADLINE)
            assert CANARY in told.text
            assert PHONE in told.text
            run.event(**mine | {"kind": "observation", "role": "tool"}, tool="call", ok=False, text=f"{CANARY} is away")
            run.feedback(outcome="failure")
            assert agent.confirmed(WITHIN_S)
            assert CANARY in run.recall("", mode="reflection", **DEADLINE).items[0].text
        code, said = forget(daemon, port, "--subject", "customer-42")
        assert code == 1
        assert "Stop that daemon" in said
        daemon.kill(signal.SIGTERM)
        assert everywhere(tmp_path)

        code, report = forget(daemon, port, "--subject", "customer-42")
        assert (code, report["left"], report["verified"]) == (0, {}, True)
        assert report["messages"] == 4
        assert report["packets"] >= 1
        assert report["retained_cleared"] == 1
        assert everywhere(tmp_path) == []

        daemon.start()
        assert asyncio.run(Retained(broker).packets("shop", "clerk")) == {}
        with PlainAgent(tenant="shop", agent="clerk", broker=broker) as agent:
            run = agent.run("r1")
            for mode in ARMS:
                reply = run.recall(f"the phone of {CANARY}, customer-42, {PHONE}", mode=mode, **DEADLINE)
                assert not any(CANARY in item.text or PHONE in item.text for item in reply.items)
            assert "W77" in run.recall("where does order W77 go?", **DEADLINE).items[0].text
            run.plan("deliver", [{"id": "s2", "tool": "deliver", "goal": "deliver order W77", "needs": ["order"]}])
            assert "W77" in run.before_step("s2", **DEADLINE).text
        daemon.kill(signal.SIGTERM)
        code, report = forget(daemon, port, "--all", whom="shop")
        assert (code, report["left"], report["verified"], report["retained_cleared"]) == (0, {}, True, 1)
        assert everywhere(tmp_path, "W77") == []
