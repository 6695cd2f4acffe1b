"""Experiments: who is in which arm, and what the numbers say. Pure arithmetic; only the analysis needs scipy."""
