"""Folded memories in files beside the journal: a cache, so that an agent's first touch is short."""

from beforehand.backends.segments.folder import KeyOf, SegmentFolder, no_key

__all__ = ["KeyOf", "SegmentFolder", "no_key"]
