"""The words: every message of the wire contract, its topics and its codec."""
