"""The way of one message from journal to packet."""
