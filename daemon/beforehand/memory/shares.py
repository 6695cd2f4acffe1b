"""How sure a share is that was counted on few cases."""

from __future__ import annotations

from math import sqrt
from typing import Final

Z_95: Final = 1.96
"""Both sides together leave out one case in twenty."""
Z_ONE_IN_TEN: Final = 1.2816
"""The lower end is undercut in one case in ten."""


def interval(part: int, whole: int, z: float = Z_95) -> tuple[float, float]:
    """The score interval of a share, 0..1 (Wilson 1927); (0, 1) when nothing was counted."""
    if whole <= 0:
        return 0.0, 1.0
    share, spread = part / whole, z * z / whole
    middle = share + spread / 2
    width = z * sqrt(share * (1 - share) / whole + spread / (4 * whole))
    return max(0.0, (middle - width) / (1 + spread)), min(1.0, (middle + width) / (1 + spread))


def at_least(part: int, whole: int) -> float:
    """A share that is undercut in one case in ten: 3 of 3 is 0.65, 8 of 8 is 0.83."""
    return interval(part, whole, Z_ONE_IN_TEN)[0]
