"""Sample ratio: whether the arms have the sizes that their shares say. Where they do not, no number can be believed."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from beforehand.experiment.moments import Numbers

ALARM: Final = 0.001
"""Below this p-value the sizes are no accident."""
_CONCENTRATION: Final = 100.0
"""How near the right shares the mixture looks for wrong ones: a standard deviation of 5 points from one half."""


def p_chi_square(counts: NDArray[np.int64], shares: Numbers) -> float:
    """Pearson's chi-square test of the sizes, for one look."""
    expected = shares * counts.sum()
    return float(stats.chisquare(counts, expected).pvalue)


def p_always(counts: Numbers, shares: Numbers) -> Numbers:
    """Always-valid p-value of the sizes, shape (...); counts: (..., arms).

    One over the Bayes factor of a Dirichlet mixture against the right shares: a martingale, so that many looks raise no
    false alarms (Lindon, Malek, arXiv 2011.03567).
    """
    prior = _CONCENTRATION * shares
    log_factor = (
        special.gammaln(_CONCENTRATION)
        - special.gammaln(_CONCENTRATION + counts.sum(axis=-1))
        + (special.gammaln(prior + counts) - special.gammaln(prior) - counts * np.log(shares)).sum(axis=-1)
    )
    p: Numbers = np.exp(np.minimum(-log_factor, 0.0))
    return p
