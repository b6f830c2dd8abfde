"""Two sets of results of the same cases in, what has changed between them out."""
