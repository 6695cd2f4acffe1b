"""The client for agent processes: `connect` for async programs, `PlainAgent` for the others."""

from beforehand.client.agent import Agent, Run, connect
from beforehand.client.plain import PlainAgent, PlainRun
from beforehand.client.told import Told

__all__ = ["Agent", "PlainAgent", "PlainRun", "Run", "Told", "connect"]
