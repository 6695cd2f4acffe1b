"""Settings as the way in which messages are read."""

from __future__ import annotations

from beforehand.index.redaction import word_of
from beforehand.index.withholding import Withheld
from beforehand.memory.fact_sources import FactSources
from beforehand.memory.path_rules import PathRule
from beforehand.memory.reading import Reading
from beforehand.settings import Settings


def reading_of(settings: Settings) -> Reading:
    """What leaves a message, and where facts come from beside its own `facts`."""
    facts, withheld = settings.facts, settings.redaction
    rules = (PathRule(rule.tool, rule.each, rule.subject, tuple(rule.attributes)) for rule in facts.paths)
    return Reading(
        FactSources(tuple(rules), facts.statements),
        Withheld(
            keep=tuple(sorted(map(word_of, withheld.keep))),
            personal=tuple(sorted(withheld.personal)),
            patterns=tuple(pattern.pattern for pattern in withheld.patterns),
        ),
    )
