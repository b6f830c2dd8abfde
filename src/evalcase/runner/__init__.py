"""A run from plan to conclusion: `run.py` is the file to read first."""
