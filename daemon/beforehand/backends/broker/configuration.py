"""The configuration files of the embedded brokers. Both listen on loopback only, and take anyone there."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from beforehand import limits
from beforehand.messages import topics

_AUTOSAVE_S = 5
_SEGMENTS = 16


def mosquitto(port: int, folder: Path, user: str) -> str:
    """mosquitto.conf(5). Its own defaults lose QoS 1 messages past 1,000 in a queue, and wait 40 ms for a TCP ACK.

    Acknowledged messages of the last seconds are lost when the broker itself is killed; the agent's outbox and the
    daemon's receipts are there for that. `max_packet_size` is told to MQTT 5 clients; `message_size_limit` is not, and
    refuses with a reason code that MQTT 5 does not allow there, which breaks connections. `user` counts only when it is
    started by root.
    """
    lines = [
        f"listener {port} 127.0.0.1",
        "allow_anonymous true",
        "set_tcp_nodelay true",
        f"max_queued_messages {limits.BROKER_QUEUED_MESSAGES}",
        f"max_queued_bytes {limits.BROKER_QUEUED_BYTES}",
        f"max_inflight_messages {limits.BROKER_INFLIGHT}",
        f"max_packet_size {limits.BROKER_PACKET_BYTES}",
        "persistence true",
        f"persistence_location {folder}/",
        f"autosave_interval {_AUTOSAVE_S}",
        f"persistent_client_expiration {limits.SESSION_EXPIRY_S // 86_400}d",
        "connection_messages false",
        "log_dest stderr",
        "log_type error",
        "log_type warning",
        f"user {user}",
    ]
    return "\n".join(lines) + "\n"


def iotcore(port: int, protocol: Literal["5", "3.1.1"], root: str) -> str:
    """rumqttd's TOML, for one version of MQTT: a 3.1.1 client that gets a message with properties makes it panic.

    rumqttd keeps the newest messages of each filter in a ring of segments, read or not: a large one for the filters of
    the daemon, where a backlog waits, and a small one for the filter of each agent.
    """
    version = "v5" if protocol == "5" else "v4"
    text = [
        "id = 0",
        "[router]",
        "id = 0",
        "max_connections = 10000",
        "max_outgoing_packet_count = 200",
        f"max_segment_size = {2 * limits.BROKER_PACKET_BYTES}",
        "max_segment_count = 4",
    ]
    for topic_filter in topics.filters(topics.INGEST + topics.CONTROL, root):
        text += [
            f"[router.custom_segment.'{topic_filter}']",
            f"max_segment_size = {limits.BROKER_QUEUED_BYTES // _SEGMENTS}",
            f"max_segment_count = {_SEGMENTS}",
        ]
    text += [
        f"[{version}.1]",
        f'name = "{version}"',
        f'listen = "127.0.0.1:{port}"',
        "next_connection_delay_ms = 1",
        f"[{version}.1.connections]",
        "connection_timeout_ms = 60000",
        f"max_payload_size = {limits.BROKER_PACKET_BYTES}",
        f"max_inflight_count = {limits.BROKER_INFLIGHT}",
        "dynamic_filters = true",
    ]
    return "\n".join(text) + "\n"
