"""Programs that a run starts, and how every one of them ends with it."""
