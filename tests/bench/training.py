"""Training on a million candidates: trees, line, calibration and report (ours), and the trees alone.

The candidates are those of recorded runs, drawn again and again with a little noise. `dask`: the trees on a cluster of
two workers on the same machine, which pays for handing out the rows and has no more processors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from distributed import LocalCluster
from tests.bench.measure import Row, row

from beforehand import assembly
from beforehand.backends.measures import RecordedMeasures
from beforehand.cli.demo import RECORDING
from beforehand.settings import NO_MODEL, EmbedderSettings, PolicySettings, Settings
from beforehand.training.collecting import Rows, Setting, collect
from beforehand.training.fitting import Recipe, fit_trees
from beforehand.training.making import Lesson, make
from beforehand.training.spreading import fit_trees_on
from beforehand.training.trajectories import read

TAUGHT, HELD = 1_000_000, 200_000
OF_A_STEP = 100
LONGEST_S = 600.0


def run() -> list[Row]:
    """Seconds; the comparison of the whole training is the bound that it has to keep."""
    known = asyncio.run(_collected())
    taught, held = _drawn(known, TAUGHT, 1), _drawn(known, HELD, 2)
    recipe = Recipe()
    trees_s = _seconds(lambda: fit_trees(taught, recipe))
    whole_s = _seconds(lambda: make([Lesson("drawn", taught, held)], recipe))
    logging.getLogger("distributed").setLevel(logging.ERROR)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        spread_s = _seconds(lambda: fit_trees_on(cluster.scheduler_address, taught, recipe))
    return [
        row(f"{TAUGHT:,} candidates, all of a training", "s", whole_s, "the bound", LONGEST_S),
        row(f"{TAUGHT:,} candidates, trees", "s", trees_s, "dask, two workers", spread_s),
    ]


async def _collected() -> Rows:
    settings = Settings(policy=PolicySettings(model=NO_MODEL), embedder=EmbedderSettings(kind="none"))
    replay = assembly.replay(settings, RecordedMeasures())
    async with replay.open():
        return await collect(replay, read(RECORDING), Setting.SINGLE, name="bench")


def _drawn(known: Rows, count: int, seed: int) -> Rows:
    draw = np.random.default_rng(seed)
    chosen = draw.integers(0, len(known.labels), count)
    noise = draw.normal(0, 0.01, (count, known.features.shape[1])).astype(np.float32)
    features = np.clip(known.features[chosen] + noise, 0, 1)
    return Rows(features, known.labels[chosen], np.arange(count) // OF_A_STEP)


def _seconds(call: Callable[[], Any]) -> float:
    begun = perf_counter()
    call()
    return perf_counter() - begun
