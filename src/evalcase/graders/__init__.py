"""Graders, those that belong together in one file. `base` says what a grader is."""
