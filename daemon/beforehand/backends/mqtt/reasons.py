"""What a broker's refusals mean for whoever runs the daemon (reason codes: MQTT 5.0, section 2.4)."""

from __future__ import annotations

from beforehand.errors import BusError, BusUnavailable, MessageTooLarge, PublishRefused

FAILURE = 0x80
TAKEN_OVER = 0x8E
NOT_AUTHORISED = 0x87
PACKET_TOO_LARGE = 0x95

_FOR_GOOD = {
    0x84: 'Set broker.protocol = "3.1.1", or use a broker that speaks MQTT 5.',
    0x85: "Choose another broker.name: the client ids are made from it.",
    0x86: "Correct broker.username and broker.password.",
    NOT_AUTHORISED: "Allow this user and client id in the broker's access rules.",
    0x8A: "Ask whoever runs the broker to lift the ban on this client.",
    0x8C: "Use a broker that accepts a user name and a password.",
    0x9C: "Set broker.host to the server that the broker's operator names.",
    0x9D: "Set broker.host to the server that the broker's operator names.",
}
_PUBLISH = {
    NOT_AUTHORISED: "Allow this user to write there in the broker's access rules.",
    0x90: "Choose a broker.root that the broker accepts.",
    PACKET_TOO_LARGE: "Raise the broker's limit for the size of messages.",
    0x97: "Raise the broker's quota for this client.",
    0x9A: "Let the broker keep retained messages.",
}


_NAMES = {
    0x80: "unspecified error",
    0x83: "implementation specific error",
    NOT_AUTHORISED: "not authorized",
    0x8F: "topic filter invalid",
    0x90: "topic name invalid",
    0x91: "packet identifier in use",
    PACKET_TOO_LARGE: "packet too large",
    0x97: "quota exceeded",
    0x99: "payload format invalid",
    0x9A: "retain not supported",
    0x9E: "shared subscriptions not supported",
    0xA1: "subscription identifiers not supported",
    0xA2: "wildcard subscriptions not supported",
}


def connect_refused(where: str, code: int, name: str) -> BusError:
    """The error for a failed CONNACK: BusUnavailable when trying again can help, a plain BusError when not."""
    problem = f"the broker at {where} refuses the connection: {name.lower()}."
    if code in _FOR_GOOD:
        return BusError(problem, _FOR_GOOD[code])
    return BusUnavailable(problem, "It is tried again.")


def subscribe_refused(where: str, topic_filter: str, code: int) -> BusError:
    """The error for a failed SUBACK."""
    return BusError(
        f"the broker at {where} refuses the subscription to {topic_filter}: {_name(code)}.",
        "Allow this user to read there in the broker's access rules.",
    )


def publish_refused(topic: str, code: int, detail: str | None = None) -> PublishRefused:
    """The error for a failed PUBACK. detail: what is known beyond the code's name."""
    advice = _PUBLISH.get(code, "The broker's log says more.")
    kind = MessageTooLarge if code == PACKET_TOO_LARGE else PublishRefused
    return kind(f"the broker refuses the publish to {topic}: {detail or _name(code)}.", advice)


def _name(code: int) -> str:
    return _NAMES.get(code, f"reason code {code:#x}")
