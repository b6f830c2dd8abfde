"""Pure functions on text and values, under all stages: nothing here opens a file."""
