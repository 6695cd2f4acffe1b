"""The client library against what brokers do: restart, refuse, hang up, ask for passwords."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import signal
import sqlite3

import pytest

import brokers
from beforehand import limits
from beforehand.client import PlainAgent, connect
from beforehand.errors import BusError
from beforehand.messages import topics
from beforehand.settings import BrokerSettings
from daemons import daemon_here

WITHIN_S = 60.0


def stored(folder, channel="event"):
    """Keys in the journal, in its order."""
    store = sqlite3.connect(f"file:{folder / 'journal.sqlite3'}?mode=ro", uri=True)
    try:
        return [
            key for (key,) in store.execute("SELECT key FROM messages WHERE channel = ? ORDER BY position", (channel,))
        ]
    finally:
        store.close()


@pytest.mark.parametrize("kind", ["mosquitto", "iotcore"])
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_r5_a_broker_that_restarts_in_the_middle_loses_nothing_and_the_gap_is_counted(tmp_path, kind, how):
    async def play(broker):
        reached = {"host": "127.0.0.1", "port": broker.port}
        async with (
            asyncio.timeout(WITHIN_S),
            daemon_here(tmp_path, reached) as measures,
            connect(tenant="shop", agent="anna", broker=BrokerSettings(**reached)) as agent,
        ):
            await agent.connected()
            run = agent.run("r1")
            for number in range(1, 601):
                assert run.event("note", f"note {number}")
                if number == 300:
                    await asyncio.to_thread(broker.stop, how)
                    await asyncio.sleep(0.2)
                    await asyncio.to_thread(broker.start)
                if number % 50 == 0:
                    await asyncio.sleep(0.02)
            await agent.confirmed()
            told = await run.before_step("s1", deadline_ms=WITHIN_S * 1000, goal="go on")
            assert told.packet.watermark.position == 601
            for lane in ("ingest", "control"):
                assert measures.value("beforehand_reconnections_total", lane=lane) >= 1
                assert measures.value("beforehand_disconnected_seconds_total", lane=lane) > 0
        return run._process.name

    with brokers.running(kind, tmp_path) as broker:
        epoch = asyncio.run(play(broker))
    assert sorted(stored(tmp_path)) == sorted(f"{epoch}:{seq}" for seq in range(1, 601))


def test_what_a_broker_acknowledged_and_lost_is_asked_for_and_counted(tmp_path, monkeypatch):
    """Nobody subscribes yet, so the broker takes the first messages, acknowledges them and throws them away."""
    monkeypatch.setattr(limits, "ASK_FIRST_S", 0.2)

    async def play(broker):
        reached = {"host": "127.0.0.1", "port": broker.port}
        async with (
            asyncio.timeout(WITHIN_S),
            connect(tenant="shop", agent="anna", broker=BrokerSettings(**reached)) as agent,
        ):
            await agent.connected()
            run = agent.run("r1")
            for number in range(1, 21):
                run.event("note", f"note {number}")
            await brokers.until(lambda: run._process.link._sending._sent_to == 20)
            assert agent.unconfirmed == 20
            async with daemon_here(tmp_path, reached) as measures:
                await agent.confirmed()
                assert measures.value("beforehand_gaps_total") >= 1
        return run._process.name

    with brokers.running("mosquitto", tmp_path) as broker:
        epoch = asyncio.run(play(broker))
    assert sorted(stored(tmp_path)) == sorted(f"{epoch}:{seq}" for seq in range(1, 21))


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
def test_a_message_larger_than_the_broker_takes_is_told_of_and_the_others_go_on(tmp_path, protocol, monkeypatch):
    """On MQTT 5 the broker names its limit; on 3.1.1 it hangs up, again and again."""
    monkeypatch.setattr(limits, "RECONNECT_LAST_S", 0.1)
    refused = []

    async def play(broker):
        reached = {"host": "127.0.0.1", "port": broker.port, "protocol": protocol}
        async with (
            asyncio.timeout(WITHIN_S),
            daemon_here(tmp_path, reached),
            connect(tenant="shop", agent="anna", broker=BrokerSettings(**reached), on_refused=refused.append) as agent,
        ):
            run = agent.run("r1")
            run.event("note", "before")
            run.event("note", "x" * 100_000, id="large")
            run.event("note", "after")
            await agent.confirmed()
            run.event("note", "in the end")
            await agent.confirmed()

    with brokers.running("mosquitto", tmp_path, extra="max_packet_size 50000\n") as broker:
        asyncio.run(play(broker))
    [receipt] = refused
    assert (receipt.id, receipt.seq, receipt.error) == ("large", 2, "broker")
    assert "limit" in receipt.hint
    assert len(stored(tmp_path)) == 3


def test_a_broker_that_refuses_the_password_is_told_of_and_ends_nobody(tmp_path, caplog):
    with (
        brokers.running("mosquitto", tmp_path, extra="allow_anonymous false\n") as broker,
        PlainAgent(
            tenant="shop", agent="anna", broker=BrokerSettings(host="127.0.0.1", port=broker.port, username="anna")
        ) as agent,
    ):
        with (
            caplog.at_level(logging.ERROR),
            pytest.raises(BusError, match="refuses the connection"),
        ):
            agent.connected(WITHIN_S)
        run = agent.run("r1")
        assert run.event("note", "kept until somebody mends it")
        told = run.before_step("s1", deadline_ms=20)
        assert "refuses the connection" in told.reason
        assert agent.unconfirmed == 2


@pytest.mark.parametrize("protocol", ["5", "3.1.1"])
@pytest.mark.parametrize("by", ["port", "socket"])
def test_user_password_socket_protocol_and_shards_pass_through(tmp_path, protocol, by):
    async def play(broker):
        place = {"socket": tmp_path / "socket"} if by == "socket" else {"host": "127.0.0.1", "port": broker.port}
        known = {"username": "anna", "password": "secret", "protocol": protocol, **place}
        root = topics.sharded_root("shop", "anna", 16)
        async with (
            asyncio.timeout(WITHIN_S),
            daemon_here(tmp_path, {**known, "root": root}),
            connect(tenant="shop", agent="anna", broker=BrokerSettings.model_validate(known), shards=16) as agent,
        ):
            run = agent.run("r/1 #")
            run.event("note", "hello")
            assert (await run.before_step("s/1", deadline_ms=WITHIN_S * 1000, goal="go")).is_final
            await agent.confirmed()

    (tmp_path / "passwords").write_text(f"anna:{_hashed('secret')}\n")
    (tmp_path / "passwords").chmod(0o600)
    extra = f"per_listener_settings false\nlistener 0 {tmp_path}/socket\npassword_file {tmp_path}/passwords\n"
    with brokers.running("mosquitto", tmp_path, extra=f"{extra}allow_anonymous false\n") as broker:
        asyncio.run(play(broker))


def _hashed(password: str) -> str:
    """As mosquitto_passwd(1) writes it: PBKDF2 with SHA-512."""
    salt = b"a salt of 12"
    key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, 101)
    return "$".join(("", "7", "101", base64.b64encode(salt).decode(), base64.b64encode(key).decode()))
