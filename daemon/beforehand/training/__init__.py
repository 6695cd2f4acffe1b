"""Data sets, the measure, and replays over them. Offline: nothing here runs in the daemon."""
