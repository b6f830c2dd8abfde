"""The HTML page of a run, or of two runs side by side."""
