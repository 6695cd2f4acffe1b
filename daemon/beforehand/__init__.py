"""Beforehand: hands each agent, before every step, the few things it must not forget in that step."""

from importlib.metadata import version

__version__ = version("beforehand")
