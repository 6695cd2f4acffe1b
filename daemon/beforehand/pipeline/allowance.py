"""How much a language model may be asked: tokens in one hour of the clock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_HOUR_US: Final = 3_600_000_000


@dataclass(slots=True)
class Allowance:
    """tokens_per_hour: of requests and answers. What is under way counts as all that it may take, until it is known."""

    tokens_per_hour: int
    _hour: int = -1
    _spent: int = 0

    def wait_s(self, tokens: int, now_us: int) -> float:
        """0 when so many tokens may be spent now, which takes them; else seconds until the next hour begins.

        What is more than an hour allows is taken as a whole hour's.
        """
        hour = now_us // _HOUR_US
        if hour != self._hour:
            self._hour, self._spent = hour, 0
        if self._spent + min(tokens, self.tokens_per_hour) > self.tokens_per_hour:
            return ((hour + 1) * _HOUR_US - now_us) / 1e6
        self._spent += tokens
        return 0.0

    def correct(self, taken: int, spent: int, at_us: int) -> None:
        """So many tokens were spent where others were taken at `at_us`; an hour that is over is of no interest."""
        hour = at_us // _HOUR_US
        if hour > self._hour:
            self._hour, self._spent = hour, 0
        if hour == self._hour:
            self._spent += spent - taken
