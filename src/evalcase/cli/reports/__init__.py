"""A kept run in, a report out: one file for each form that a report has."""
