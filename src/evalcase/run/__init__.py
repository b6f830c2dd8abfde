"""Suites in, attempts out: what is to be run, in which order, how often and for how long."""
