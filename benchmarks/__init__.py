"""How fast, small and frugal evalcase is, as ratios to simple work done on the same machine."""
