"""Experiments that are started and stopped while the daemon runs: noticed, checked beside the loop, then served."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import structlog

from beforehand import limits
from beforehand.backends.experiment_files import Register, policy_with
from beforehand.errors import BeforehandError, ExperimentError
from beforehand.experiment.definition import Started
from beforehand.messages.values import micros
from beforehand.pipeline.arms import Arms, Decider
from beforehand.pipeline.shadow import Models
from beforehand.ports import Clock, Measures, Model
from beforehand.settings import NO_MODEL, PolicySettings
from beforehand.trigger.packs import Pack

_log = structlog.get_logger()


@dataclass(slots=True)
class Enrolling:
    """Looks every limits.EXPERIMENT_LOOK_S whether the register changed.

    All arms of an experiment are built before any is served: one whose arm lacks its model or packs is left out whole.
    """

    register: Register
    arms: Arms
    clock: Clock
    measures: Measures
    _seen: tuple[int, int] | None = field(default=None)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(limits.EXPERIMENT_LOOK_S)
            await self.look()

    async def look(self) -> bool:
        """One look. Whether other experiments are served now."""
        try:
            stamp = self.register.stamp()
            if stamp == self._seen:
                return False
            self._seen = stamp
            started = await asyncio.to_thread(self._read)
        except (BeforehandError, OSError) as error:
            self._count("experiments stay as they are: the register cannot be used", error)
            return False
        self.arms.serve(started)
        _log.info("experiments", running=[one.experiment.name for one in started if one.stopped_at is None])
        return True

    def _read(self) -> list[Started]:
        """Those that run, and those whose last runs may not be over; of these all whose arms can be built."""
        latest_us = self.clock.now_us() - limits.EXPERIMENT_OUTLIVES_S * 1_000_000
        return [
            one
            for one in self.register.read()
            if (one.stopped_at is None or micros(one.stopped_at) > latest_us) and self._usable(one)
        ]

    def _usable(self, one: Started) -> bool:
        try:
            self.arms.check(one)
        except (BeforehandError, OSError) as error:
            self._count(f"experiment {one.experiment.name!r} is not served", error)
            return False
        return True

    def _count(self, event: str, error: Exception) -> None:
        self.measures.count("beforehand_failures_total", part="experiments")
        _log.error(event, reason=str(error))


def arm_builder(
    own: PolicySettings,
    packs_of: Callable[[Sequence[str]], Sequence[Pack]],
    model_of: Callable[[str], Model | None],
    make: Callable[[PolicySettings, str, Sequence[Pack] | None, Models | None], Decider],
) -> Callable[[Mapping[str, Any], str], Decider]:
    """What `Arms` builds deciders with. Raises ExperimentError for settings that cannot be used, NotFound, RuleError.

    What comes from files is read once: first when an experiment is checked, before any run waits for it.
    """
    packs_once, model_once = cache(lambda *names: packs_of(names)), cache(model_of)

    def build(changed: Mapping[str, Any], name: str) -> Decider:
        policy = policy_with(own, dict(changed))
        packs = packs_once(*policy.packs) if "packs" in changed else None
        models = Models(model_once(policy.model)) if "model" in changed else None
        if models is not None and models.live is None and policy.model != NO_MODEL:
            raise ExperimentError(f"arm {name}: the trigger model {policy.model!r} is refused.", "The log says why.")
        return make(policy, name, packs, models)

    return build
