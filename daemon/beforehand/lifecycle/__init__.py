"""Starting, running and stopping the daemon."""
