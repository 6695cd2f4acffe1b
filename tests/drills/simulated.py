"""Seeds of the simulation, as many as are asked for."""

from __future__ import annotations

import time
from pathlib import Path

import structlog

from beforehand import assembly
from drills.scene import NO_EFFECT, Outcome, Size
from simulation.simulated import SETTINGS, Simulation


def simulation(folder: Path, size: Size) -> Outcome:
    """The whole daemon on virtual time: messages lost, doubled, late; crashes at writes; disk, clock, broker fail."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    parts, began, faults = assembly.read_parts(SETTINGS), time.monotonic(), 0
    try:
        for seed in range(size.seed, size.seed + size.seeds):
            one = Simulation(seed, parts)
            try:
                one.play()
            except Exception as error:
                raise AssertionError(f"seed {seed}: {one.trace}") from error
            faults += one.faults
    finally:
        structlog.reset_defaults()
    seeds = f"{size.seed:,}-{size.seed + size.seeds - 1:,}"
    return Outcome(NO_EFFECT, "", {"seeds": seeds, "faults": faults, "took_s": round(time.monotonic() - began)})
