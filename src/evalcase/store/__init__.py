"""The record of a run: a folder with what was run, and a journal of every finished trial."""
