"""A run, or two that are compared, as one HTML file that needs no network and no server."""
