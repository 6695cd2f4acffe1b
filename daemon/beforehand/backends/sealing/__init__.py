"""Sealing what is kept on disk, each piece with a key of its own that can be destroyed."""

from beforehand.backends.sealing.seal import UNSEALED, Seal

__all__ = ["UNSEALED", "Seal"]
