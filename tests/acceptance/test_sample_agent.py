"""examples/sample_agent.py as a process: with a daemon it has the right values, without one it goes on and says why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import brokers
from processes import up

AGENT = Path(__file__).parents[2] / "examples" / "sample_agent.py"
HEARING = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""What a shell starts behind it ignores Ctrl-C, and so do the children of that: this one does not."""


def played(*flags, **environment):
    command = [sys.executable, AGENT, *flags]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_with_a_daemon_each_step_has_the_values_that_its_tool_needs(tmp_path, monkeypatch):
    monkeypatch.setenv("BEFOREHAND_POLICY__GAP_WAIT_S", "1")
    port = brokers.free_port()
    with up(tmp_path, embedded="auto", embedded_port=port) as daemon:
        said = played("--deadline-ms", "20000", BEFOREHAND_BROKER__PORT=str(port))
        assert "calls search_flights(city=Lisbon, date=2026-05-04, budget=300 EUR)" in said
        assert "calls reserve_seat(flight=TP551, seat=aisle)" in said
        assert "calls pay(booking=B-20417, card=card_9981)" in said
        assert said.count("because rule core/") >= 3
        assert "The daemon has confirmed all that it was told." in said
        assert len(daemon.rows()) == 9
        assert len(daemon.rows("feedback")) >= 2


def test_without_a_broker_it_goes_on_and_says_why():
    said = played("--host", "127.0.0.1", "--port", str(brokers.free_port()), "--deadline-ms", "50")
    assert said.count("no final packet: no") == 3
    assert "calls pay()" in said
    assert "The daemon has not confirmed 17 messages: no broker answers" in said


def test_ctrl_c_ends_it_without_a_traceback():
    flags = ["--host", "127.0.0.1", "--port", str(brokers.free_port()), "--deadline-ms", "50", "--every-s", "60"]
    command = [sys.executable, "-u", "-c", HEARING, AGENT, *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        assert any("calls pay()" in line for line in agent.stdout)
        agent.send_signal(signal.SIGINT)
        _, told = agent.communicate(timeout=60)
    assert "Traceback" not in told
