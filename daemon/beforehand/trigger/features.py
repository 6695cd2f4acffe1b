"""What a candidate looks like from the step that is coming: one definition for serving, replay and training.

Every feature is computed from what was known at the moment of the decision, all candidates of a step in one matrix.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from beforehand.memory.shelf import Column
from beforehand.trigger import likeness, places, slotted, spoken
from beforehand.trigger.candidates import Candidates
from beforehand.trigger.moment import Moment


@dataclass(frozen=True, slots=True)
class Feature:
    """One column: its meaning, its range, and the direction in which it honestly points (+1, -1, 0: either)."""

    name: str
    meaning: str
    low: float = 0.0
    high: float = 1.0
    direction: int = 0


FEATURES: Final = (
    # trigger.likeness: what the step says of itself, against the passage
    Feature("need_near", "nearness of the leaf's key, with the object around it, to a need (index.keys)", direction=1),
    Feature("plural", "that need asks for several"),
    Feature("need_key", "words of the leaf's key against those of a need (Jaccard)", direction=1),
    Feature("need_in_key", "share of a need's words that the key has", direction=1),
    Feature("key_in_need", "share of the key's words that a need has"),
    Feature("need_in_source", "share of a need's words in the key and the name of the tool that said it", direction=1),
    Feature("need_words", "share of a need's words in the passage", direction=1),
    Feature("needs_met", "share of all needs of which the passage has a word", direction=1),
    Feature("goal_words", "share of the announcement's words in the passage, rare ones counting more", direction=1),
    Feature("kinds_fit", "share of the needs of which the passage has the kind of value (date, number, name, ...)"),
    Feature("kinds", "how many kinds of value stand in the passage, over nine"),
    Feature("exact", "nearness in the exact channel", direction=1),
    Feature("lexical", "nearness in the hybrid or lexical channel", direction=1),
    Feature("facts", "nearness among standing facts and sentences"),
    # trigger.slotted: what earlier calls were filled with
    Feature("slot_key", "share of this slot's fillings that came from a leaf of this key", direction=1),
    Feature("slot_key_any", "the same over all tools with an argument of this name", direction=1),
    Feature("slot_tool", "share of this slot's fillings that came from a result of this tool", direction=1),
    Feature("slot_form", "share of the slot's fillings with this outline (digits and letters)", direction=1),
    Feature("slot_value", "the value filled the slot in this run; halves every ten events since"),
    Feature("slot_value_any", "the same for an argument of this name of any tool"),
    Feature("slot_newest", "the value is the slot's newest in this run"),
    Feature("slot_spoken", "share of the slot's fillings that no leaf had, where a user speaks", direction=1),
    Feature("slots_known", "share of the needs whose slot was filled before"),
    # trigger.places: where the passage stands
    Feature("recent", "halves every ten events of the run"),
    Feature("age", "events of the run since, log(1 + n) / 8"),
    Feature("same_run", "from this run", direction=1),
    Feature("same_space", "same label as the step; one half where either has none", direction=1),
    Feature("newest_user", "from the newest message of a user"),
    Feature("newest_result", "from the newest result of a tool"),
    Feature("same_tool", "from the tool of the step"),
    Feature("kin", "share of the running stretch's words that its stretch has, rare ones counting more"),
    Feature("kin_best", "the same over the best of all candidates"),
    Feature("newest_of_key", "no later leaf of the run has this key"),
    Feature("rivals", "1 over one more than the candidates of the same key from later events"),
    Feature("siblings", "1 over one more than the candidates of the same key from the same event"),
    Feature("unused_before", "1 over one more than the unused values of the same key before it in the event"),
    Feature("needs", "1 over one more than the needs of the step"),
    Feature("leaf", "a value with a key"),
    Feature("identifier", "made like an identifier"),
    Feature("depth", "1 at the top of its record, less below"),
    Feature("early", "1 at the start of its event, less after"),
    Feature("length", "characters of the passage, over 400"),
    Feature("first", "1 in the first element of a list, less in later ones"),
    Feature("key_words", "words of the key, over four"),
    Feature("from_user", "the user vouches for it"),
    Feature("from_agent", "said by the agent"),
    Feature("from_args", "an argument of an earlier call"),
    Feature("failed", "of an event that failed"),
    Feature("alone", "1 over the passages of its event"),
    # trigger.spoken: what was said of its words since
    Feature("value_said", "share of the value's words that users said in this run", direction=1),
    Feature("value_told", "share of the value's words that users or the agent said; halves every six events since"),
    Feature("value_in_args", "share of the value's words that stood in arguments; halves every six events since"),
    Feature("record_said", "words of its record that users said, rare ones counting more, saturating", direction=1),
    Feature("record_told", "words of its record that users or the agent said lately, the same way", direction=1),
    Feature("record_best", "record_told over that of the best record of the same event", direction=1),
    Feature("record_used", "words of its record that stood in arguments, the same way"),
    Feature("words_newest", "share of the passage's words that the newest user message has"),
    Feature("seen", "events of the run with this value, log(1 + n) / 5"),
    Feature("used", "calls of the run with this value, log(1 + n) / 5"),
    Feature("used_lately", "halves every ten events since its newest call; 0 when it was never used"),
    Feature("unused_identifier", "made like an identifier and in no call yet"),
)
NAMES: Final = tuple(feature.name for feature in FEATURES)
DEFINITION: Final = hashlib.blake2b(
    "\n".join(f"{f.name} {f.meaning} {f.low} {f.high} {f.direction}" for f in FEATURES).encode(), digest_size=8
).hexdigest()
"""Changes with any name, meaning, range or direction: a model knows for which definition it was trained."""


def matrix(candidates: Candidates, moment: Moment) -> NDArray[np.float32]:
    """Shape (len(candidates), len(FEATURES)), float32, columns in the order of FEATURES."""
    if not len(candidates):
        return np.zeros((0, len(FEATURES)), np.float32)
    sight, said = candidates.sight, moment.said
    uses = said.uses.rows[said.values(sight.column(Column.VALUE))]
    blocks = (
        likeness.block(candidates, moment),
        slotted.block(sight, moment),
        places.block(sight, moment, uses),
        spoken.block(sight, moment, uses),
    )
    return np.concatenate(blocks, axis=1, dtype=np.float32)
