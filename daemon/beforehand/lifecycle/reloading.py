"""Another trigger model while the daemon runs: noticed, read beside the loop, and put in between two decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from beforehand.errors import BeforehandError
from beforehand.pipeline.shadow import Models
from beforehand.ports import Measures, Model

_log = structlog.get_logger()
Stamp = tuple[int, int] | None


@dataclass(slots=True)
class Reloading:
    """Looks every `every_s` whether `stamp` changed; then `read`s the models in a thread and `use`s them on the loop.

    A decision runs on the loop from beginning to end, so none sees two models and no packet waits for a file. What is
    refused changes nothing: the model in use goes on deciding. seen: the stamp of the models that are in use.
    """

    stamp: Callable[[], Stamp]
    read: Callable[[], Models]
    use: Callable[[Models], None]
    measures: Measures
    every_s: float
    seen: Stamp

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(self.every_s)
            await self.look()

    async def look(self) -> bool:
        """One look. Whether other models are in use now."""
        try:
            found = self.stamp()
            if found == self.seen:
                return False
            self.seen = found
            models = await asyncio.to_thread(self.read)
        except (BeforehandError, OSError) as error:
            return self._kept(str(error))
        if models.missing:
            return self._kept("it is refused, see the warning before")
        self.use(models)
        _log.info("other trigger models", live=_named(models.live), shadow=_named(models.shadow))
        return True

    def _kept(self, reason: str) -> bool:
        self.measures.count("beforehand_failures_total", part="model")
        _log.error("the promoted trigger model is not used; the one before goes on", reason=reason)
        return False


def _named(model: Model | None) -> str:
    return "none" if model is None else f"{model.card.name} {model.card.version}"
