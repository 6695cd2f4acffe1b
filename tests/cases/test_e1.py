"""E1: after an erasure, more events and a restart each search finds the right events, and nothing that was erased."""

from __future__ import annotations

import signal

import pytest
import structlog
from typer.testing import CliRunner

from beforehand.cli.main import app
from beforehand.client import PlainAgent
from beforehand.settings import BrokerSettings
from brokers import free_port
from processes import up

WITHIN_S = 60.0
SAID = {
    "a": "The Paris office takes parcel PX-1001 on Monday.",
    "b": "Mister Quillfeather of Vienna waits for parcel VX-2002.",
    "c": "A courier brings parcel RX-3003 to the Rome depot.",
    "d": "Oslo has sent parcel OX-4004 back by ship.",
}
SOUGHT = {"a": "PX-1001", "b": "VX-2002", "c": "RX-3003", "d": "OX-4004"}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
def test_e1_what_was_erased_is_nowhere_and_what_came_before_and_after_is_found_under_its_own_id(tmp_path, how):
    port = free_port()
    broker = BrokerSettings(host="127.0.0.1", port=port)

    def say(*names):
        with PlainAgent(tenant="shop", agent="clerk", broker=broker) as agent:
            run = agent.run("r1")
            for name in names:
                run.event(id=name, kind="message", role="user", text=SAID[name], subject_ids=[f"customer-{name}"])
            assert agent.confirmed(WITHIN_S)

    with up(tmp_path, embedded="auto", embedded_port=port) as daemon:
        say("a", "b", "c")
        daemon.kill(signal.SIGTERM)
        where = ["--journal", tmp_path / "journal.sqlite3", "--state", tmp_path / "state"]
        words = ["forget", "shop/clerk", "--subject", "customer-b", "--yes", *where]
        done = CliRunner().invoke(app, [*map(str, words)], env={"BEFOREHAND_BROKER__EMBEDDED_PORT": str(port)})
        structlog.reset_defaults()
        assert done.exit_code == 0, done.output
        daemon.start()
        say("d")
        daemon.kill(how)

        daemon.start()
        with PlainAgent(tenant="shop", agent="clerk", broker=broker) as agent:
            run = agent.run("r1")
            for name, sought in SOUGHT.items():
                for mode in ("auto", "exact", "semantic", "timeline"):
                    found = run.recall(f"parcel {sought}", mode=mode, deadline_ms=WITHIN_S * 1000).items
                    said = {event: item.text for item in found for event in item.event_ids}
                    assert all(text in SAID[event] for event, text in said.items()), said
                    assert "b" not in said
                    assert mode == "timeline" or name == "b" or sought in said[name], (mode, said)
