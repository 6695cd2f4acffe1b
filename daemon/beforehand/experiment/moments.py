"""Sums over units, from which every estimate is made: counts, means, and sums of products around the mean.

The last axis of `values` holds up to three columns of a unit: the numerator of the metric, its denominator (ratios
only), the covariate (adjustment only). All leading axes are experiments side by side, so that one call simulates many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Moments:
    """count: units, shape (...); mean: (..., k); scatter: sums of products around the mean, (..., k, k)."""

    count: Numbers
    mean: Numbers
    scatter: Numbers

    def covariance(self) -> Numbers:
        """Sample covariance, shape (..., k, k): scatter over count - 1; not a number below two units."""
        spare = np.where(self.count > 1, self.count - 1, np.nan)
        covariance: Numbers = self.scatter / spare[..., None, None]
        return covariance


def moments(values: Numbers, chosen: NDArray[np.bool_]) -> Moments:
    """Of the units that are chosen. values: shape (..., n, k); chosen: (..., n)."""
    whole = running(values, chosen, [values.shape[-2]])
    return Moments(whole.count[..., 0], whole.mean[..., 0, :], whole.scatter[..., 0, :, :])


def running(values: Numbers, chosen: NDArray[np.bool_], looks: list[int]) -> Moments:
    """Of those among the first `looks[j]` units (ascending, from 1) that are chosen; shape (..., len(looks), ...).

    Sums are taken around the mean over all units, so that large values lose no digits.
    """
    columns = values.shape[-1]
    shift = values.mean(axis=tuple(range(values.ndim - 1)), keepdims=True) if values.size else 0.0
    kept = np.where(chosen[..., None], values - shift, 0.0)
    count = _until(chosen.astype(np.float64), looks)
    total = np.stack([_until(kept[..., i], looks) for i in range(columns)], axis=-1)
    products = np.empty((*total.shape, columns))
    for i in range(columns):
        for j in range(i + 1):
            products[..., i, j] = products[..., j, i] = _until(kept[..., i] * kept[..., j], looks)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count[..., None]
        scatter = products - mean[..., :, None] * total[..., None, :]
    return Moments(count, mean + np.reshape(shift, -1), scatter)


def _until(column: Numbers, looks: list[int]) -> Numbers:
    """Sums of the first so many entries along the last axis."""
    starts = [0, *looks[:-1]]
    blocks: Numbers = np.add.reduceat(column[..., : looks[-1]], starts, axis=-1)
    return blocks.cumsum(axis=-1)
