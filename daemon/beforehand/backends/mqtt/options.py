"""How to reach a broker."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from beforehand import limits
from beforehand.errors import SettingsError
from beforehand.settings import BrokerSettings

PORT = 1883
TLS_PORT = 8883


@dataclass(frozen=True, slots=True, kw_only=True)
class Will:
    """What the broker publishes (QoS 1) when the connection ends without a farewell."""

    topic: str
    payload: bytes
    retain: bool = True
    delay_s: int = 0
    """MQTT 5: how long the broker waits for the client to come back first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """Everything one connection needs to know."""

    client_id: str
    host: str = "127.0.0.1"
    port: int = PORT
    unix_socket: Path | None = None
    """Instead of host and port."""
    tls: ssl.SSLContext | None = None
    """See `tls_context`."""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    protocol: Literal["5", "3.1.1"] = "5"
    clean_start: bool = True
    """False: the broker keeps subscriptions and unacknowledged messages between connections."""
    session_expiry_s: int = 0
    """MQTT 5: for how long it keeps them. MQTT 3.1.1 brokers decide for themselves."""
    keepalive_s: int = limits.KEEPALIVE_S
    receive_maximum: int = limits.RECEIVE_MAXIMUM
    """MQTT 5: unacknowledged messages that the broker may send ahead."""
    will: Will | None = None
    manual_ack: bool = False
    """True: a message is acknowledged by `Connection.acknowledge` only."""
    timeout_s: float = limits.BROKER_ANSWER_S
    """How long an answer of the broker may take."""
    unread_high: int = limits.ARRIVALS_HIGH
    unread_low: int = limits.ARRIVALS_LOW

    @property
    def where(self) -> str:
        """The broker's address as people write it."""
        return str(self.unix_socket) if self.unix_socket else f"{self.host}:{self.port}"


def tls_context(ca: Path | None = None, cert: Path | None = None, key: Path | None = None) -> ssl.SSLContext:
    """A verifying TLS client context; reads the files, so build it once. Raises SettingsError naming the file."""
    for file in (ca, cert, key):
        if file is not None and not file.is_file():
            raise SettingsError(f"no TLS file {file}.", "Correct broker.tls_ca, broker.tls_cert or broker.tls_key.")
    try:
        context = ssl.create_default_context(cafile=None if ca is None else str(ca))
        if cert is not None:
            context.load_cert_chain(cert, key)
    except ssl.SSLError as error:
        raise SettingsError(
            f"cannot use the TLS files ({ca}, {cert}, {key}): {error}.",
            "Give PEM files, and the key that belongs to the certificate.",
        ) from None
    return context


def from_settings(broker: BrokerSettings, client_id: str) -> ConnectionOptions:
    """The options of a plain connection (no session, no will) to the broker that the settings name."""
    return ConnectionOptions(
        client_id=client_id,
        host=broker.host or "127.0.0.1",
        port=broker.port or (TLS_PORT if broker.tls else PORT),
        unix_socket=broker.socket,
        tls=tls_context(broker.tls_ca, broker.tls_cert, broker.tls_key) if broker.tls else None,
        username=broker.username,
        password=None if broker.password is None else broker.password.get_secret_value(),
        protocol=broker.protocol,
    )
