"""A thousand seeds of the whole daemon under faults: acknowledged is stored once, memory is what a replay gives."""

from __future__ import annotations

import pytest
import structlog

from beforehand import assembly
from beforehand.lifecycle.daemon import Daemon
from simulation.simulated import FAULTS, SETTINGS, Simulation

SEEDS = 1_000
CHUNK = 100


@pytest.fixture(scope="module")
def parts():
    return assembly.read_parts(SETTINGS)


@pytest.fixture(autouse=True)
def quiet():
    """No log."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger("critical"))
    yield
    structlog.reset_defaults()


@pytest.mark.parametrize("first", range(0, SEEDS, CHUNK))
def test_every_seed_ends_with_everything_stored_once_and_true(parts, first):
    faults = set()
    for seed in range(first, first + CHUNK):
        simulation = Simulation(seed, parts)
        try:
            simulation.play()
        except Exception as error:
            raise AssertionError(f"seed {seed}: {simulation.trace}") from error
        faults |= {line.partition(" ")[2] for line in simulation.trace}
    assert faults == set(FAULTS)


def test_a_seed_repeats_exactly(parts):
    def played(seed):
        simulation = Simulation(seed, parts)
        simulation.play()
        return simulation.trace, [(row.position, row.entry.id, row.entry.received_us) for row in simulation.rows._rows]

    for seed in range(5):
        assert played(seed) == played(seed)


def _found(parts):
    """Whether one of some seeds does not hold."""
    for seed in range(60):
        try:
            Simulation(seed, parts).play()
        except AssertionError:
            return True
    return False


def test_a_daemon_that_acknowledges_before_it_stores_is_found(parts, monkeypatch):
    store = Daemon._store

    async def too_early(self, arrivals, outcomes, *rest):
        self.bus.acknowledge(arrivals)
        for outcome in outcomes:
            self.receipts.stored(outcome.entry, outcome.session, outcome.position)
        await store(self, arrivals, outcomes, *rest)

    monkeypatch.setattr(Daemon, "_store", too_early)
    assert _found(parts)


def test_a_memory_that_takes_a_duplicate_twice_is_found(parts, monkeypatch):
    monkeypatch.setattr("beforehand.memory.session.Session.knows", lambda self, entry: None)
    assert _found(parts)
