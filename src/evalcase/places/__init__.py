"""Where trials are answered when that is not the process of the run: other processes, or Ray."""
