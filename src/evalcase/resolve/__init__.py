"""Documents in, suites out: short forms, aliases, defaults and checks."""
