"""What a journal says each candidate was worth: by the arguments of the step, and by the feedback of its agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from beforehand.context.choice import identified
from beforehand.feedback.evidence import HARM
from beforehand.messages.inbound import Feedback
from beforehand.messages.outbound import ItemKind, Packet
from beforehand.training.collecting import carrying
from beforehand.training.needed import normal, stands_in
from beforehand.trigger.candidates import Candidates

_LEAST_PROPENSITY: Final = 0.05
"""An observation counts at most twenty times for those that were held back (clipped inverse propensity weights)."""


@dataclass(slots=True)
class Judged:
    """What is known of one step after it is over.

    args: those of its calls. packet: its final one, with the feedback on it.
    propensity: the probability with which the packet went out, where some are held back at random, else 1.
    """

    args: list[Mapping[str, Any]] = field(default_factory=list)
    packet: Packet | None = None
    feedback: list[Feedback] = field(default_factory=list)
    propensity: float = 1.0


@dataclass(frozen=True, slots=True)
class Labels:
    """Of n candidates, shape (n,): whether anything is known of each, what it carried, and how much that counts."""

    known: NDArray[np.bool_]
    carried: NDArray[np.int64]
    weights: NDArray[np.float32]


def labels_of(candidates: Candidates, judged: Judged, needed: frozenset[str] | None) -> Labels:
    """What the candidates of a step turned out to be worth.

    needed: what the step's arguments took from the past; None when it made no call. Arguments judge every candidate.
    Feedback judges those that were shown, whatever the arguments say: an agent may use what it does not pass on. Only
    what was shown can be rated, so that a rating counts 1 / propensity (inverse propensity weighting).
    """
    count = len(candidates)
    carried = carrying(candidates, needed or frozenset())
    known = np.full(count, needed is not None)
    weights = np.ones(count, np.float32)
    for feedback in judged.feedback:
        told = "used" in feedback.model_fields_set
        missing = normal(feedback.missing or "")
        shown = {item.id for item in judged.packet.items} if judged.packet is not None else set()
        for index in range(count):
            item = _item_id(candidates, index)
            value = normal(candidates.passage(index).value or "")
            if item in shown and (item in feedback.harmful or item in feedback.used or told):
                used = item in feedback.used and item not in feedback.harmful
                unsure = 1.0 if known[index] else 1.0 / max(judged.propensity, _LEAST_PROPENSITY)
                weights[index] = unsure * (HARM if item in feedback.harmful else 1.0)
                carried[index] = max(int(carried[index]), 1) if used else 0
                known[index] = True
            elif len(value) >= 3 and stands_in(missing, value):
                carried[index], known[index] = max(int(carried[index]), 1), True
    return Labels(known, carried, weights)


def _item_id(candidates: Candidates, index: int) -> str:
    event = candidates.events[index]
    kind: ItemKind = "reflection" if event.kind == "reflection" else "event"
    return identified(kind, candidates.passage(index).text, (event.id,))
