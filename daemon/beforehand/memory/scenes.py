"""A run as one of its scenes sees it: who serves several people in one run labels what belongs to whom (`space`).

To a step with a label only its scene has just happened: what was said to somebody else in between makes no card of its
own any older, and nobody else's card any newer. What has no label belongs to all scenes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from beforehand import limits
from beforehand.memory.remembered import Remembered
from beforehand.memory.said import Said
from beforehand.memory.shelf import Shelf

WHOLE = ""
"""The label of a whole run."""


def apart(one: str | None, other: str | None) -> bool:
    """Whether two labels are of different scenes. What has no label belongs to all."""
    return bool(one and other) and one != other


@dataclass(slots=True)
class Scenes:
    """Tallies of a run and of its scenes, of which the limits.SCENES that were spoken of last are kept."""

    whole: Said = field(default_factory=Said)
    _labelled: dict[str, Said] = field(default_factory=dict)
    """By label, the one spoken of last at the end."""

    def take(
        self, event: Remembered, shelf: Shelf, terms: Sequence[int], events: Sequence[Remembered]
    ) -> dict[str, int]:
        """Fold in one event that is on the shelf; its number in the whole run and in each scene that it belongs to.

        terms: its distinct ones, ascending. events: all of the agent's, by row.
        """
        if event.space:
            self._enter(event.space, shelf, events)
        self.whole.take(event, shelf, terms)
        numbers = {WHOLE: self.whole.count}
        for label in [event.space] if event.space else self._labelled:
            scene = self._labelled[label]
            scene.take(event, shelf, terms)
            numbers[label] = scene.count
        return numbers

    def of(self, label: str | None, shelf: Shelf, events: Sequence[Remembered]) -> tuple[str, Said]:
        """What a step sees of the run: its scene; the whole where it has no label, or the run has no scenes.

        Where nothing bears its label yet, it sees what would be the beginning of its scene.
        """
        if not label or not self._labelled:
            return WHOLE, self.whole
        scene = self._labelled.get(label)
        return label, self._begun(label, shelf, events) if scene is None else scene

    def _enter(self, label: str, shelf: Shelf, events: Sequence[Remembered]) -> None:
        """Make a scene the one spoken of last."""
        scene = self._labelled.pop(label) if label in self._labelled else self._begun(label, shelf, events)
        self._labelled[label] = scene
        if len(self._labelled) > limits.SCENES:
            del self._labelled[next(iter(self._labelled))]

    def _begun(self, label: str, shelf: Shelf, events: Sequence[Remembered]) -> Said:
        """In a scene that begins, the newest of what belongs to it has happened."""
        scene = Said()
        for row in self.whole.newest(limits.RECENT_EVENTS):
            if not apart(events[row].space, label):
                scene.take(events[row], shelf, shelf.terms_of(row))
        return scene
