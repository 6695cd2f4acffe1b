"""What the daemon needs from a language model, where there is one."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer, and what it and its request took; tokens are None where nobody counted them."""

    text: str
    tokens: int | None


class LanguageModel(Protocol):
    """Answers in words. May be slow, wrong, or away: nobody who waits for a packet waits for it."""

    @property
    def name(self) -> str:
        """What stands beside its answers in the journal."""
        ...

    @property
    def answer_tokens(self) -> int:
        """The most that an answer takes."""
        ...

    def open(self) -> AbstractAsyncContextManager[None]:
        """What it needs to be asked. Asks nothing yet."""
        ...

    async def complete(self, instructions: str, data: str) -> Completion:
        """One answer. instructions: ours. data: what they are about, apart from them.

        Raises LanguageModelError, and nothing else whatever comes back.
        """
        ...
