"""The world in memory: no threads, no network, no clock. It drives replay, simulation and most tests."""
