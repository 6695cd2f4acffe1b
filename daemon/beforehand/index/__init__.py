"""Order, words, identifiers and vectors of one agent's memory. Pure; rows are 0, 1, 2, ... in order of arrival."""
