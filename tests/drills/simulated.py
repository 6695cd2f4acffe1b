"""Seeds of the simulation, as many as are asked for, on as many processors."""

from __future__ import annotations

import multiprocessing
import time
from functools import cache
from pathlib import Path

import structlog

from beforehand import assembly
from drills.scene import NO_EFFECT, Outcome, Size
from simulation.simulated import SETTINGS, Simulation

CHUNK = 100


def simulation(folder: Path, size: Size) -> Outcome:
    """The whole daemon on virtual time: messages lost, doubled, late; crashes at writes; disk, clock, broker fail."""
    began, end = time.monotonic(), size.seed + size.seeds
    chunks = [range(first, min(first + CHUNK, end)) for first in range(size.seed, end, CHUNK)]
    with multiprocessing.get_context("spawn").Pool(min(size.processes, len(chunks))) as pool:
        played = pool.map(_play, chunks, chunksize=1)
    failed = [said for _, failures in played for said in failures]
    if failed:
        raise AssertionError(f"{len(failed):,} of {size.seeds:,} seeds: {'; '.join(failed[:10])}")
    faults = sum(faults for faults, _ in played)
    seeds = f"{size.seed:,}-{end - 1:,}"
    took_s = round(time.monotonic() - began)
    return Outcome(NO_EFFECT, "", {"seeds": seeds, "faults": faults, "took_s": took_s, "processes": size.processes})


def _play(seeds: range) -> tuple[int, list[str]]:
    """How many faults there were, and what each seed that failed did."""
    faults, failed = 0, []
    for seed in seeds:
        one = Simulation(seed, _parts())
        try:
            one.play()
        except Exception as error:  # noqa: BLE001  the other seeds are played all the same
            failed.append(f"seed {seed}: {type(error).__name__}: {error}, after {one.trace}")
        faults += one.faults
    return faults, failed


@cache
def _parts() -> assembly.Parts:
    """What every seed of this process shares; it is quiet from here on."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    return assembly.read_parts(SETTINGS)
