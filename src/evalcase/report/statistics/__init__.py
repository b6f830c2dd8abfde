"""Counts in, estimates with their intervals out: closed forms, without chance and without I/O."""
