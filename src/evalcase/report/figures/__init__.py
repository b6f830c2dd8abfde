"""Results in, one at a time; out the figures of a run, each with its interval and what it is of."""
