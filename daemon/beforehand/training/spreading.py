"""Trees fitted on a Dask cluster, for more rows than one machine holds. Needs the extra `dask`."""

from __future__ import annotations

import dask.array as da
import numpy as np
import xgboost
from distributed import Client
from xgboost import dask as xgboost_dask

from beforehand.errors import NotFound
from beforehand.training.collecting import Rows
from beforehand.training.fitting import Floats, Recipe, parameters

_PART_ROWS = 100_000
ANSWER_S = 10.0
"""How long the cluster may take to answer."""


def look_for(address: str) -> None:
    """Raises NotFound when no cluster answers: better before the candidates are collected than after."""
    _client(address).close()


def fit_trees_on(address: str, rows: Rows, recipe: Recipe, weights: Floats | None = None) -> xgboost.Booster:
    """As `fitting.fit_trees`, on the workers of the cluster at `address` (`tcp://host:8786`).

    The rows are handed out in parts of 100,000; each worker keeps its own, and they add up their histograms. Which
    rows a tree leaves out is drawn by each worker, so the trees differ from those of one machine, and repeat exactly
    only on the same number of workers. Raises NotFound when no cluster answers.
    """
    with _client(address) as client:
        part = (_PART_ROWS, rows.features.shape[1])
        data = xgboost_dask.DaskDMatrix(
            client,
            da.from_array(rows.features, chunks=part),
            da.from_array((rows.labels > 0).astype(np.float32), chunks=_PART_ROWS),
            weight=None if weights is None else da.from_array(weights, chunks=_PART_ROWS),
        )
        fitted = xgboost_dask.train(client, parameters(recipe), data, num_boost_round=recipe.trees)
        booster: xgboost.Booster = fitted["booster"]
        booster.set_param({"nthread": 1})
        return booster


def _client(address: str) -> Client:
    try:
        return Client(address, timeout=ANSWER_S)
    except OSError:
        raise NotFound(f"no Dask cluster answers at {address}.", "Give its scheduler, as tcp://host:8786.") from None
