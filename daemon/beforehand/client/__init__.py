"""The client for agent processes."""
