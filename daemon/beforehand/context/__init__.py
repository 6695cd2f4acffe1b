"""The packet: rendering, budget, guard. Pure."""
