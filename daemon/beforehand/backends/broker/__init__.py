"""The broker that the daemon brings along when none is configured."""

from beforehand.backends.broker.embedded import EmbeddedBroker

__all__ = ["EmbeddedBroker"]
