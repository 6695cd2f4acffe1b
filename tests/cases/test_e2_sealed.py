"""E2 with keys: a subject is erased, a backup from before is restored, and still nobody can read of the subject."""

from __future__ import annotations

import json
import signal

import structlog
from typer.testing import CliRunner

from beforehand.cli.main import app
from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
from brokers import free_port
from processes import up
from sealed import key_file

WITHIN_S = 60.0
DEADLINE = {"deadline_ms": WITHIN_S * 1000}
CANARY = "Quillfeather"
OTHER = "Order W77 goes to the depot."


def test_a_restored_backup_says_nothing_of_an_erased_subject_and_the_daemon_names_what_it_cannot_read(tmp_path):
    port = free_port()
    broker = BrokerSettings(host="127.0.0.1", port=port)
    keys = {"BEFOREHAND_JOURNAL__KEY_FILE": str(key_file(tmp_path))}
    environment = {**keys, "BEFOREHAND_BROKER__EMBEDDED_PORT": str(port)}

    def beforehand(*words):
        words = [*map(str, words), "--journal", str(tmp_path / "journal.sqlite3")]
        done = CliRunner().invoke(app, words, env=environment)
        structlog.reset_defaults()
        assert done.exit_code == 0, done.output
        return done.stdout

    with up(tmp_path, embedded="auto", embedded_port=port, environment=keys) as daemon:
        with PlainAgent(tenant="shop", agent="clerk", broker=broker) as agent:
            run = agent.run("r1")
            run.event(kind="message", role="user", text=f"I am {CANARY}", subject_ids=["customer-42"])
            for number in range(120):
                run.event(kind="message", role="user", text=f"{OTHER} {number}")
            assert agent.confirmed(WITHIN_S)
        assert "the keys to it are in" in beforehand("backup", tmp_path / "copy")
        daemon.kill(signal.SIGTERM)

        kept = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != "daemon.log"]
        assert any(file.suffix == ".segment" for file in kept)
        for piece in (CANARY, OTHER, "depot"):
            assert [file.name for file in kept if piece.encode() in file.read_bytes()] == []

        report = json.loads(
            beforehand(
                "forget", "shop/clerk", "--subject", "customer-42", "--yes", "--json", "--state", tmp_path / "state"
            )
        )
        assert (report["messages"], report["verified"]) == (1, True)
        assert report["keys"] >= 3  # of the message, its vector and the agent's segments
        assert "not readable in it: 1 messages" in beforehand("restore", tmp_path / "copy")

        began = daemon.log.stat().st_size
        daemon.start()
        with PlainAgent(tenant="shop", agent="clerk", broker=broker) as agent:
            run = agent.run("r1")
            for mode in ("auto", "exact", "semantic", "timeline"):
                items = run.recall(f"who is {CANARY}, customer-42?", mode=mode, **DEADLINE).items
                assert not any(CANARY in item.text for item in items)
            assert "W77" in run.recall("where does order W77 go?", **DEADLINE).items[0].text
        [named] = [line for line in daemon.lines(began) if "cannot be read" in line["event"]]
        assert (named["agent"], named["messages"], named["first"]) == ("clerk", 1, 1)
