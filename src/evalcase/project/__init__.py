"""What a project says of itself: its root, its configuration, and the options of a run."""
