"""Folded memories in files beside the journal: a cache, so that an agent's first touch is short."""

from beforehand.backends.segments.folder import SegmentFolder

__all__ = ["SegmentFolder"]
